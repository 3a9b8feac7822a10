"""Rows that are not what was written."""

from contextlib import contextmanager

from tests.contracts.damage import DamageContract
from tests.database.databases import InPostgreSQL, InSQLite, Opened


class TestSQLite(InSQLite, Opened, DamageContract):
    @contextmanager
    def without_foreign_keys(self, database):
        with database.engine.connect() as connection:
            connection.execution_options(provenn_writes=True)
            connection.connection.driver_connection.execute("PRAGMA foreign_keys = OFF")
            with connection.begin():
                yield connection
            connection.connection.driver_connection.execute("PRAGMA foreign_keys = ON")


class TestPostgreSQL(InPostgreSQL, Opened, DamageContract):
    @contextmanager
    def without_foreign_keys(self, database):
        with database.writing() as writing:
            writing.connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
            yield writing.connection
