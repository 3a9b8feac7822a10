"""Archives to copy: making one by migration takes long, copying it does not."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import wraps
from pathlib import Path

import psycopg
import pytest
from alembic.config import Config
from sqlalchemy import Connection, event, inspect

from provenn.formats import migrations
from provenn.formats.opening import open_database
from tests.postgres import new_schema, postgres_server


@pytest.fixture(scope="session", autouse=True)
def repeated_migrations(sqlite_archive: Path) -> Iterator[None]:
    """Make the tables of the first archive of each kind by alembic, and those of all other new ones as copies of these.

    A suite makes thousands of archives, and what alembic does takes longer than most tests. Migrations are tested where
    `upgrade_tables` is called directly or in other processes; archives that are not new are upgraded by alembic.
    """
    upgrade_tables = migrations.upgrade_tables
    with closing(sqlite3.connect(sqlite_archive)) as first:
        recorded = {"sqlite": [*first.iterdump()][1:-1]}  # BEGIN … COMMIT

    @wraps(upgrade_tables)
    def upgrade_or_copy(connection: Connection, check: Callable[[], object], config: Config | None = None) -> None:
        dialect = connection.dialect.name
        is_new = config is None and not inspect(connection).get_table_names()
        connection.rollback()  # of the question, which began a transaction
        if not is_new:
            upgrade_tables(connection, check, config)
        elif dialect in recorded:
            with migrations._changing_tables(connection, migrations.make_configuration()):
                if check() is None:  # otherwise another process was quicker
                    for statement in recorded[dialect]:
                        connection.connection.driver_connection.execute(statement)
                migrations._renew_epoch(connection)
        else:
            with _recording(connection) as statements:
                upgrade_tables(connection, check)
            if any(statement.lstrip().startswith("CREATE TABLE") for statement in statements):
                recorded[dialect] = statements

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrations, "upgrade_tables", upgrade_or_copy)
        yield


@contextmanager
def _recording(connection: Connection) -> Iterator[list[str]]:
    """Collect the statements other than questions that PostgreSQL gets through a connection."""
    statements: list[str] = []

    def record(_connection, cursor, statement, parameters, _context, _many):
        if not statement.lstrip().upper().startswith("SELECT"):
            statements.append(psycopg.ClientCursor(cursor.connection).mogrify(statement, parameters))

    event.listen(connection, "before_cursor_execute", record)
    try:
        yield statements
    finally:
        event.remove(connection, "before_cursor_execute", record)


@pytest.fixture(scope="session")
def sqlite_archive(tmp_path_factory):
    """The file of an empty archive."""
    path = tmp_path_factory.mktemp("template") / "archive.sqlite"
    open_database(path, create=True).close()
    return path


@pytest.fixture(scope="session")
def postgres():
    """The address of a PostgreSQL server."""
    with postgres_server() as address:
        yield address


@pytest.fixture(scope="session")
def postgres_archive(postgres):
    """The address of an archive in PostgreSQL, to be emptied and used."""
    address = new_schema(postgres)
    open_database(address, create=True).close()
    return address
