"""Facts, how far they reach, and proofs."""

from tests.contracts.facts import FactsContract
from tests.database.databases import InPostgreSQL, InSQLite, Opened


class TestSQLite(InSQLite, Opened, FactsContract):
    pass


class TestPostgreSQL(InPostgreSQL, Opened, FactsContract):
    pass
