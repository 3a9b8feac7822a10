"""``provenn select`` on the sky."""

import pytest

from tests.cli.archive_session import Session

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
    assert "by their places on the sky" in survey("relate north south --why")
