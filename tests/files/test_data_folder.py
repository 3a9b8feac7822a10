"""Where data lie: addresses, atomic publication, and failures in words."""

import os
import shutil
import subprocess
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from provenn.errors import StoreError
from provenn.files import data_folder as module
from provenn.files.data_folder import DataFolder, StoredFile
from tests.permissions import drop_root

ODD = "50% of [stars]*, {a b}?#é"


@pytest.fixture(params=["data", ODD])
def folder(tmp_path, request):
    return DataFolder.of(tmp_path / request.param)


def write(folder, **files):
    """Write files to a temporary place; return its address."""
    address = folder.new_temporary_address()
    for name, text in files.items():
        path = Path(address, name.replace("__", "/"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return address


def test_paths_are_made_absolute_and_uris_are_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert DataFolder.of("data").location == str(tmp_path / "data")
    assert DataFolder.of(f"file://{tmp_path}/a%20b").location == str(tmp_path / "a b")
    assert DataFolder.of("/").at("a", "b") == "/a/b"
    assert DataFolder.of("hdfs://host:9000/survey/").at("a", "b") == "hdfs://host:9000/survey/a/b"
    assert DataFolder.of("data").is_local
    assert not DataFolder.of("s3a://bucket").is_local


def test_what_is_published_is_where_it_was_said_and_nowhere_else(folder):
    address = write(folder, a="abc", sub__b="de", _SUCCESS="", **{".hidden": "x"})
    assert folder.relative_path(address).startswith("_temporary/")
    assert folder.at(folder.relative_path(address)) == address
    assert folder.publish(address, "fragments", "one") == folder.at("fragments", "one")
    assert folder.files("fragments", "one") == (StoredFile("a", 3), StoredFile("sub/b", 2))
    assert folder.files("fragments/one/sub") == (StoredFile("b", 2),)
    assert not Path(address).exists()
    assert folder.entries("_temporary") == ()


def test_temporary_places_differ_and_are_empty(folder):
    places = {folder.new_temporary_address() for _ in range(3)}
    assert len(places) == 3
    assert not any(Path(place).exists() for place in places)


def test_nothing_is_published_over_something(folder):
    folder.publish(write(folder, a="first"), "fragments", "one")
    second = write(folder, a="second")
    with pytest.raises(StoreError, match="fragments"):
        folder.publish(second, "fragments", "one")
    assert Path(folder.at("fragments", "one", "a")).read_text() == "first"
    assert Path(second, "a").read_text() == "second"


def test_what_cannot_be_renamed_at_once_stays_where_it_is(folder, monkeypatch):
    """As in object stores."""
    monkeypatch.setattr(module, "_RENAMING", frozenset())
    address = write(folder, a="abc")
    assert folder.publish(address, "fragments", "one") == address
    assert folder.files(folder.relative_path(address)) == (StoredFile("a", 3),)


def test_removing_takes_all_of_it_and_what_is_not_there_is_no_matter(folder):
    folder.publish(write(folder, a="abc", sub__b=""), "fragments", "one")
    for _ in range(2):
        folder.remove("fragments", "one")
        assert folder.entries("fragments") == ()
    folder.remove("nothing", "at", "all")
    assert folder.files("nothing") == folder.entries("nothing") == ()


def test_entries_tell_size_and_when_any_of_it_was_written(folder):
    item = write(folder, a="abc", sub__b="de")
    long_ago = (datetime.now(UTC) - timedelta(days=3)).timestamp()
    for path in [Path(item), *Path(item).rglob("*")]:
        os.utime(path, (long_ago, long_ago))
    Path(folder.at("_temporary", "file")).write_text("x")
    entries = {entry.name: entry for entry in folder.entries("_temporary")}
    assert {name: entry.size for name, entry in entries.items()} == {"file": 1, Path(item).name: 5}
    assert abs(entries[Path(item).name].modified.timestamp() - long_ago) < 1
    assert datetime.now(UTC) - entries["file"].modified < timedelta(minutes=1)


def test_a_folder_that_may_not_be_written_is_an_error_in_words(tmp_path):
    tmp_path.chmod(0o755)
    for parent in tmp_path.parents[:2]:
        parent.chmod(0o755)
    with drop_root(), pytest.raises(StoreError, match="permission denied") as caught:
        DataFolder.of(tmp_path / "data").new_temporary_address()
    assert str(tmp_path) in caught.value.message
    assert caught.value.hint


def test_a_file_in_place_of_the_folder_is_an_error_in_words(tmp_path):
    (tmp_path / "data").write_text("")
    with pytest.raises(StoreError, match="data"):
        DataFolder.of(tmp_path / "data").new_temporary_address()


def test_an_address_of_an_unknown_kind_is_an_error_in_words():
    with pytest.raises(StoreError, match="nonsense://x"):
        DataFolder.of("nonsense://x").new_temporary_address()


@contextmanager
def small_disk(tmp_path, size="1m"):
    """A disk of a megabyte; only root can make one."""
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place], check=False)  # noqa: S607
    if mounted.returncode:
        pytest.skip("no disk can be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)  # noqa: S607 - Spark may still have a file open


def test_a_full_disk_is_an_error_in_words(tmp_path):
    with small_disk(tmp_path) as disk:
        folder = DataFolder.of(disk / "data")
        with pytest.raises(StoreError, match="the disk is full") as caught, module.explain_io_errors(folder.location):
            write(folder, a="x" * 2_000_000)
        assert "collect_garbage()" in caught.value.hint
    shutil.rmtree(disk, ignore_errors=True)
