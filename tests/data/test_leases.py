"""Leases, and the clock they go by."""

from datetime import UTC, datetime

from provenn.database import clock
from tests.contracts.leases import LeasesContract
from tests.database.databases import InPostgreSQL, InSQLite, Opened


class TestSQLite(InSQLite, Opened, LeasesContract):
    pass


class TestPostgreSQL(InPostgreSQL, Opened, LeasesContract):
    def test_the_clock_of_this_machine_does_not_matter(self, database, monkeypatch):
        class Wrong(datetime):
            @classmethod
            def now(cls, tz=None):
                return datetime(1995, 1, 1, tzinfo=tz)

        monkeypatch.setattr(clock, "datetime", Wrong)
        with database.writing() as writing:
            assert writing.when > datetime(2024, 1, 1, tzinfo=UTC)
