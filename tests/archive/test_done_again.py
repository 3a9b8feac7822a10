"""What is done a second time: the words and settings that come with it are kept, or it is said that they are not."""

import json

import pytest
from typer.testing import CliRunner

import provenn
from provenn import cli
from provenn.errors import CalculatorError, ProvennWarning

ABS_MAG = {"abs_mag": "vmag + 5 * log10(plx / 100)"}


def audited(archive, action):
    return [(entry.who, entry.subject, entry.detail) for entry in archive.audit(action=action)]


def run(tmp_path, *words):
    return CliRunner().invoke(cli.app, [*words, "--archive", str(tmp_path / "survey")])


# --- calculators and preferences ---


def test_the_audit_keeps_who_registers_a_calculator_again(archive, tmp_path):
    archive.calculator("abs_mag", sql=ABS_MAG)
    with provenn.open(tmp_path / "survey", who="bob") as other:
        other.calculator("abs_mag", sql=ABS_MAG)
    (registered,) = archive.calculators()
    assert registered.registered_by == "ada"
    digest = registered.calculator.digest
    assert audited(archive, "register calculator") == [("bob", "abs_mag", digest), ("ada", "abs_mag", digest)]


@pytest.mark.parametrize(
    "options",
    [
        {"version": "2"},
        {"inputs": ["vmag"]},
        {"outputs": {"abs_mag": "double"}},
        {"parameters": {"zero": 5}},
        {"kind": "arrow"},
        {"scope": "catalog"},
    ],
)
def test_what_a_calculator_in_sql_cannot_have_is_refused_and_not_dropped(archive, options):
    archive.calculator("abs_mag", sql=ABS_MAG)
    with pytest.raises(CalculatorError, match=f"abs_mag is SQL, and SQL takes no {next(iter(options))}"):
        archive.calculator("abs_mag", sql=ABS_MAG, **options)


def test_what_was_preferred_before_is_told_and_kept(archive, stars, tmp_path):
    archive.calculator("first", sql={"z": "vmag + 1"})
    archive.calculator("second", sql={"z": "vmag + 2"})
    archive.prefer("z", "first")
    with provenn.open(tmp_path / "survey", who="bob") as other:
        other.prefer("z", "second")
    assert audited(archive, "prefer") == [
        ("bob", "z", "calculator:second, before by ada: calculator:first"),
        ("ada", "z", "calculator:first"),
    ]
    told = run(tmp_path, "prefer", "z", "first")
    assert "before, bob preferred the attribute of second" in " ".join(told.output.split())
    stars.derive(z="vmag * 2", name="third")
    assert "before, " in run(tmp_path, "prefer", "z", "third").output
    told = json.loads(run(tmp_path, "prefer", "z", "first", "--json").stdout)
    assert told["before"]["by"]
    assert "before" not in run(tmp_path, "prefer", "z", "first").output, "it meant that already"


# --- definitions ---


def test_other_words_for_the_same_catalog_are_told(archive, stars, tmp_path):
    first = stars.select("vmag < 6", name="bright")
    assert stars.select("vmag   <  6") == first
    assert archive.notices == (), "spaces are no words"
    assert stars.select("NOT vmag >= 6") == first
    assert [(notice.kind, notice.message) for notice in archive.notices] == [
        ("worded", f"{first.digest[:12]} was defined before, in words that it keeps: vmag < 6")
    ]
    told = run(tmp_path, "select", "stars", "6 > vmag", "--name", "shining")
    assert "shining was defined before, in words that it keeps: vmag < 6" in " ".join(told.output.split())


def test_words_of_others_are_not_told_to_a_person_who_does_not_see_them(stars, tmp_path):
    stars.select("vmag < 6").named("bright", visibility="private")
    with provenn.open(tmp_path / "survey", who="bob", confined=True) as other:
        other["stars"].select("NOT vmag >= 6")
        assert other.notices == ()


# --- facts ---


@pytest.mark.usefixtures("stars")
def test_a_visibility_that_is_not_taken_is_told(archive):
    archive.declare("nonempty(stars)", reason="seen by eye")
    with pytest.warns(ProvennWarning, match="everyone still sees it, although the new declaration is private"):
        again = archive.declare("nonempty(stars)", visibility="private")
    assert again.repeated
    assert again.visibility == "public"


# --- a portable file ---


@pytest.fixture
def others(archive, stars, tmp_path):
    """An archive of the same files, in which other words are said of them, and a file of what it holds."""
    path = tmp_path / "stars.parquet"
    with provenn.open(tmp_path / "others", who="cleo") as opened:
        opened.ingest("stars", path, key="hip", population="star")
        opened.declare("nonempty(stars)", reason="in the catalog of Bayer")
        opened.declare("stars != {}", reason="counted")
        opened.name("stars", "stars", visibility="private")
        opened.export_definitions(tmp_path / "others.provenn")
    archive.declare("nonempty(stars)", reason="seen by eye")
    assert stars.names == ("stars",)
    return tmp_path / "others.provenn"


def test_an_imported_reason_and_visibility_that_are_not_taken_are_told_and_kept(archive, others, tmp_path):
    came = archive.import_definitions(others)
    assert came.unchanged == (
        "the name stars is public here and private in the file; it is unchanged",
        "fact #1, nonempty(stars), is held already, for another reason; the audit keeps the reason in the file",
    )
    kept = [("ada", "fact #1", "in the catalog of Bayer (declared by cleo, imported)")]
    assert audited(archive, "declare again") == kept
    told = run(tmp_path, "archive", "import", str(others))
    assert "the name stars is public here" in told.output
    assert audited(archive, "declare again") == kept, "a file that is imported twice is imported once"
    assert len(json.loads(run(tmp_path, "archive", "import", str(others), "--json").stdout)["unchanged"]) == 2


def test_an_imported_reason_of_a_retraction_that_is_not_taken_is_told_and_kept(archive, stars, tmp_path):
    archive.declare("nonempty(stars)", reason="seen by eye")
    archive.export_definitions(tmp_path / "before.provenn")
    with provenn.open(tmp_path / "others", who="ada") as other:
        other.import_definitions(tmp_path / "before.provenn")
        other.retract(1, reason="a mistake of mine")
        other.export_definitions(tmp_path / "after.provenn")
    archive.retract(1, reason="counted again")
    came = archive.import_definitions(tmp_path / "after.provenn")
    assert came.unchanged == (
        "fact #1, nonempty(stars), was retracted already, for another reason; the audit keeps the reason in the file",
    )
    assert audited(archive, "retract again") == [("ada", "fact #1", "a mistake of mine (retracted by ada, imported)")]
    assert [fact.retracted_reason for fact in archive.facts(retracted=True)] == ["counted again"]
    assert stars.names == ("stars",)


# --- permits ---


def test_an_expansion_that_has_no_effect_beside_a_larger_one_is_told(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("PROVENN_ALLOW", raising=False)
    assert "the largest expansion counts" not in CliRunner().invoke(cli.app, ["allow", "expansion:1000"]).output
    told = " ".join(CliRunner().invoke(cli.app, ["allow", "expansion:50"]).output.split())
    assert "the largest expansion counts: expansion:1000; to withdraw it: provenn allow --forbid expansion:1000" in told
