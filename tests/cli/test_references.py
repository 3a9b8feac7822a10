"""Commands that follow references between populations: lookup, having, without, group, first, explode."""

from pathlib import Path

import pytest

import provenn
from tests.cli.archive_session import Session
from tests.light_curves import define_light_curves


@pytest.fixture(scope="module")
def curves(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """Objects, their detections, and catalogs of each class; what tests define besides is told apart by name."""
    folder: Path = tmp_path_factory.mktemp("curves")
    with provenn.open(folder / "survey", who="ada") as archive:
        define_light_curves(archive, folder)
    return Session(folder / "survey")


def test_the_commands_define_what_the_verbs_define(curves: Session):
    """Definitions that are equal have one digest, so that the name given in Python is shown."""
    typed = {
        "looked_up": "lookup detections objects --on objid --missing drop",
        "in_bright": "lookup detections bright --on objid --attribute vmag --missing drop",
        "perhaps": "lookup detections objects --on objid --attribute vmag --missing null --prefix star_",
        "detected": "having bright detections --on objid",
        "undetected": "without objects detections --on objid",
        "curves": "group detections --by objid -p object n='count(*)' curve='collect(mag ORDER BY mjd DESC)'",
        "latest": "first detections --by objid --order 'mjd DESC' --number 2",
        "points": "explode curves curve --population point",
    }
    assert {name: curves(line).partition(":")[0] for name, line in typed.items()} == {name: name for name in typed}


def test_show_prove_and_relate_speak_of_partners(curves: Session):
    assert "  sources      in detections and objid in objects\n" in curves("show looked_up")
    assert "  sources      in objects and not named by objid of detections\n" in curves("show undetected")
    assert curves("relate of_bright in_bright") == "equal: of_bright has the same sources as in_bright\n"
    why = curves("relate of_bright in_bright --why")
    assert '"objid in bright" == "objid in objects" & "vmag < 6"' in why
    assert "points [" not in why
    assert "disjoint" in curves("relate detected undetected")
    proof = curves("prove 'detected <= curves'")
    assert "named by objid of detections" in proof


def test_a_plan_of_groups_is_shown(curves: Session):
    assert "group by objid: n = count(*)" in curves("target curves n --plan")


@pytest.mark.parametrize(
    ("typed", "problem", "hint"),
    [
        ("lookup detections objects --on mag", "mag is a floating-point number", "CAST(mag AS decimal(20,6))"),
        ("lookup detections objects --on objidd", "there is no attribute 'objidd'", "did you mean objid?"),
        ("lookup detections objects --on objid --on id", "cannot refer to objects", "in the order of the key"),
        ("lookup detections objects --on objid --missing maybe", "'maybe'", "'error', 'null', 'drop'"),
        ("lookup detections objects", "--on", ""),
        ("having objects detections --on mjd", "mjd is a floating-point number", "CAST(mjd AS decimal(20,6))"),
        ("select detections 'count(*) > 3'", "count() reads more than one source", "`provenn group` first"),
        ("derive detections x='avg(mag)'", "avg() reads more than one source", "`provenn group` first"),
        ("group detections --by objid 'x=collect(mag)'", "the order of an array must be said", "ORDER BY mjd"),
        ("group detections --by objid 'x=avg(mag) + 1'", "a single aggregate is needed", "`provenn derive`"),
        ("group detections --by objid 'x=avg(magg)'", "there is no attribute 'magg'", "did you mean mag?"),
        ("group detections --by objid n", "ATTRIBUTE=AGGREGATE", ""),
        ("group detections n='count(*)'", "--by", ""),
        ("first detections --by objid --order 'mjdd DESC'", "there is no attribute 'mjdd', at column 1", "mjd?"),
        ("first detections --by objid --order mjd --number 0", "1 or more, got 0", ""),
        ("explode detections mag", "mag is not an array but has the type double", "`provenn group` makes arrays"),
        ("explode detections magg", "there is no attribute 'magg'", "did you mean mag?"),
    ],
)
def test_bad_input_is_explained_in_the_words_of_the_terminal(curves: Session, typed, problem, hint):
    said = " ".join(curves.fails(typed).replace("│", " ").split())
    assert problem in said
    assert hint in said
    assert "()" not in said.replace(f"{problem.split(' ')[0]} ", ""), "a method is no command"
