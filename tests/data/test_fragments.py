"""The registry of fragments, and pins."""

from tests.contracts.fragments import FragmentsContract
from tests.database.databases import InPostgreSQL, InSQLite, Opened


class TestSQLite(InSQLite, Opened, FragmentsContract):
    pass


class TestPostgreSQL(InPostgreSQL, Opened, FragmentsContract):
    pass
