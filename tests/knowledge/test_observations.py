"""Counts, verified keys and other observations; settings and runs."""

from tests.contracts.observations import ObservationsContract
from tests.database.databases import InPostgreSQL, InSQLite, Opened


class TestSQLite(InSQLite, Opened, ObservationsContract):
    pass


class TestPostgreSQL(InPostgreSQL, Opened, ObservationsContract):
    pass
