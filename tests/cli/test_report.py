"""`provenn report`: where it is written, and where not."""

import json
from pathlib import Path

import pytest

from tests.cli.archive_session import Session


def test_a_report_is_written_to_a_file(survey: Session, tmp_path: Path):
    file = tmp_path / "both.html"
    assert survey(f"report both -o '{file}'") == ""
    assert file.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith(".provenn")] == []


def test_it_is_written_to_the_standard_output(survey: Session):
    told = survey("report both -o -")
    assert told.startswith("<!doctype html>")
    assert told.endswith("</html>")


def test_a_file_is_not_replaced_unless_that_is_meant(survey: Session, tmp_path: Path):
    file = tmp_path / "both.html"
    file.write_text("mine")
    assert "already exists" in survey.fails(f"report both -o '{file}'")
    assert file.read_text() == "mine"
    survey(f"report both -o '{file}' --overwrite")
    assert file.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_for_programs(survey: Session, tmp_path: Path):
    file = tmp_path / "both.html"
    found = survey.json(f"report both -o '{file}'")
    digest = survey.json("show both")["digest"]
    assert found == {
        "path": str(file),
        "size": file.stat().st_size,
        "name": "both",
        "digest": digest,
        "attributes": 6,
        "lineage": 4,
        "files": 1,
        "calculators": 1,
        "relations": 2,
        "facts": 0,
        "plan": True,
        "fragments": 0,
    }
    error = json.loads(survey.run(f"report both -o '{file}' --json").stdout)["error"]
    assert error["kind"] == "StoreError"


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("report nothing -o '{}/a.html'", "no catalog is named 'nothing'"),
        ("report both -o '{}'", "is a folder"),
        ("report both -o '{}/none/a.html'", "create the folder first"),
        ("report both", "Missing option"),
        ("report both -o - --json", "cannot both go to the"),
    ],
)
def test_bad_input_is_told_and_nothing_is_written(survey: Session, tmp_path: Path, typed, said):
    folder = tmp_path / "reports"
    folder.mkdir()
    assert said in survey.fails(typed.format(folder))
    assert list(folder.iterdir()) == []
