"""The databases that every contract of the store is run on: mix one in before the contract."""

import shutil

import pytest
from sqlalchemy import delete

from provenn.database.tables import metadata
from provenn.formats.opening import open_database
from tests.postgres import new_schema


class InSQLite:
    @pytest.fixture
    def place(self, tmp_path, sqlite_archive):
        """The place of an empty archive."""
        return shutil.copy(sqlite_archive, tmp_path / "archive.sqlite")


class InPostgreSQL:
    @pytest.fixture
    def place(self, postgres_archive):
        """The place of an empty archive, which other tests have used before: making one takes long."""
        with open_database(postgres_archive) as database, database.writing() as writing:
            for table in reversed(metadata.sorted_tables):
                writing.connection.execute(delete(table))
        return postgres_archive


class InNewPostgreSQL:
    @pytest.fixture
    def place(self, postgres):
        """The place of an empty archive whose tables may be changed."""
        address = new_schema(postgres)
        open_database(address, create=True).close()
        return address


class Opened:
    """The archive at that place, open."""

    @pytest.fixture
    def database(self, place):
        with open_database(place, who="Ada") as database:
            yield database
