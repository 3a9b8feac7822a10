"""Files named after their content: processes that publish the same one at once do not fail."""

import shutil
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from provenn import durable
from provenn.data import given_tables
from provenn.data.conversions import all_conversions, find_conversion, keep_conversion
from provenn.definitions.moc_files import keep_cells, read_cells
from provenn.errors import StoreError
from provenn.files.data_folder import CONVERTED, DataFolder
from provenn.sky.moc_library import hash_cells

FILES, KEY = "a" * 64, "b" * 64


@pytest.fixture
def folder(tmp_path):
    return DataFolder.of(tmp_path / "data")


def write_temporary(folder: DataFolder) -> str:
    address = folder.new_temporary_address()
    parquet.write_table(pa.table({"x": [1, 2]}), address)
    return address


@pytest.fixture
def another_is_first(monkeypatch):
    """Let another process publish the same bytes between the last look at a place and the moment a file gets it."""

    def publish(temporary, path):
        if Path(temporary).is_file() and not Path(path).exists():
            shutil.copy(temporary, path)
        durable.publish_new(temporary, path)

    monkeypatch.setattr("provenn.files.data_folder.publish_new", publish)


@pytest.mark.usefixtures("another_is_first")
def test_two_processes_keep_the_same_conversion(folder):
    address = keep_conversion(folder, write_temporary(folder), FILES, KEY)
    assert address == find_conversion(folder, FILES, KEY)
    assert parquet.read_table(address).to_pydict() == {"x": [1, 2]}
    assert len(list(all_conversions(folder))) == 1


def test_a_damaged_file_that_has_the_name_is_not_returned(folder, monkeypatch):
    def publish(temporary, path):
        Path(path).write_bytes(b"PAR1 damaged PAR1")
        durable.publish_new(temporary, path)

    monkeypatch.setattr("provenn.files.data_folder.publish_new", publish)
    with pytest.raises(StoreError):
        keep_conversion(folder, write_temporary(folder), FILES, KEY)


def test_a_conversion_that_vanishes_after_it_was_listed_is_made_again(folder, monkeypatch):
    address = keep_conversion(folder, write_temporary(folder), FILES, KEY)
    listed = tuple(all_conversions(folder, FILES))
    Path(address).unlink()
    monkeypatch.setattr("provenn.data.conversions.all_conversions", lambda *_: iter(listed))
    assert find_conversion(folder, FILES, KEY) is None


@pytest.mark.usefixtures("another_is_first")
def test_two_processes_keep_the_same_moc(folder):
    assert not keep_cells(folder, "1/0")
    assert read_cells(folder, hash_cells("1/0")) == "1/0"


@pytest.mark.usefixtures("another_is_first")
def test_two_processes_keep_the_same_table(folder, monkeypatch):
    monkeypatch.setattr(given_tables.pins, "hold_places", lambda *_: ExitStack())
    with given_tables.keep_table(None, folder, pa.table({"x": [1, 2]})) as files:
        given_tables.check_table(folder, files)
        assert given_tables.find_table_damage(folder, files.digest) == ""


class AppearingFolders:
    """A file system in which a folder appears while pyarrow lists it, some times."""

    def __init__(self, filesystem, failures: int) -> None:
        self.filesystem, self.failures = filesystem, failures

    def get_file_info(self, selector):
        """Fail as pyarrow does if the folder is made after it was found missing."""
        if self.failures:
            self.failures -= 1
            raise FileNotFoundError(2, "Cannot list directory", selector.base_dir)
        return self.filesystem.get_file_info(selector)


@pytest.mark.parametrize("failures", [1, 100])
def test_a_folder_that_appears_while_it_is_listed_is_listed_again(folder, monkeypatch, failures):
    address = keep_conversion(folder, write_temporary(folder), FILES, KEY)
    reached = DataFolder.open_filesystem

    @contextmanager
    def appearing(self, *parts):
        with reached(self, *parts) as (filesystem, path):
            yield AppearingFolders(filesystem, failures), path

    monkeypatch.setattr(DataFolder, "open_filesystem", appearing)
    if failures == 1:
        assert [file.name for file in folder.files(CONVERTED, FILES)] == [Path(address).name]
    else:
        with pytest.raises(StoreError, match="it does not exist"):
            folder.files(CONVERTED, FILES)
