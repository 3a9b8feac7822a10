"""Names and their history."""

from tests.contracts.names import NamesContract
from tests.database.databases import InPostgreSQL, InSQLite, Opened


class TestSQLite(InSQLite, Opened, NamesContract):
    pass


class TestPostgreSQL(InPostgreSQL, Opened, NamesContract):
    pass
