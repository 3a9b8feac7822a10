"""A folder that has grown is noticed where a catalog is looked at or computed, in the words of each interface."""

import pyarrow as pa
import pytest
from pyarrow import parquet

import provenn
from provenn.archive.grown_folders import find_grown_folders
from provenn.files import arrivals
from provenn.hints import phrase_for_command, phrase_for_page


@pytest.fixture
def folder(tmp_path):
    """A folder with a file."""
    path = tmp_path / "days"
    path.mkdir()
    write_day(path, 0)
    return path


@pytest.fixture
def archive(tmp_path, folder):
    with provenn.open(tmp_path / "survey", progress=False, who="ada") as opened:
        stars = opened.ingest("all stars", folder, key="id", population="star")
        stars.select("x > 1", name="large")
        yield opened


def write_day(folder, day):
    path = folder / f"{day}.parquet"
    path.parent.mkdir(exist_ok=True)
    parquet.write_table(pa.table({"id": [10 * day, 10 * day + 1], "x": [0.5, 2.0]}), path)


def test_a_catalog_says_that_its_folder_has_grown_until_it_is_refreshed(archive, folder):
    assert archive.describe("large").news == ()
    write_day(folder, 1)
    (folder / "_started").touch()
    (line,) = archive.describe("large").news
    news = f"1 file has come to {folder} that all stars does not have yet: "
    assert line == f"{news}archive.refresh('all stars') adds it"
    assert phrase_for_command(line) == f"{news}provenn refresh 'all stars' adds it"
    assert phrase_for_page(line) == f"{news}its owner adds it with provenn refresh 'all stars'"
    assert str(archive.describe("all stars")).endswith(f"new files: {line}")
    write_day(folder, 2)
    assert "2 files have come" in archive.describe("large").news[0]
    archive.refresh()
    assert archive.describe("large").news == ()
    assert archive.describe("all stars@1").news == (), "the name is on a newer version"


def test_an_answer_tells_of_new_files_once_and_without_a_warning(archive, folder):
    write_day(folder, 1)
    archive["large"].to_arrow()
    archive["large"].to_arrow()
    notices = [notice for notice in archive.notices if notice.kind == "grown"]
    assert [str(notice) for notice in notices] == list(archive.describe("large").news)


def test_only_folders_that_may_be_read_are_looked_at(archive, folder, tmp_path):
    write_day(folder, 1)
    catalog = archive["large"].definition
    assert archive.context.read(find_grown_folders, [catalog], (str(tmp_path / "other"),)) == []
    assert archive.context.read(find_grown_folders, [catalog], (str(folder),))


def test_files_from_memory_and_single_files_do_not_grow(archive, folder):
    archive.ingest("table", pa.table({"id": [100], "x": [1.0]}), key="id", population="star")
    archive.ingest("file", folder / "0.parquet", key="id", population="star")
    write_day(folder, 1)
    assert archive.describe("table").news == archive.describe("file").news == ()


def test_a_folder_with_very_many_files_or_none_is_left_alone(archive, folder, monkeypatch):
    write_day(folder, 1)
    monkeypatch.setattr(arrivals, "_MOST_FILES", 1)
    assert archive.describe("large").news == ()
    monkeypatch.undo()
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    assert archive.describe("large").news == ()
