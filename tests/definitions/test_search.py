"""Lists of catalogs."""

from tests.contracts.search import SearchContract
from tests.database.databases import InPostgreSQL, InSQLite, Opened


class TestSQLite(InSQLite, Opened, SearchContract):
    pass


class TestPostgreSQL(InPostgreSQL, Opened, SearchContract):
    pass
