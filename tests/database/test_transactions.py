"""Opening archives, and the transactions in which everything happens."""

import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest

from provenn.definitions import catalog_names, catalog_store
from provenn.errors import ArchiveError, ArchiveNotFoundError, ReadOnlyArchiveError
from provenn.formats.opening import open_database
from tests.catalogs.samples import base
from tests.contracts.databases import DatabaseContract
from tests.database.databases import InNewPostgreSQL, InSQLite
from tests.permissions import drop_root
from tests.postgres import new_schema


class TestSQLite(InSQLite, DatabaseContract):
    @pytest.fixture
    def nowhere(self, tmp_path):
        return tmp_path / "folder" / "archive.sqlite"


class TestPostgreSQL(InNewPostgreSQL, DatabaseContract):
    @pytest.fixture
    def nowhere(self, postgres):
        return new_schema(postgres)


def test_the_user_is_taken_from_the_environment(sqlite_archive, monkeypatch):
    monkeypatch.setenv("PROVENN_USER", "Ada Lovelace")
    with open_database(sqlite_archive, read_only=True) as database:
        assert database.who == "Ada Lovelace"


def test_a_user_without_a_name_is_known_by_number(sqlite_archive, monkeypatch):
    def nameless():
        raise KeyError

    monkeypatch.delenv("PROVENN_USER", raising=False)
    monkeypatch.setattr("getpass.getuser", nameless)
    with open_database(sqlite_archive, read_only=True) as database:
        assert database.who == str(os.getuid())


def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("not a database, but long enough to be looked at" * 100)
    with pytest.raises(ArchiveError, match="not a database"):
        open_database(tmp_path / "notes.txt")


def test_a_folder_and_an_empty_file_are_no_archives(tmp_path):
    (tmp_path / "empty").touch()
    for path in (tmp_path, tmp_path / "empty", tmp_path / "not there"):
        with pytest.raises(ArchiveNotFoundError):
            open_database(path)
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]


def test_a_postgresql_server_that_does_not_answer_is_named_without_its_password(tmp_path):
    with pytest.raises(ArchiveError, match="cannot be reached") as caught:
        open_database(f"postgresql://ada:secret@/archive?host={tmp_path}")
    assert "secret" not in str(caught.value)


def test_odd_characters_in_a_path_are_just_characters(tmp_path):
    path = tmp_path / "50% of stars?mode=ro#x" / "archive é.sqlite"
    open_database(path, create=True).close()
    assert path.is_file()
    with open_database(path) as database, database.writing():
        pass


@pytest.mark.parametrize("open_elsewhere", [False, True])
def test_an_archive_in_a_folder_that_one_may_not_write_can_be_read(open_elsewhere):
    """Also while its owner has it open and writes."""
    with tempfile.TemporaryDirectory() as temporary, ExitStack() as elsewhere:
        folder = Path(temporary)
        path = folder / "archive.sqlite"
        database = open_database(path, create=True)
        elsewhere.callback(folder.chmod, 0o755)
        if open_elsewhere:
            elsewhere.enter_context(database)
        else:
            database.close()
        for item in folder.iterdir():
            item.chmod(0o444)
        folder.chmod(0o555)
        with drop_root(), open_database(path) as seen:
            with seen.reading() as reading:
                assert catalog_names.list_names(reading) == []
            with pytest.raises(ReadOnlyArchiveError, match="is read-only"), seen.writing():
                pass


def test_a_reader_who_may_not_write_sees_what_is_written_later():
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        path = folder / "archive.sqlite"
        open_database(path, create=True).close()
        folder.chmod(0o555)
        with drop_root():
            seen = open_database(path)
        for number in range(3):
            with drop_root(), seen.reading() as reading:
                assert catalog_store.count_catalogs(reading) == number
            folder.chmod(0o755)
            with open_database(path) as owner, owner.writing() as writing:
                catalog_store.add_catalogs(writing, base(f"base {number}"))
            folder.chmod(0o555)
        seen.close()
        folder.chmod(0o755)


def test_an_archive_that_went_away_is_an_error_that_names_it(tmp_path):
    path = tmp_path / "archive.sqlite"
    open_database(path, create=True).close()
    with open_database(path, read_only=True) as database:
        path.unlink()
        with pytest.raises(ArchiveError, match=r"archive\.sqlite cannot be used"), database.reading():
            pass


def test_opening_an_archive_imports_neither_alembic_nor_what_is_not_needed(sqlite_archive):
    script = f"""
import sys
from provenn.definitions import catalog_names, catalog_store
from provenn.knowledge import declarations, proofs
from provenn.formats.opening import open_database
with open_database({str(sqlite_archive)!r}) as database, database.reading() as reading:
    catalog_names.list_names(reading)
print(*sorted({{"alembic", "mako", "sqlglot", "pyarrow", "pandas", "pyspark", "psycopg"}} & sys.modules.keys()))
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []
