"""Changed definitions: what is stored for the earlier one serves the new one, and only the ring is calculated."""

from collections.abc import Iterator

import pytest

import provenn
from provenn.display.row_counts import Rows
from provenn.errors import CriterionError, DefinitionError, NotYoursError, PopulationError, UnknownCatalogError
from tests.targets.test_grown_archives import Survey

DAY = 100_000


@pytest.fixture
def survey(engine, tmp_path) -> Iterator[Survey]:
    master = engine.session.sparkContext.master
    with provenn.open(tmp_path / "survey", spark=master, progress=False, who="ada") as archive:
        survey = Survey(archive, tmp_path)
        survey.write(0, 100, x=[number / 10 for number in range(100)])
        yield survey


def test_a_wider_criterion_calculates_the_ring_alone(survey):
    bright = survey.ingest().select("x < 6", name="bright")
    fits = bright.derive(survey.calculator(), name="fits")
    fits.store()
    fits.select("z > 4", name="high").store()
    assert survey.calls() == 60
    planned = survey.archive.redefine("bright", where="x < 7", plan=True)
    bright_line, fits_line, high_line = str(planned).splitlines()
    assert bright_line == "bright: wider: + the sources with 6 <= x < 7; nothing to calculate"
    assert fits_line == (
        "fits: wider: + the sources with 6 <= x < 7; at most 40 rows, ~10 to calculate: z, ez are not stored for them"
    )
    assert "(6 <= x < 7)" in high_line
    assert "z > 4" in high_line
    assert high_line.endswith("; nothing to calculate: calculated with the catalogs before")
    assert (survey.archive["bright"].digest, survey.calls()) == (bright.digest, 0), "a plan changes nothing"
    done = survey.archive.redefine("bright", where="x < 7")
    assert str(done) == str(planned)
    assert survey.calls() == 10
    assert survey.values("fits") == {key: z for key, z in survey.scratch().items() if z < 14}
    assert survey.values("high") == {key: z for key, z in survey.scratch().items() if 4 < z < 14}
    assert survey.calls() == 0
    assert survey.archive.relate("fits@1", "fits").summary == "subset"
    assert survey.values("fits@1") == {key: z for key, z in survey.scratch().items() if z < 12}


def test_a_narrower_criterion_calculates_nothing(survey):
    survey.ingest().select("x < 6", name="bright").derive(survey.calculator(), name="fits").store()
    survey.calls()
    done = survey.archive.redefine("bright", where="x < 6 AND x > 2")
    assert [str(catalog.sources) for catalog in done.catalogs] == ["narrower: - the sources with x <= 2"] * 2
    assert done.catalogs[1].calculated == Rows.exactly(0)
    assert survey.values("fits") == {key: z for key, z in survey.scratch().items() if 4 < z < 12}
    assert survey.calls() == 0


def test_other_changes_are_told_apart_by_proof(survey):
    archive, stars = survey.archive, survey.ingest()
    stars.select("x BETWEEN 2 AND 5", name="middle")

    def change(new: provenn.Catalog | str) -> str:
        options = {"where": new} if isinstance(new, str) else {"which": new}
        (catalog,) = archive.redefine("middle", **options, plan=True).catalogs
        return str(catalog.sources)

    assert str(archive.redefine("middle", where="NOT (x < 2 OR x > 5)", plan=True)) == "middle: unchanged"
    assert change("x BETWEEN 2 AND 5 AND x * 2 > 1") == "the same sources"
    assert change("x BETWEEN 3 AND 6") == "shifted: + the sources with 5 < x <= 6, - the sources with 2 <= x < 3"
    assert change(stars) == "wider: + the sources with x < 2 OR x > 5 OR x IS NULL"
    assert change(stars.sample(0.5, seed=1)) == "unrelated: no relation to the earlier sources is proved"
    assert change(archive["middle"].exclude(stars.select("x > 4"))) == "narrower"
    assert change(archive["middle"].select("id > 3")) == "narrower: - the sources with (2 <= x <= 5) AND id < 4"
    assert str(archive.redefine("middle", archive["middle"])) == "middle: unchanged"


def test_a_definition_made_from_the_earlier_one_is_not_made_from_itself(survey):
    archive = survey.archive
    middle = survey.ingest().select("x < 5", name="middle")
    low = middle.select("x > 1", name="low")
    low.keep("x", name="listed")
    other = middle.select("x > 2", name="other")
    archive.redefine("middle", low)
    assert archive["middle"] == archive["low"] == low
    assert archive["listed"].definition.dependencies[0] == low.definition
    assert archive["other"].definition.dependencies[0] == low.definition
    assert archive.relate(other, "other").summary == "equal"


def test_concatenations_are_proved_on_the_new_definition(survey):
    archive, stars = survey.archive, survey.ingest()
    low = stars.select("x < 3", name="low").derive(w="x + 1")
    high = stars.select("x > 6", name="high").derive(w="x + 2")
    archive.concatenate([low, high], name="both")
    archive.redefine("low", where="x < 4")
    assert archive.relate("both@1", "both").summary == "subset"
    with pytest.raises(DefinitionError, match="both cannot be made from the new definition of low"):
        archive.redefine("low", where="x < 7")
    assert len(archive.log("low")) == 2


def test_bad_requests_change_nothing(survey):
    archive, stars = survey.archive, survey.ingest()
    stars.select("x < 3", name="low")
    with pytest.raises(DefinitionError, match="either a catalog or a criterion"):
        archive.redefine("low")
    with pytest.raises(DefinitionError, match="stars does not select by a criterion"):
        archive.redefine("stars", where="x < 3")
    with pytest.raises(CriterionError):
        archive.redefine("low", where="y < 3")
    with pytest.raises(UnknownCatalogError):
        archive.redefine("lower", where="x < 3")
    with pytest.raises(UnknownCatalogError):
        archive.redefine("low@1", where="x < 3")
    other = archive.ingest("visits", survey.days, key="id", population="visit")
    with pytest.raises(PopulationError, match="it holds stars, the new definition visits"):
        archive.redefine("low", other)
    with pytest.raises(NotYoursError):
        archive.as_seen_by("bob").redefine("low", where="x < 2")
    assert len(archive.log("low")) == 1


def test_the_plan_of_a_refresh_counts_rows_by_catalog(survey):
    stars = survey.ingest()
    stars.derive(survey.calculator(), name="fits").store()
    stars.select("x < 3", name="low")
    survey.calls()
    survey.write(1, 20)
    survey.archive.refresh("stars")
    assert survey.calls() == 20
    survey.write(2, 30)
    (planned,) = survey.archive.refresh(plan=True)
    first, *lines = str(planned).splitlines()
    assert first == "stars: + 1 file, + 30 sources"
    assert sorted(lines) == [
        "  fits: wider: + those of the new files; 30 rows to calculate: z, ez are not stored for them",
        "  low: wider: + those of the new files; nothing to calculate",
    ]
    survey.archive.refresh("stars")
    assert survey.calls() == 30
    survey.write(1, 10, x=[9.0] * 10)
    (planned,) = survey.archive.refresh(plan=True)
    first, *lines = str(planned).splitlines()
    assert first == "stars: 1 file replaced, + 10 sources"
    fits = next(line for line in lines if line.startswith("  fits"))
    assert fits.startswith("  fits: shifted: + those of the new files, - those of the files that are gone; ")
    survey.archive.refresh("stars")
    assert survey.calls() == 10
    assert survey.values("fits") == survey.scratch()
