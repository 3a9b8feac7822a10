"""Archives to copy: making one by migration takes long, copying it does not."""

from collections.abc import Callable, Iterator

import pytest
from alembic.config import Config
from sqlalchemy import Connection, event, inspect

from provenn.formats import migrations
from provenn.formats.opening import open_database
from tests.postgres import new_schema, postgres_server


@pytest.fixture(scope="session", autouse=True)
def repeated_migrations() -> Iterator[None]:
    """Make the tables of the first new archive by alembic, and those of all others by the statements that it sent.

    A suite makes thousands of archives, and alembic takes a hundred times as long as its statements. What migrations do
    is tested where `upgrade_tables` is called directly or in other processes, and archives that are not new are
    upgraded by alembic as ever.
    """
    upgrade_tables = migrations.upgrade_tables
    recorded: dict[str, list[tuple[str, object]]] = {}

    def upgrade_or_repeat(connection: Connection, check: Callable[[], object], config: Config | None = None) -> None:
        dialect = connection.dialect.name
        is_new = config is None and not inspect(connection).get_table_names()
        connection.rollback()  # of the question, which began a transaction
        if not is_new:
            upgrade_tables(connection, check, config)
        elif dialect in recorded:
            with migrations._changing_tables(connection, migrations.make_configuration()):
                check()
                for statement, parameters in recorded[dialect]:
                    connection.exec_driver_sql(statement, parameters)
                migrations._renew_epoch(connection)
        else:
            recorded[dialect] = _record_statements(connection, lambda: upgrade_tables(connection, check))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrations, "upgrade_tables", upgrade_or_repeat)
        yield


def _record_statements(connection: Connection, work: Callable[[], None]) -> list[tuple[str, object]]:
    """Return the statements other than questions that some work sends through a connection."""
    statements = []

    def record(_connection, _cursor, statement, parameters, _context, _many):
        if not statement.lstrip().upper().startswith(("SELECT", "PRAGMA")):
            statements.append((statement, parameters or None))

    event.listen(connection, "before_cursor_execute", record)
    try:
        work()
    finally:
        event.remove(connection, "before_cursor_execute", record)
    return statements


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
