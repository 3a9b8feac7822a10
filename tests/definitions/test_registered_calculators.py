"""Registered calculators and preferences."""

from tests.contracts.calculators import CalculatorsContract
from tests.database.databases import InPostgreSQL, InSQLite, Opened


class TestSQLite(InSQLite, Opened, CalculatorsContract):
    pass


class TestPostgreSQL(InPostgreSQL, Opened, CalculatorsContract):
    pass
