"""Bad input: a clear error each, and the archive as it was."""

import sqlite3
from pathlib import Path

import pytest

import provenn
from provenn import errors
from tests.archive.samples import dump, write_parquet


@pytest.fixture
def survey(archive, stars, tmp_path):
    archive.ingest("galaxies", write_parquet(tmp_path / "g.parquet", {"pgc": [1]}), key="pgc", population="galaxy")
    stars.select("vmag < 6", name="bright")
    return archive


VERBS = {
    "unknown attribute in a criterion": (
        lambda stars: stars.select("vmagg < 6"),
        errors.CriterionError,
        "did you mean vmag",
    ),
    "unknown attribute to keep": (lambda stars: stars.keep("vmga"), errors.AttributeNotFoundError, "did you mean vmag"),
    "unknown attribute to rename": (
        lambda stars: stars.rename(vmga="v"),
        errors.AttributeNotFoundError,
        "did you mean vmag",
    ),
    "rename to a name that is there": (
        lambda stars: stars.rename(vmag="plx"),
        errors.AttributeConflictError,
        "two attributes plx",
    ),
    "unknown attribute in an expression": (
        lambda stars: stars.derive(d="1000 / plxx"),
        errors.CriterionError,
        "did you mean plx",
    ),
    "a criterion that does not parse": (lambda stars: stars.select("vmag <"), errors.CriterionError, "column"),
    "an expression that does not parse": (lambda stars: stars.derive(d="1 +"), errors.CriterionError, "column"),
    "a criterion of the wrong type": (lambda stars: stars.select("vmag"), errors.CriterionError, "vmag"),
    "a comparison of the wrong type": (
        lambda stars: stars.select("spect < dec + DATE '2026-01-01'"),
        errors.CriterionError,
        "date",
    ),
    "a criterion that is not deterministic": (
        lambda stars: stars.select("rand() < 0.1"),
        errors.CriterionError,
        "rand",
    ),
    "a criterion that is not row-wise": (
        lambda stars: stars.select("vmag < max(vmag)"),
        errors.CriterionError,
        "max",
    ),
    "nothing to derive": (lambda stars: stars.derive(), errors.CalculatorError, "nothing to calculate"),
    "a fraction that is a percentage": (lambda stars: stars.sample(10), errors.DefinitionError, "did you mean 0.1"),
    "nothing to combine with": (lambda stars: stars.combine(), errors.DefinitionError, "at least two"),
    "an unknown catalog": (lambda stars: stars.restrict("brigth"), errors.UnknownCatalogError, "did you mean bright"),
    "another population, restricted": (
        lambda stars: stars.restrict("galaxies"),
        errors.PopulationError,
        "cannot restrict: stars holds stars, ",
    ),
    "another population, excluded": (
        lambda stars: stars.exclude("galaxies"),
        errors.PopulationError,
        "cannot exclude: stars holds stars, ",
    ),
    "another population, combined": (
        lambda stars: stars.combine("galaxies"),
        errors.PopulationError,
        "cannot combine: stars holds stars, ",
    ),
    "another population, concatenated": (
        lambda stars: stars.concat("galaxies"),
        errors.PopulationError,
        "cannot concatenate: stars holds stars, ",
    ),
    "a name that is taken": (lambda stars: stars.keep("vmag", name="bright"), errors.CatalogNameError, "bright"),
    "a name that is none": (lambda stars: stars.keep("vmag", name=" "), errors.CatalogNameError, "cannot name"),
    "the name of an empty string": (lambda stars: stars.keep("vmag", name=""), errors.CatalogNameError, "cannot name"),
}


@pytest.mark.parametrize("case", VERBS)
def test_a_verb_that_fails_changes_nothing(survey, case):
    act, error, told = VERBS[case]
    stars, before = survey["stars"], dump(survey)
    with pytest.raises(error, match=told):
        act(stars)
    assert dump(survey) == before


def ingest(survey, path, key="hip", population="star", name="new", **options):
    return survey.ingest(name, path, key=key, population=population, **options)


def damaged(tmp_path: Path) -> Path:
    path = tmp_path / "damaged.parquet"
    path.write_bytes(b"PAR1 this is not what it says PAR1")
    return path


def text_file(tmp_path: Path) -> Path:
    path = tmp_path / "notes.txt"
    path.write_text("hello")
    return path


INGESTS = {
    "a path that does not exist": (
        lambda survey, tmp_path: ingest(survey, tmp_path / "strs.parquet"),
        errors.FilesMissingError,
        "did you mean stars.parquet",
    ),
    "a folder without files": (
        lambda survey, tmp_path: ingest(survey, tmp_path / "survey" / "*.parquet"),
        errors.FilesMissingError,
        "no files",
    ),
    "not a Parquet file": (
        lambda survey, tmp_path: ingest(survey, damaged(tmp_path)),
        errors.BaseFilesError,
        "damaged",
    ),
    "an unknown format": (
        lambda survey, tmp_path: ingest(survey, text_file(tmp_path)),
        errors.BaseFilesError,
        "cannot be told from its name",
    ),
    "an unknown key column": (
        lambda survey, tmp_path: ingest(survey, tmp_path / "stars.parquet", key="hpi"),
        errors.AttributeNotFoundError,
        "did you mean hip",
    ),
    "a key column named twice": (
        lambda survey, tmp_path: ingest(survey, tmp_path / "stars.parquet", key=["hip", "HIP"], population="pair"),
        errors.KeyColumnsError,
        "twice",
    ),
    "no key column": (
        lambda survey, tmp_path: ingest(survey, tmp_path / "stars.parquet", key=[], population="nothing"),
        errors.KeyColumnsError,
        "no key",
    ),
    "a key that is not the population's": (
        lambda survey, tmp_path: ingest(survey, tmp_path / "stars.parquet", key="spect"),
        errors.KeyColumnsError,
        "cannot be",
    ),
    "a population without a name": (
        lambda survey, tmp_path: ingest(survey, tmp_path / "stars.parquet", population=" "),
        errors.PopulationError,
        "cannot name a population",
    ),
    "a name that is unfit": (
        lambda survey, tmp_path: ingest(survey, tmp_path / "stars.parquet", name="a\nb"),
        errors.CatalogNameError,
        "cannot name",
    ),
    "a schema for Parquet": (
        lambda survey, tmp_path: ingest(survey, tmp_path / "stars.parquet", schema={"hip": "bigint"}),
        errors.BaseFilesError,
        "already have a schema",
    ),
}


