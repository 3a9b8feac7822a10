"""Several processes on one archive, and processes that are killed."""

from tests.contracts.processes import ProcessesContract
from tests.database.databases import InPostgreSQL, InSQLite


class TestSQLite(InSQLite, ProcessesContract):
    pass


class TestPostgreSQL(InPostgreSQL, ProcessesContract):
    kills = 4
