"""Digests of all bytes of files, and when one that was computed before is used instead of reading again."""

import os
import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from blake3 import blake3
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from provenn.errors import BaseFilesError, FilesChangedError
from provenn.files import hashing
from provenn.files.hashing import FileHash, Stamp, hash_files
from provenn.files.listing import list_files

LONG_AGO = 10**9


class Memory:
    """A memory that counts what it is asked to remember: these are the files that were read."""

    def __init__(self) -> None:
        self.known: dict[str, FileHash] = {}
        self.read: list[str] = []

    def recall(self, paths: Collection[str]) -> Mapping[str, FileHash]:
        return {path: self.known[path] for path in paths if path in self.known}

    def remember(self, hashed: Mapping[str, FileHash]) -> None:
        self.known |= hashed
        self.read += hashed


@pytest.fixture
def old_clock(monkeypatch):
    """Lets all files be older than two seconds: time has gone on."""
    now = time.time_ns
    monkeypatch.setattr(hashing.time, "time_ns", lambda: now() + 3 * LONG_AGO)


def digest(path: Path, memory: Memory | None = None) -> str:
    (result,) = hash_files(list_files(str(path)), memory).values()
    return result


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.binary(max_size=200), st.sampled_from([1, 7, 64, 1 << 20]), st.integers(0, 3))
def test_the_digest_is_that_of_all_bytes_in_whatever_pieces_they_are_read(tmp_path, content, chunk, repeat):
    path = tmp_path / "a"
    path.write_bytes(content * 10**repeat)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hashing, "_CHUNK", chunk)
        patch.setattr(hashing, "_SMALL", 100)
        assert digest(path) == blake3(content * 10**repeat).hexdigest()


def test_progress_is_told_in_bytes_of_all_files(tmp_path, monkeypatch):
    monkeypatch.setattr(hashing, "_CHUNK", 4)
    for name in "ab":
        (tmp_path / name).write_bytes(b"123456")
    reports = []
    hash_files(list_files(str(tmp_path)), progress=lambda done, total: reports.append((done, total)))
    assert reports == [(4, 12), (6, 12), (10, 12), (12, 12)]


@pytest.mark.usefixtures("old_clock")
def test_an_unchanged_file_is_read_once(tmp_path):
    path, memory = tmp_path / "a", Memory()
    path.write_bytes(b"old")
    assert digest(path, memory) == digest(path, memory)
    assert memory.read == [str(path)]


CHANGES = {
    "an edit": lambda path, _: path.write_bytes(b"new"),
    "an edit in place with the time put back": lambda path, times: (path.write_bytes(b"new"), os.utime(path, ns=times)),
    "another file moved there with the same time": lambda path, times: (
        path.with_name("b").write_bytes(b"new"),
        os.utime(path.with_name("b"), ns=times),
        path.with_name("b").replace(path),
    ),
}


@pytest.mark.usefixtures("old_clock")
@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_file_is_read_again_whatever_its_size_and_time(tmp_path, change):
    path, memory = tmp_path / "a", Memory()
    path.write_bytes(b"old")
    digest(path, memory)
    before = path.stat()
    while path.stat().st_ctime_ns == before.st_ctime_ns:  # the clock of the file system has not moved on
        CHANGES[change](path, (before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    assert digest(path, memory) == blake3(b"new").hexdigest()


def test_a_file_that_was_written_just_before_it_was_read_is_read_again(tmp_path):
    """It may be written once more within the same tick of the clock, and then its times say nothing."""
    path, memory = tmp_path / "a", Memory()
    path.write_bytes(b"old")
    digest(path, memory)
    digest(path, memory)
    assert memory.read == [str(path)] * 2


STAMP = Stamp(3, 10 * LONG_AGO, 10 * LONG_AGO, 5, 6)


@pytest.mark.parametrize(
    ("stamp", "started", "trusted"),
    [
        (STAMP, 13 * LONG_AGO, True),
        (STAMP, 12 * LONG_AGO, False),
        (STAMP, 9 * LONG_AGO, False),
        (replace(STAMP, modified=14 * LONG_AGO), 13 * LONG_AGO, False),
        (replace(STAMP, changed=14 * LONG_AGO), 13 * LONG_AGO, False),
    ],
)
def test_a_digest_is_believed_if_the_file_was_left_alone_for_two_seconds_before_it_was_read(stamp, started, trusted):
    assert FileHash("", stamp, started).vouches_for(stamp) == trusted


@pytest.mark.parametrize("part", ["size", "modified", "changed", "inode", "device"])
def test_a_digest_is_believed_only_if_nothing_that_the_file_system_says_has_changed(part):
    other = replace(STAMP, **{part: 1})
    assert not FileHash("", STAMP, 20 * LONG_AGO).vouches_for(other)


def test_a_file_that_is_written_while_it_is_read_has_no_digest(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"x" * 100)

    def write_more(_done: int, _total: int) -> None:
        with path.open("ab") as opened:
            opened.write(b"y")

    with pytest.raises(FilesChangedError, match="a changed while it was read"):
        hash_files(list_files(str(path)), progress=write_more)


def test_files_that_were_read_are_remembered_though_a_later_one_cannot_be(tmp_path):
    for name in "ab":
        (tmp_path / name).write_bytes(b"1")
    files, memory = list_files(str(tmp_path)), Memory()
    (tmp_path / "b").unlink()
    with pytest.raises(BaseFilesError, match="b cannot be read"):
        hash_files(files, memory)
    assert memory.read == [str(tmp_path / "a")]
