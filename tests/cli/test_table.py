import json
from collections.abc import Callable
from itertools import product

from typer.testing import CliRunner

from provenn.cli import app, table_view
from tests.display.svg import parsed, tagged

# A hypercube of two sets, told apart from everything else: the regions (in A, in B) that hold something.
Regions = frozenset[tuple[int, int]]
EVERY = [
    frozenset(region for region, held in zip(product((0, 1), repeat=2), cells, strict=True) if held)
    for cells in product((False, True), repeat=4)
]


def equality(regions: Regions) -> bool:
    return all(a == b for a, b in regions)


def subset(regions: Regions) -> bool:
    return all(a or not b for a, b in regions) and not equality(regions)


def superset(regions: Regions) -> bool:
    return all(b or not a for a, b in regions) and not equality(regions)


def regions_of(cells: list[list[bool]]) -> Regions:
    return frozenset((a, b) for a in (0, 1) for b in (0, 1) if cells[a][b])


def answer() -> dict:
    result = CliRunner().invoke(app, ["table", "--json"])
    assert result.exit_code == 0
    return json.loads(result.stdout)


def test_every_relation_of_two_sets_is_there_exactly_once():
    found = [regions_of(cells) for column in answer()["columns"] for cells in column["2D"]]
    assert sorted(map(sorted, found)) == sorted(map(sorted, EVERY))


def test_cells_above_are_what_the_relation_implies_for_fewer_sets():
    for column in answer()["columns"]:
        for cells in column["2D"]:
            regions = regions_of(cells)
            assert column["0D"] == bool(regions)
            assert column["1D"] == [any(a == one for a, _ in regions) for one in (0, 1)]


def test_check_marks_agree_with_plain_sets_of_regions():
    for column in answer()["columns"]:
        members = [regions_of(cells) for cells in column["2D"]]
        assert column["marks"] == {
            "empty": sum(not any(a for a, _ in regions) for regions in members),
            "equality": sum(map(equality, members)),
            "subset": sum(map(subset, members)),
            "superset": sum(map(superset, members)),
        }


def test_the_third_set_is_the_union_or_the_intersection_and_changes_nothing_else():
    rules: dict[str, Callable[[int, int], int]] = {
        "C == A | B": lambda a, b: a | b,
        "C == A & B": lambda a, b: a & b,
    }
    for column in answer()["columns"]:
        for said, rule in rules.items():
            for pair, triple in zip(column["2D"], column["3D"][said], strict=True):
                for a, b, c in product((0, 1), repeat=3):
                    assert triple[a][b][c] == (pair[a][b] and c == rule(a, b))


def test_layout_numbers_and_check_marks_are_the_papers():
    """As printed: spans of the cells, omission counts, check marks of each column, from left to right."""
    columns = answer()["columns"]
    assert [column["0D"] for column in columns] == [False] + [True] * 11
    assert [column["1D"] for column in columns] == (
        [[False, False]] + [[False, True]] + [[True, False]] * 3 + [[True, True]] * 7
    )
    assert [None if column["shown"] else len(column["2D"]) for column in columns] == [
        None, 3, None, None, None, 3, None, None, None, None, None, None,
    ]  # fmt: skip
    marks = {name: [column["marks"][name] for column in columns] for name in ("equality", "subset", "superset")}
    assert marks == {
        "equality": [1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1],
        "subset":   [0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0],
        "superset": [0, 0, 1, 1, 0, 1, 0, 0, 1, 0, 0, 0],
    }  # fmt: skip
    assert [bool(column["marks"]["empty"]) for column in columns] == [True, False] + [True] * 3 + [False] * 7
    assert {name: sum(counts) for name, counts in marks.items()} == {"equality": 4, "subset": 4, "superset": 4}


def test_text_is_the_golden_one_and_fits_in_80_columns(golden):
    result = CliRunner().invoke(app, ["table"])
    assert result.exit_code == 0
    assert max(map(len, result.stdout.split("\n"))) <= 80
    golden("tests/golden/table.txt", result.stdout)


def test_picture_shows_all_hypercubes_that_are_not_left_out(tmp_path, golden):
    file = tmp_path / "table.svg"
    result = CliRunner().invoke(app, ["table", "--svg", str(file)])
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", f"wrote {file}\n")
    picture = file.read_text(encoding="utf-8")
    # 2 points, 4 lines, 10 squares, 2 rows of 10 cubes, and the cube of the key
    assert len(tagged(parsed(picture), "circle")) == 2 * 1 + 4 * 2 + 10 * 4 + 2 * 10 * 8 + 8
    golden("docs/pictures/table.svg", picture)


def test_a_picture_can_go_to_the_standard_output():
    result = CliRunner().invoke(app, ["table", "--svg", "-"])
    assert result.stdout == table_view.table_svg(table_view.compute_columns())
