"""``provenn select`` on the sky."""

import pytest

from provenn.sky import moc
from tests.cli.archive_session import Session
from tests.sky.large_mocs import survey_rectangle

ON = "--on plx dec"


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("'in_cone(plx, dec, 20, 10, 1)'", "in_cone(plx, dec, 20, 10, 1)"),
        (f"--cone 20 10 1 {ON}", "in_cone(`plx`, dec, 20, 10, 1)"),
        (f"--box 350 20 -10 10 {ON}", "in_box(`plx`, dec, 350, 20, -10, 10)"),
        (
            f"--polygon '10 0, 20 0, 15 8' {ON}",
            "in_polygon(`plx`, dec, 10, 0, 15, 8, 20, 0)",
        ),
        (
            f"'vmag < 6 OR vmag > 9' --cone 20 -10 1 {ON}",
            "(vmag < 6 OR vmag > 9) AND in_cone(`plx`, dec, 20, -10, 1)",
        ),
    ],
)
def test_regions_are_criteria_like_others(survey: Session, typed, told):
    assert survey.json(f"select stars {typed} --name new")["is"] == f"the sources of stars where {told}"
    assert survey("relate new stars") == "subset: new lies inside stars\n"


def test_a_moc_is_read_from_a_file(survey: Session, tmp_path):
    (tmp_path / "coverage.txt").write_text("0/0-3")
    survey(f"select stars --moc '{tmp_path / 'coverage.txt'}' {ON} --name north")
    survey(f"select stars --cone 10 -60 5 {ON} --name south")
    assert survey("relate north south").startswith("disjoint")
    assert "by their positions on the sky" in survey("relate north south --why")


def test_a_large_moc_is_read_from_a_file_and_shown_by_its_digest(survey: Session, tmp_path):
    survey_rectangle(12).save(tmp_path / "coverage.fits", format="fits")
    text = moc(survey_rectangle(12)).text
    told = survey.json(f"select stars --moc '{tmp_path / 'coverage.fits'}' {ON} --name covered")["is"]
    assert told == f"the sources of stars where in_moc(`plx`, dec, '{text}')"
    survey(f"select stars --box 4 216 -2 2 {ON} --name around")
    assert survey("relate covered around") == "subset: covered lies inside around\n"
    assert survey(f"select stars \"in_moc(plx, dec, '{text}') AND vmag < 6\" --name inside")
    assert survey("relate inside covered").startswith("subset")
