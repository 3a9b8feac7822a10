"""Folders that grow, and what goes wrong with them: the error names the thing, and nothing is lost."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import provenn
from provenn import cli
from provenn.archive import Archive
from provenn.archive.base_files import BaseFilesPlace
from provenn.errors import (
    ArchiveBusyError,
    BaseFilesError,
    FilesChangedError,
    FilesMissingError,
    KeyColumnsError,
    NotYoursError,
    ProvennError,
)
from tests.nights import make_night, play_spark, prepare_nights


@pytest.fixture
def folder(tmp_path) -> Path:
    prepare_nights(tmp_path)
    return tmp_path


@pytest.fixture
def archive(folder) -> Iterator[Archive]:
    with open_as(folder) as opened, play_spark():
        yield opened


def open_as(folder: Path) -> Archive:
    return provenn.open(folder, store=folder / "data", who="Ada", progress=False)


def refresh_and_fail(archive: Archive, error: type[ProvennError], words: str) -> None:
    """Refresh, which fails in Python and at a terminal; no name moves, and nothing is damaged."""
    before = {name: [change.catalog for change in archive.log(name)] for name in archive}
    with pytest.raises(error, match=words) as caught:
        archive.refresh("nights")
    assert caught.value.hint
    done = CliRunner().invoke(cli.app, ["refresh", "nights", "--archive", str(archive.context.database.place)])
    assert done.exit_code == 2
    assert before == {name: [change.catalog for change in archive.log(name)] for name in archive}


def test_a_folder_that_cannot_be_read(archive, folder):
    nights, away = folder / "nights", folder / "away"
    nights.rename(away)
    refresh_and_fail(archive, FilesMissingError, "nothing exists at .*nights")
    nights.symlink_to(nights)
    refresh_and_fail(archive, BaseFilesError, "nights cannot be listed")
    nights.unlink()
    nights.mkdir()
    refresh_and_fail(archive, FilesMissingError, "no files at .*nights")
    nights.rmdir()
    away.rename(nights)
    assert archive.refresh("nights")[0].files == "+ 1 file"


@pytest.mark.parametrize("content", [b"", b"half of a file"])
def test_a_file_that_is_not_whole_yet(archive, folder, content):
    (folder / "nights" / "2.parquet").write_bytes(content)
    refresh_and_fail(archive, BaseFilesError, "2.parquet cannot be read as Parquet")
    pq.write_table(make_night(2), folder / "nights" / "2.parquet")
    assert archive.refresh("nights")[0].new_sources == 4


def while_keys_are_read(act: Callable[[], object]) -> object:
    """Let something happen while a refresh reads the new keys, once."""
    check_first_keys, acts = BaseFilesPlace.check_first_keys, [act]

    def check(place: BaseFilesPlace, base: object) -> int | None:
        rows = check_first_keys(place, base)
        if acts:
            acts.pop()()
        return rows

    return mock.patch.object(BaseFilesPlace, "check_first_keys", check)


def test_a_file_that_changes_while_it_is_read(archive, folder):
    path, before = folder / "nights" / "2.parquet", archive["nights"].digest
    with (
        while_keys_are_read(lambda: pq.write_table(make_night(7), path)),
        pytest.raises(FilesChangedError, match=r"2\.parquet .*changed"),
    ):
        archive.refresh("nights")
    assert archive["nights"].digest == before
    archive.refresh("nights")
    assert [change.files for change in archive.log("nights")] == ["+ 1 file", "+ 1 file", ""]


def test_a_file_that_is_removed_during_a_refresh(archive, folder):
    path, before = folder / "nights" / "2.parquet", archive["nights"].digest
    with while_keys_are_read(path.unlink), pytest.raises(FilesMissingError, match=r"2\.parquet"):
        archive.refresh("nights")
    assert archive["nights"].digest == before
    assert archive.refresh("nights")[0].files == "unchanged"
    assert archive.check(deep=True).sound


def test_two_refreshes_at_once(archive, folder):
    """The second finds what the first has stored; the name moves once, and whoever comes too late is told."""
    with open_as(folder) as other:
        with (
            while_keys_are_read(lambda: other.refresh("nights")),
            pytest.raises(ArchiveBusyError, match="nights was changed"),
        ):
            archive.refresh("nights")
        assert archive["nights"].digest == other["nights"].digest
    assert archive.refresh("nights")[0].files == "unchanged"
    assert len(archive.log("nights")) == 3


def test_only_the_owner_moves_a_name(archive, folder):
    """Nothing is read or computed for a name that cannot move."""
    bob = archive.as_seen_by("bob")
    known = len(archive.search())
    for act in (lambda: bob.refresh("nights"), lambda: bob.append("nights", folder / "elsewhere.parquet")):
        with pytest.raises(NotYoursError, match="nights belongs to Ada"):
            act()
    assert bob.refresh() == []
    assert len(archive.search()) == known


def test_files_without_rows(archive, folder):
    for number in (5, 6):
        pq.write_table(make_night(5).slice(0, 0), folder / "nights" / f"{number}.parquet")
    archive.refresh("nights")
    pq.write_table(make_night(5).slice(0, 0), folder / "nights" / "7.parquet")
    assert archive.refresh("nights")[0].files == "unchanged", "another file without rows changes nothing"
    (folder / "nights" / "5.parquet").unlink()
    archive.refresh("nights")
    assert archive.check(deep=True).sound
    with pytest.raises(BaseFilesError, match="x was a double"):
        archive.append("nights", pa.table({"id": pa.array([], pa.int64()), "x": pa.array([], pa.string())}))


def test_a_copy_is_no_new_night_without_a_key(tmp_path):
    """A source is a row of a file there: rows of equal files cannot be told apart."""
    (tmp_path / "nights").mkdir()
    pq.write_table(make_night(0), tmp_path / "nights" / "0.parquet")
    with open_as(tmp_path) as archive:
        archive.ingest("rows", tmp_path / "nights", key=None, population="detection")
        shutil.copy(tmp_path / "nights" / "0.parquet", tmp_path / "nights" / "1.parquet")
        with pytest.raises(KeyColumnsError, match=r"0.parquet and 1.parquet have the same content"):
            archive.refresh("rows")
        assert len(archive.log("rows")) == 1
