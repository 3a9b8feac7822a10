"""Files that were appended: they have the attributes of earlier ones, as long as a source can have only one value."""

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from sqlalchemy import func, select

import provenn
from provenn.archive import continuing
from provenn.catalogs import Base, list_version_bases
from provenn.database.tables import metadata
from provenn.errors import ArchiveBusyError, FileError


class Days:
    """An archive of a folder of days; no command here starts Spark."""

    def __init__(self, folder: Path, name: str = "survey") -> None:
        self.folder = folder / "days"
        self.folder.mkdir(exist_ok=True)
        self.archive = provenn.open(folder / name, progress=False, who="ada")

    def write(self, day: int, **columns: object) -> Path:
        """Write the file of a day, with the keys of this day."""
        path = self.folder / f"{day:03}.parquet"
        table = {"id": [10 * day, 10 * day + 1], "x": [float(day), day + 0.5], **columns}
        parquet.write_table(pa.table(table), path)
        return path

    def ingest(self, name: str = "stars") -> provenn.Catalog:
        """Ingest the folder."""
        return self.archive.ingest(name, self.folder, key="id", population="star")

    def identity(self, name: str, column: str = "x") -> str:
        """The attribute of a column."""
        return self.archive[name].definition.schema[column].identity

    def count_rows(self) -> dict[str, int]:
        """The number of rows in each table of the database."""
        return self.archive.context.read(
            lambda reading: {
                table.name: reading.connection.scalar(select(func.count()).select_from(table))
                for table in metadata.sorted_tables
            }
        )


@pytest.fixture
def days(tmp_path):
    days = Days(tmp_path)
    with days.archive:
        days.write(0)
        days.ingest()
        yield days


def test_appended_days_are_one_base_catalog_with_the_same_attributes(days):
    first = days.identity("stars")
    for day in range(1, 5):
        days.write(day)
        days.archive.refresh("stars")
    version = days.archive["stars"].definition
    assert isinstance(version, Base)
    assert days.identity("stars") == first
    assert len(list_version_bases(version)) == 5
    assert version.files.row_count == 10
    assert [days.archive.relate(f"stars@{number}", "stars").summary for number in (1, 4)] == ["subset", "subset"]
    assert 'stars == "stars@1" | ' in str(days.archive.relate("stars@1", "stars").why)
    assert days.archive.relate(days.archive["stars"].exclude("stars@1"), "stars@1").summary == "disjoint"
    assert not days.archive.check().problems


def test_a_day_adds_as_many_rows_to_the_database_however_many_were_before(days, monkeypatch):
    # Digests of files are noted unless the files are very young, which depends on how fast the machine is.
    monkeypatch.setattr("provenn.data.file_memory._can_be_kept", lambda _: False)
    added = []
    for day in range(1, 9):
        days.write(day)
        before = days.count_rows()
        days.archive.refresh("stars")
        added.append({name: rows - before[name] for name, rows in days.count_rows().items()})
    assert added[2] == added[-1]


def test_another_branch_with_the_same_keys_has_attributes_of_its_own(days):
    days.archive.name(days.archive["stars"], "other")
    first = days.identity("stars")
    days.archive.append("stars", pa.table({"id": [70, 71], "x": [1.0, 2.0]}))
    days.archive.append("other", pa.table({"id": [71, 72], "x": [3.0, 4.0]}))
    mine, theirs = (list_version_bases(days.archive[name].definition)[-1] for name in ("stars", "other"))
    assert mine.schema["x"].identity != theirs.schema["x"].identity
    assert {mine.continues, theirs.continues} == {first.partition(":")[0], None}
    assert days.archive.relate("stars", "other").summary in ("overlapping", "unknown")


def test_a_branch_that_comes_at_the_same_moment_is_noticed(days, monkeypatch):
    days.archive.name(days.archive["stars"], "other")
    days.archive.append("stars", pa.table({"id": [70, 71], "x": [1.0, 2.0]}))
    monkeypatch.setattr(continuing, "have_other_keys", lambda *_: True)
    checked = continuing.check_continuation

    def check_again(*arguments):
        monkeypatch.undo()
        return checked(*arguments)

    monkeypatch.setattr("provenn.archive.version_writing.check_continuation", check_again)
    with pytest.raises(ArchiveBusyError, match="may have the same keys"):
        days.archive.append("other", pa.table({"id": [71, 72], "x": [3.0, 4.0]}))
    assert len(days.archive.log("other")) == 1


@pytest.mark.parametrize("columns", [{"x": [1, 2]}, {"color": [1.0, 2.0]}])
def test_files_with_other_columns_have_attributes_of_their_own(days, columns):
    path = days.write(3, **columns)
    if "color" in columns:
        days.archive.refresh("stars")
        assert days.archive["stars"].definition.kind == "ConcatSources"
        assert list_version_bases(days.archive["stars"].definition)[-1].continues is None
    else:
        with pytest.raises(provenn.errors.BaseFilesError, match=r"x was a double in .*, and is a bigint in "):
            days.archive.refresh("stars")
        path.unlink()


def test_files_after_a_replaced_one_continue_if_their_keys_cannot_have_been_there(days):
    days.write(1)
    days.archive.refresh("stars")
    days.write(1, x=[100.0, 200.0])
    days.archive.refresh("stars")
    replaced = list_version_bases(days.archive["stars"].definition)[-1]
    assert replaced.continues is None, "the same keys had other values"
    days.write(2)
    days.archive.refresh("stars")
    newest = list_version_bases(days.archive["stars"].definition)[-1]
    assert newest.continues is not None
    assert all(problem.state == "remark" for problem in days.archive.check().problems), "a file was replaced"


def test_two_archives_that_appended_other_files_do_not_mix(days, tmp_path):
    """Nobody has compared the keys of both: a source could have two values of one attribute."""
    days.archive.export_definitions(tmp_path / "before.jsonl")
    days.archive.append("stars", pa.table({"id": [70, 71], "x": [1.0, 2.0]}))
    days.archive.export_definitions(tmp_path / "after.jsonl")
    with provenn.open(tmp_path / "copy", progress=False, who="eve") as copy:
        copy.import_definitions(tmp_path / "before.jsonl")
        copy.import_definitions(tmp_path / "after.jsonl", prefix="new ")
        assert copy.relate("stars", "new stars").summary == "subset"
    with provenn.open(tmp_path / "branch", progress=False, who="eve") as branch:
        branch.import_definitions(tmp_path / "before.jsonl")
        branch.append("stars", pa.table({"id": [71, 72], "x": [3.0, 4.0]}))
        with pytest.raises(FileError, match="nobody compared the keys"):
            branch.import_definitions(tmp_path / "after.jsonl", prefix="new ")


def test_joined_files_are_imported_with_what_was_joined(days, tmp_path):
    for day in range(1, 4):
        days.write(day)
        days.archive.refresh("stars")
    days.archive.export_definitions(tmp_path / "stars.jsonl", [days.archive["stars"]])
    with provenn.open(tmp_path / "copy", progress=False, who="eve") as copy:
        copy.import_definitions(tmp_path / "stars.jsonl")
        version = copy["stars"].definition
        assert len(list_version_bases(version)) == 4
        days.write(4)
        copy.refresh("stars")
        assert len(list_version_bases(copy["stars"].definition)) == 5
        assert not copy.check().problems
