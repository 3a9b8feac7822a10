"""Who sees what."""

from tests.contracts.visibility import VisibilityContract
from tests.database.databases import InPostgreSQL, InSQLite


class TestSQLite(InSQLite, VisibilityContract):
    pass


class TestPostgreSQL(InPostgreSQL, VisibilityContract):
    pass
