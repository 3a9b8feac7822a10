"""Data that grow: versions share the files that they share, and only what is new is calculated."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import provenn
from provenn.archive import merging
from provenn.errors import BaseFilesError, CatalogNameError, DefinitionError, KeyValuesError, UnknownCatalogError
from tests.targets import calls

DAYS, ROWS, DESCENDANTS = 5, 5_000, 5


class Survey:
    """An archive of a folder of days, and a calculator that writes down for which sources it is called."""

    def __init__(self, archive: provenn.Archive, folder: Path) -> None:
        self.archive, self.days, self._log = archive, folder / "days", folder / "log"
        self.days.mkdir()
        self._log.mkdir()
        self._seen = 0

    def write(self, day: int, rows: int = 20, **columns: object) -> None:
        """Write the file of a day; x is its number and the place of the row, unless columns say otherwise."""
        ids = [day * 100_000 + number for number in range(rows)]
        table = {"id": ids, "x": [day + number / rows for number in range(rows)], **columns}
        parquet.write_table(pa.table(table), self.days / f"{day}.parquet")

    def ingest(self, **options: object) -> provenn.Catalog:
        """Ingest the folder."""
        return self.archive.ingest("stars", self.days, key="id", population="star", **options)

    def calculator(self) -> object:
        """Twice x, as z, and x + 2, as ez."""
        parameters = {"value": "z", "error": "ez", "log": str(self._log), "factor": 2.0}
        return self.archive.calculator(
            "fit", calls.fitted, inputs=["id", "x"], outputs={"z": "double", "ez": "double"}, parameters=parameters
        )

    def calls(self) -> int:
        """For how many sources the calculator was called since this was asked last."""
        now = calls.called(self._log).total()
        new, self._seen = now - self._seen, now
        return new

    def values(self, name: str, column: str = "z") -> dict[int, float]:
        """The values of a column by source."""
        table = self.archive[name].to_arrow()
        found = dict(zip(table["id"].to_pylist(), table[column].to_pylist(), strict=True))
        assert len(found) == table.num_rows
        return found

    def scratch(self) -> dict[int, float]:
        """What z is, by the files alone."""
        table = parquet.read_table(self.days, columns=["id", "x"])
        return {key: 2 * x for key, x in zip(table["id"].to_pylist(), table["x"].to_pylist(), strict=True)}


@pytest.fixture
def survey(engine, tmp_path) -> Iterator[Survey]:
    master = engine.session.sparkContext.master
    with provenn.open(tmp_path / "survey", spark=master, progress=False, who="ada") as archive:
        yield Survey(archive, tmp_path)


def test_one_more_day_costs_one_day(survey):
    """Five days, five stored descendants, one day appended: its sources are calculated, once, and no others."""
    for day in range(DAYS):
        survey.write(day, ROWS)
    first = survey.ingest()
    fits = first.derive(survey.calculator(), name="fits")
    fits.store()
    for number in range(1, DESCENDANTS):
        fits.select(f"x < {number + 1}", name=f"below{number}").store()
    assert survey.calls() == DAYS * ROWS
    survey.write(DAYS, ROWS)
    (done,) = survey.archive.refresh()
    assert survey.calls() == ROWS
    assert (done.files, done.new_sources, len(done.computed)) == ("+ 1 file", ROWS, DESCENDANTS)
    assert survey.values("fits") == survey.scratch()
    assert survey.values("below3") == {key: z for key, z in survey.scratch().items() if z < 8}
    assert survey.calls() == 0
    relation = survey.archive.relate("stars@1", "stars@2")
    assert relation.summary == "subset"
    assert '"stars@2" == "stars@1" | ' in str(relation.why)
    assert survey.archive.relate("below3@1", "below3").summary in ("subset", "equal")


def test_a_replaced_file_takes_along_its_own_sources_only(survey):
    """A key leaves one file and comes in another with another value: the trap."""
    for day in range(3):
        survey.write(day)
    old = survey.ingest()
    old.derive(survey.calculator(), name="fits").store()
    survey.calls()
    survey.write(1, 19)
    moved = 1 * 100_000 + 19
    survey.write(7, 1, id=[moved], x=[1000.0])
    with pytest.raises(CatalogNameError, match="fits are made from them"):
        survey.ingest()
    new = survey.ingest(rebuild=True)
    assert survey.values("fits") == survey.scratch()
    assert survey.values("fits")[moved] == 2000.0
    assert survey.calls() == 20, "those of the new files: no value of the file that is gone serves"
    assert survey.archive.relate(old, new).summary in ("overlapping", "unknown")
    assert survey.values("fits@1")[moved] == 2 * (1 + 19 / 20), "the old version answers from what is stored"
    assert str(survey.archive.diff("stars@1", "stars@2")).splitlines()[-1] == "+ 1 file, 1 file replaced"


def test_a_file_among_appended_ones_is_replaced(survey):
    survey.write(0)
    survey.ingest()
    survey.write(1)
    survey.write(2)
    survey.archive.refresh("stars")
    survey.write(2, 30)
    (done,) = survey.archive.refresh("stars")
    assert done.files == "1 file replaced"
    assert survey.values("stars", "x") == {key: z / 2 for key, z in survey.scratch().items()}
    assert survey.archive.relate("stars@1", "stars").summary == "subset"


def test_what_is_appended_from_memory_or_elsewhere_serves_alike(survey, tmp_path):
    survey.write(0)
    survey.ingest().derive(survey.calculator(), name="fits").store()
    survey.calls()
    survey.archive.append("stars", pa.table({"id": [70], "x": [3.5]}))
    parquet.write_table(pa.table({"id": [80, 90], "x": [1.0, None]}), tmp_path / "elsewhere.parquet")
    survey.archive.append("stars", tmp_path / "elsewhere.parquet")
    values = survey.values("fits")
    assert survey.calls() == 3
    assert (values[70], values[80], values[90], len(values)) == (7.0, 2.0, None, 23)
    again = survey.archive.append("stars", tmp_path / "elsewhere.parquet")
    assert again.digest == survey.archive["stars"].digest, "it has these files"
    assert [change.files for change in survey.archive.log("stars")] == ["+ 1 file", "+ 1 file", ""]


def test_bad_files_change_nothing(survey):
    survey.write(0)
    first = survey.ingest()
    first.select("x < 1", name="low")
    with pytest.raises(KeyValuesError, match=r"occur in other files.*: 3 \(0\.parquet and a table from memory\)"):
        survey.archive.append("stars", pa.table({"id": [3], "x": [3.5]}))
    shutil.copy(survey.days / "0.parquet", survey.days / "copy.parquet")
    with pytest.raises(KeyValuesError, match=r": 0 \(0\.parquet and copy\.parquet\), 1 \("):
        survey.archive.refresh("stars")
    (survey.days / "copy.parquet").unlink()
    with pytest.raises(BaseFilesError, match=r"x was a double in 0\.parquet, and is a string in the table from memory"):
        survey.archive.append("stars", pa.table({"id": [77], "x": ["three"]}))
    with pytest.raises(DefinitionError, match="files can only be appended to a base catalog"):
        survey.archive.append("low", pa.table({"id": [77], "x": [3.5]}))
    with pytest.raises(UnknownCatalogError):
        survey.archive.append("nothing", pa.table({"id": [77], "x": [3.5]}))
    assert survey.archive["stars"].digest == first.digest
    assert len(survey.archive.log("stars")) == 1


def test_a_changed_or_missing_column_is_named_with_both_files(survey):
    survey.write(0, color=[1.5] * 20)
    first = survey.ingest()
    survey.write(1)
    missing = r"the column color, a double in 0\.parquet, is missing in 1\.parquet"
    for attempt in (survey.ingest, survey.archive.refresh, lambda: survey.archive.refresh(plan=True)):
        with pytest.raises(BaseFilesError, match=missing):
            attempt()
    survey.write(1, color=["red"] * 20)
    survey.write(2, color=["red"] * 20)
    changed = r"the column color was a double in 0\.parquet, and is a string in 1\.parquet and 1 more"
    with pytest.raises(BaseFilesError, match=changed):
        survey.archive.refresh()
    assert survey.archive["stars"] == first
    survey.write(1, color=[None] * 19 + [2.5])
    (survey.days / "2.parquet").unlink()
    survey.archive.refresh()
    assert survey.values("stars", "color")[100_019] == 2.5
    survey.write(0)
    (survey.days / "1.parquet").unlink()
    survey.write(3)
    assert len(survey.archive.refresh()) == 1, "all files with the column are gone"


def test_two_names_of_one_folder_grow_each_for_itself(survey):
    survey.write(0)
    first = survey.ingest()
    survey.archive.name(first, "dr1")
    first.select("x < 1", name="low")
    survey.write(1, color=[1.5] * 20)
    survey.archive.refresh("stars")
    below = survey.archive["stars"].select("color > 1", name="red")
    (done,) = survey.archive.refresh("dr1")
    assert done.rebuilt == ()
    assert survey.archive["red"] == below
    assert survey.archive["dr1"] == survey.archive["stars"]


def test_a_new_column_is_null_before(survey):
    survey.write(0)
    survey.ingest()
    survey.write(1, color=[1.5] * 20)
    survey.ingest()
    colors = survey.values("stars", "color")
    assert (colors[0], colors[100_000], len(colors)) == (None, 1.5, 40)
    assert survey.archive["stars"].select("color IS NULL").count() == 20
    assert survey.archive.diff("stars@1", "stars").columns == ("+ color",)


def test_the_plan_of_a_refresh_changes_nothing(survey):
    survey.write(0)
    first = survey.ingest()
    survey.write(1)
    (planned,) = survey.archive.refresh(plan=True)
    assert str(planned) == "stars: + 1 file, + 20 sources"
    assert survey.archive["stars"].digest == first.digest
    survey.archive.refresh("stars")
    assert str(survey.archive.refresh("stars", plan=True)[0]) == "stars: unchanged"
    assert survey.archive.at("stars", version=1).digest == first.digest
    assert survey.archive.at("stars", when="2100-01-01").digest == survey.archive["stars@2"].digest
    with pytest.raises(UnknownCatalogError, match="has no version 3"):
        survey.archive["stars@3"]
    with pytest.raises(DefinitionError, match="expected a time"):
        survey.archive.at("stars", when="yesterday")


def test_small_fragments_are_merged_and_nothing_is_calculated_again(survey, monkeypatch):
    monkeypatch.setattr(merging, "MERGED", 3)
    survey.write(0, y=[1.0] * 20)
    survey.ingest().derive(survey.calculator(), name="fits").store()
    for day in range(1, 5):
        survey.write(day, y=[1.0] * 20)
        survey.archive.refresh()
    assert sorted(stored.fragment.rows for stored in survey.archive.fragments()) == [20, 20, 60]
    assert survey.calls() == 5 * 20
    assert survey.values("fits") == survey.scratch()
    assert survey.values("fits@2") == {key: z for key, z in survey.scratch().items() if key < 200_000}
    assert survey.calls() == 0, "the old version reads what was merged"


def test_an_attribute_of_another_catalog_comes_from_the_version_that_is_asked(survey):
    """Several versions have one attribute: what came later is not missing."""
    archive = survey.archive
    archive.ingest("stars", pa.table({"id": range(6), "x": [0.5] * 6}), key="id", population="star")
    archive.ingest("other", pa.table({"id": [0, 1], "y": [10.0, 11.0]}), key="id", population="star")
    archive.name(archive["other"], "branch")
    archive.append("other", pa.table({"id": [2], "y": [12.0]}))
    archive.append("branch", pa.table({"id": [3, 4], "y": [13.0, 14.0]}))

    def read(sources: str, attribute: str) -> dict[int, float | None]:
        table = archive.target(sources, [attribute], missing="null").to_arrow()
        return dict(zip(table["id"].to_pylist(), table["y"].to_pylist(), strict=True))

    assert read("stars", "other.y") == {0: 10.0, 1: 11.0, 2: 12.0, 3: None, 4: None, 5: None}
    archive["stars"].exclude("other@1", name="later")
    assert read("later", "other.y") == {2: 12.0, 3: None, 4: None, 5: None}
    assert archive["other"].schema["y"].identity == archive["branch"].schema["y"].identity
    archive["other"].concat("branch", name="both")
    assert read("both", "y") == {0: 10.0, 1: 11.0, 2: 12.0, 3: 13.0, 4: 14.0}
    archive["stars"].restrict("both", name="shared")
    assert read("shared", "both.y") == {0: 10.0, 1: 11.0, 2: 12.0, 3: 13.0, 4: 14.0}