@pytest.mark.parametrize("case", INGESTS)
def test_an_ingest_that_fails_changes_nothing(survey, tmp_path, case):
    act, error, told = INGESTS[case]
    before = dump(survey)
    with pytest.raises(error, match=told):
        act(survey, tmp_path)
    assert dump(survey) == before


def test_a_type_that_does_not_exist_is_told(survey, tmp_path):
    (tmp_path / "s.csv").write_text("hip\n1\n")
    with pytest.raises(errors.TypeNameError, match="did you mean double"):
        ingest(survey, tmp_path / "s.csv", schema={"hip": "doubel"})


@pytest.mark.parametrize("ask", ["relate", "prove"])
def test_questions_about_different_populations_are_refused(survey, ask):
    before = dump(survey)
    with pytest.raises(errors.PopulationError, match="stars holds stars, galaxies holds galaxies"):
        survey.relate("stars", "galaxies") if ask == "relate" else survey.prove("stars <= galaxies")
    assert dump(survey) == before


@pytest.mark.parametrize("which", ["brigth", "nothing at all like it", "", "feed" * 16, "ffff"])
def test_an_unknown_catalog_is_told(survey, which):
    for ask in (
        survey.catalog,
        survey.describe,
        survey.names_of,
        survey.facts,
        lambda one: survey.relate(one, "stars"),
    ):
        with pytest.raises(errors.UnknownCatalogError):
            ask(which)


def test_a_catalog_of_another_archive_is_not_one_of_this(survey, tmp_path):
    with provenn.open(tmp_path / "another") as another:
        foreign = ingest(another, write_parquet(tmp_path / "f.parquet", {"hip": [0, 7]}))
        with pytest.raises(errors.UnknownCatalogError, match="holds no catalog"):
            survey.relate(foreign, "stars")
        assert survey["stars"].restrict(foreign).dependencies[1] == foreign, "but may become one"
        assert survey.relate(foreign, "stars").summary == "unknown"


# --- the archive itself ---


def change(archive, *statements):
    place = archive.context.database.place
    archive.close()
    with sqlite3.connect(place) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def test_an_archive_that_is_not_there(tmp_path):
    with pytest.raises(errors.ArchiveNotFoundError, match="omit create=False"):
        provenn.open(tmp_path / "nowhere", create=False)
    assert not (tmp_path / "nowhere").exists()


def test_an_archive_of_a_newer_version(survey, tmp_path):
    change(survey, "UPDATE provenn_version SET version_num = '9999'")
    before = (tmp_path / "survey" / "provenn.sqlite").read_bytes()
    with pytest.raises(errors.ArchiveVersionError, match="newer version of provenn"):
        provenn.open(tmp_path / "survey")
    assert (tmp_path / "survey" / "provenn.sqlite").read_bytes() == before


def test_a_file_that_is_no_archive(tmp_path):
    (tmp_path / "provenn.sqlite").write_text("this is a letter to a friend, not a database" * 50)
    with pytest.raises(errors.ArchiveError):
        provenn.open(tmp_path)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE catalogs SET parameters = replace(parameters, '6.0D', '9.0D') WHERE kind = 'SelectSources'",
        "UPDATE catalogs SET parameters = '{}' WHERE kind = 'SelectSources'",
        "UPDATE catalogs SET parameters = 'not JSON' WHERE kind = 'SelectSources'",
        "UPDATE catalogs SET kind = 'Surprise' WHERE kind = 'SelectSources'",
        "UPDATE dependencies SET dependency = catalog",
        "DELETE FROM dependencies",
    ],
)
def test_a_tampered_or_cyclic_row_is_told_and_proves_nothing(survey, tmp_path, damage):
    digest = survey["bright"].digest
    change(survey, "PRAGMA foreign_keys = OFF", damage)
    with provenn.open(tmp_path / "survey") as again:
        before = dump(again)
        for ask in (
            lambda: again["bright"],
            lambda: again.relate("bright", "stars"),
            lambda: again.prove("bright <= stars"),
            lambda: again.declare("nonempty(bright)"),
            lambda: again["stars"].restrict("bright"),
            lambda: again.same_sources("stars"),
            lambda: again.describe("bright"),
        ):
            with pytest.raises(errors.CorruptArchiveError, match=digest[:12]):
                ask()
        assert dump(again) == before


def test_a_change_of_the_stored_extent_is_noticed(survey, tmp_path):
    change(survey, "UPDATE catalogs SET extent = digest WHERE kind = 'SelectSources'")
    with provenn.open(tmp_path / "survey") as again, pytest.raises(errors.CorruptArchiveError):
        again["bright"]
