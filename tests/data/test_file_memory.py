"""The memory of digests of files: in the database, for each machine; and nothing depends on it."""

import platform
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from sqlalchemy import select, update

import provenn
from provenn.data.file_memory import FileMemory
from provenn.data.garbage_collection import collect_garbage
from provenn.database.tables import file_hashes
from provenn.files import hashing
from provenn.files.hashing import FileHash, Stamp

HASHED = FileHash("0f" * 32, Stamp(2**40, 3, 4, 2**64 - 1, 6), 10**19 // 2)


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    """Nothing is remembered by this process itself, and all files are old."""
    monkeypatch.setattr(FileMemory, "_known", {})
    now = hashing.time.time_ns
    monkeypatch.setattr(hashing.time, "time_ns", lambda: now() + 3 * 10**9)


@pytest.fixture
def archive(tmp_path):
    with provenn.open(tmp_path / "survey") as opened:
        yield opened


@pytest.fixture
def stars(tmp_path) -> Path:
    parquet.write_table(pa.table({"hip": [1, 2]}), tmp_path / "stars.parquet")
    return tmp_path / "stars.parquet"


@pytest.fixture
def reads(monkeypatch) -> list[str]:
    """The names of files whose bytes were read for a digest."""
    results: list[str] = []
    plainly = hashing._hash_stream

    def counted(file, *arguments):
        results.append(file.name)
        return plainly(file, *arguments)

    monkeypatch.setattr(hashing, "_hash_stream", counted)
    return results


def forget() -> None:
    """Let the process forget, as if another one began."""
    FileMemory._known.clear()


def test_what_is_remembered_is_recalled_by_the_next_process(archive):
    memory = FileMemory(archive.context.database)
    memory.remember({"/data/a": HASHED})
    memory.remember({"/data/a": HASHED, "/data/b": HASHED})
    forget()
    assert memory.recall(["/data/a", "/data/c"]) == {"/data/a": HASHED}
    forget()
    assert FileMemory(archive.context.database, reread=True).recall(["/data/a"]) == {}


def test_what_another_machine_remembers_is_not_recalled(archive, monkeypatch):
    FileMemory(archive.context.database).remember({"/data/a": HASHED})
    forget()
    monkeypatch.setattr(platform, "node", lambda: "elsewhere")
    assert FileMemory(archive.context.database).recall(["/data/a"]) == {}


@pytest.mark.parametrize(("column", "value"), [("digest", "00" * 32), ("stamp", "1 2 3 4 5"), ("started", 1)])
def test_a_row_that_was_changed_is_not_recalled(archive, column, value):
    FileMemory(archive.context.database).remember({"/data/a": HASHED})
    forget()
    with archive.context.database.writing() as writing:
        writing.connection.execute(update(file_hashes).values({column: value}))
    assert FileMemory(archive.context.database).recall(["/data/a"]) == {}


def test_a_path_that_is_no_text_is_not_written_down(archive):
    memory = FileMemory(archive.context.database)
    memory.remember({"/data/\udcff": HASHED})
    forget()
    assert memory.recall(["/data/\udcff"]) == {}


def test_ingest_again_and_checks_read_an_unchanged_file_once(archive, stars, reads):
    for name in ("stars", "again"):
        archive.ingest(name, stars, key="hip", population="star")
        forget()
    assert archive.check().sound
    forget()
    archive["stars"].definition.files.check(FileMemory(archive.context.database))
    assert reads == ["stars.parquet"]
    assert archive.check(deep=True).sound
    assert reads == ["stars.parquet"] * 2, "every byte"


def test_an_archive_that_can_only_be_read_reads_files_and_remembers_in_this_process(archive, stars, reads):
    files = archive.ingest("stars", stars, key="hip", population="star").definition.files
    forget()
    with archive.context.database.writing() as writing:
        writing.connection.execute(file_hashes.delete())
    memory = FileMemory(replace(archive.context.database, read_only=True))
    for _ in range(2):
        files.check(memory)
    assert reads == ["stars.parquet"] * 2
    with archive.context.database.reading() as reading:
        assert reading.connection.execute(select(file_hashes)).all() == []


def test_a_memory_that_is_wrong_raises_no_false_alarm(archive, stars):
    """The file is read again before anybody is told that it changed."""
    catalog = archive.ingest("stars", stars, key="hip", population="star")
    stamp = Stamp.of(stars.stat())
    FileMemory(archive.context.database).remember({str(stars): FileHash("0f" * 32, stamp, hashing.time.time_ns())})
    catalog.definition.files.check(FileMemory(archive.context.database))


def test_old_rows_are_deleted_with_other_garbage(archive):
    old = FileHash(HASHED.digest, HASHED.stamp, 1)
    FileMemory(archive.context.database).remember({"/data/old": old, "/data/new": HASHED})
    collect_garbage(archive.context.database, archive.context.workshop.folder)
    with archive.context.database.reading() as reading:
        assert list(reading.connection.scalars(select(file_hashes.c.path))) == ["/data/new"]
