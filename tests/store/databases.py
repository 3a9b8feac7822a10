"""The databases that every contract of the store is run on: mix one in before the contract."""

import shutil

import pytest

from provenn.store.database import open_database
from tests.postgres import new_database


class InSQLite:
    @pytest.fixture
    def place(self, tmp_path, sqlite_archive):
        """A new archive's place."""
        return shutil.copy(sqlite_archive, tmp_path / "archive.sqlite")


class InPostgreSQL:
    @pytest.fixture
    def place(self, postgres, postgres_archive):
        """A new archive's place."""
        return new_database(postgres, template=postgres_archive)


class Opened:
    """The archive at that place, open."""

    @pytest.fixture
    def database(self, place):
        with open_database(place, who="Ada") as database:
            yield database
