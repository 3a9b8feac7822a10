import json

import numpy as np
import pytest
from typer.testing import CliRunner

from provenn.cli import app, example_view
from provenn.logic import Relationship
from tests.display.svg import parsed, tagged


@pytest.fixture(scope="module")
def answer() -> dict:
    result = CliRunner().invoke(app, ["example", "--json"])
    assert result.exit_code == 0
    return json.loads(result.stdout)


def test_the_figures_of_the_paper(answer):
    assert [(step["statement"], step["count"]) for step in answer["local"]] == [
        ("nonempty(A) and outside(A)", 1),
        ("B < A", 4),
        ("C == A", 4),
        ("D == B & C", 16),
    ]
    assert (answer["together"]["kind"], answer["together"]["count"]) == ("inexact", 2)
    assert (answer["reduced"]["labels"], answer["reduced"]["count"]) == (["B", "D"], 2)
    assert answer["question"]["count"] == 4
    assert (answer["refuting"]["kind"], answer["refuting"]["count"]) == ("contradiction", 0)
    assert answer["proved"] is True


def test_the_two_hypercubes_of_abcd_by_hand(answer):
    """Something is outside and in A and C alone; in one of the two also in all four."""
    least = np.zeros((2,) * 4, dtype=bool)
    least[0, 0, 0, 0] = least[1, 0, 1, 0] = True
    most = least.copy()
    most[1, 1, 1, 1] = True
    assert answer["together"]["hypercubes"] == [least.tolist(), most.tolist()]


def test_json_agrees_with_relationship(answer):
    known = Relationship.of(*(step["statement"] for step in answer["local"]))
    steps = {"together": known, "reduced": known.on("B", "D"), "refuting": known - "B == D"}
    for name, relationship in steps.items():
        read = Relationship.from_arrays(
            answer[name]["labels"], [np.array(cells) for cells in answer[name]["hypercubes"]]
        )
        assert read == relationship
    for step in [*answer["local"], answer["question"]]:
        read = Relationship.from_arrays(step["labels"], [np.array(cells) for cells in step["hypercubes"]])
        assert read == Relationship.of(step["statement"])


def test_text_is_the_golden_one_and_fits_in_80_columns(golden):
    result = CliRunner().invoke(app, ["example"])
    assert result.exit_code == 0
    assert max(map(len, result.stdout.split("\n"))) <= 80
    golden("tests/golden/example.txt", result.stdout)


def test_the_verdict_is_computed_not_recited():
    steps = example_view.compute_example()
    wrong = example_view.Example(steps.local, steps.together, steps.reduced, steps.wanted, steps.together - "A == B")
    assert "is proved" in steps.verdict
    assert "not proved" in wrong.verdict


def test_picture_shows_every_hypercube(tmp_path, golden):
    file = tmp_path / "example.svg"
    result = CliRunner().invoke(app, ["example", "--svg", str(file)])
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", f"wrote {file}\n")
    picture = file.read_text(encoding="utf-8")
    # A, AB, AC, BCD, ABCD, its reduction to BD, B == D
    assert len(tagged(parsed(picture), "circle")) == 1 * 2 + 4 * 4 + 4 * 4 + 16 * 8 + 2 * 16 + 2 * 4 + 4 * 4
    golden("docs/pictures/example.svg", picture)


def test_picture_and_json_can_be_had_together(tmp_path):
    file = tmp_path / "example.svg"
    result = CliRunner().invoke(app, ["example", "--json", "--svg", str(file)])
    assert json.loads(result.stdout)["proved"] is True
    assert parsed(file.read_text(encoding="utf-8")).get("role") == "img"
