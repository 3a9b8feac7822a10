"""Tables from memory in the store: kept once, told apart, not deleted, missed when they are gone."""

from datetime import timedelta
from pathlib import Path
from threading import Thread

import pyarrow as pa
import pytest
from pyarrow import parquet

import provenn
from provenn.data.garbage_collection import collect_garbage
from provenn.data.given_tables import keep_table, locate_table
from provenn.errors import BaseFilesError, FilesChangedError, FilesMissingError, StoreError
from provenn.files.data_folder import DataFolder
from provenn.files.file_records import encode_files, restore_files
from provenn.files.file_set import GIVEN, Files
from provenn.formats.opening import open_database


def table(*values: float) -> pa.Table:
    return pa.table({"id": list(range(len(values))), "v": list(values)})


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "survey"


@pytest.fixture
def archive(place: Path):
    with provenn.open(place, who="ada") as opened:
        yield opened


def ingest(archive, name: str, arguments: pa.Table):
    return archive.ingest(name, arguments, key="id", population="star")


def lying(place: Path) -> list[Path]:
    return sorted(path for path in (place / "store").rglob("*") if path.is_file() and path.name != "_seal")


def test_the_same_table_is_the_same_catalog_and_one_file(archive, place):
    catalog = ingest(archive, "stars", table(1.5, 2.5))
    assert (
        ingest(archive, "stars", pa.concat_tables([table(1.5, 2.5).slice(0, 1), table(1.5, 2.5).slice(1)])) == catalog
    )
    assert ingest(archive, "again", table(1.5, 2.5)) == catalog
    (file,) = lying(place)
    assert parquet.read_table(file).to_pydict() == {"id": [0, 1], "v": [1.5, 2.5]}
    assert restore_files(*encode_files(catalog.definition.files)) == catalog.definition.files


def test_tables_that_differ_only_in_the_order_of_values_are_two(archive):
    """Their statistics, sizes and types are the same, so that a footer without more would be the same, too."""
    assert ingest(archive, "a", table(0.5, 1.5, 2.5, 3.5)) != ingest(archive, "b", table(0.5, 2.5, 1.5, 3.5))


def test_a_table_that_is_given_again_while_it_is_deleted_is_there(archive, monkeypatch):
    """Who gives it finds it there, or writes it once more; but does not rely on what is about to go."""
    database, folder = archive.context.database, archive.context.workshop.folder
    with keep_table(database, folder, table(7.5)):
        pass
    remove, others = DataFolder.remove, []

    def slowly(self, *parts):
        if parts[0].startswith(GIVEN) and not others:
            others.append(Thread(target=ingest, args=(archive, "again", table(7.5))))
            others[0].start()
            others[0].join(0.5)
        remove(self, *parts)

    monkeypatch.setattr(DataFolder, "remove", slowly)
    assert len(collect_garbage(database, folder, age=timedelta(0)).deleted) == 1
    others[0].join()
    assert locate_table(folder, archive["again"].definition.files).columns


def test_it_is_not_garbage_unless_nothing_refers_to_it(archive, place):
    ingest(archive, "stars", table(1.5))
    database, folder = archive.context.database, archive.context.workshop.folder
    assert collect_garbage(database, folder, age=timedelta(0)).deleted == ()
    with keep_table(database, folder, table(7.5)) as files:
        assert len(lying(place)) == 2
        assert collect_garbage(database, folder, age=timedelta(0)).deleted == (), "it is about to be referred to"
    assert collect_garbage(database, folder, age=timedelta(0)).deleted == (f"{GIVEN}/{files.digest}",)
    assert len(lying(place)) == 1
    assert archive.check(deep=True)


def test_check_tells_when_it_is_gone_or_changed(archive, place):
    catalog = ingest(archive, "stars", table(1.5, 2.5))
    (file,) = lying(place)
    whole = file.read_bytes()
    parquet.write_table(table(9.0), file)
    (problem,) = archive.check().problems
    assert (problem.where, problem.state, problem.remedy) == (f"catalog {catalog.digest}", "damage", "restore")
    with pytest.raises(FilesChangedError):
        locate_table(archive.context.workshop.folder, catalog.definition.files).check()
    file.unlink()
    (problem,) = archive.check().problems
    assert "is not in" in problem.what
    with pytest.raises(FilesMissingError, match="is not in"):
        locate_table(archive.context.workshop.folder, catalog.definition.files)
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(whole)
    assert not archive.check(deep=True).problems


def test_backups_have_it_with_or_without_fragments(archive, place, tmp_path):
    item = ingest(archive, "stars", table(1.5, 2.5))
    for data in (False, True):
        archive.backup(tmp_path / f"copy {data}", data=data)
        with provenn.open(tmp_path / f"copy {data}", who="ada") as copy:
            assert locate_table(copy.context.workshop.folder, copy["stars"].definition.files).location.startswith(
                str(tmp_path / f"copy {data}")
            )
            assert copy["stars"] == item
    place.rename(tmp_path / "elsewhere")
    with provenn.open(tmp_path / "elsewhere", who="ada") as moved:
        locate_table(moved.context.workshop.folder, moved["stars"].definition.files).check()


def test_nothing_is_left_of_a_table_that_cannot_be_kept(archive, place):
    stars = ingest(archive, "stars", table(1.5))
    bad = pa.table({"id": [1], "x": pa.array([None], pa.month_day_nano_interval())})
    with pytest.raises(BaseFilesError, match="Parquet cannot hold the table"):
        ingest(archive, "stars", bad)
    with pytest.raises(provenn.errors.CatalogNameError, match="stars already names other files"):
        ingest(archive, "stars", table(2.5))
    assert archive["stars"] == stars
    assert not list((place / "store" / "_temporary").iterdir())


def test_a_store_without_room_is_told(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with (
        open_database(tmp_path / "provenn.sqlite", create=True, who="ada") as database,
        pytest.raises(StoreError),
        keep_table(database, DataFolder.of(tmp_path / "file" / "data"), table(1.0)),
    ):
        pass


def test_a_digest_that_is_none_leads_nowhere(tmp_path):
    files = Files(GIVEN, (), (), (), "../../etc", "given/x", (), None)
    with pytest.raises(BaseFilesError, match="there is no table"):
        locate_table(DataFolder.of(tmp_path), files)
    with pytest.raises(BaseFilesError, match="is reserved"):
        Files.at(tmp_path, format=GIVEN)
    with pytest.raises(BaseFilesError, match="archive's store"):
        files.moved(tmp_path)
