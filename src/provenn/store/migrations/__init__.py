"""Bringing the tables of an archive up to date, step by step, with alembic.

Importing this imports alembic, so it is done only when there is something to do. A step is a module of `versions`,
numbered ``v0001``, ``v0002``, …; one that was released is never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

from provenn.errors import CorruptArchiveError

__all__ = ["configuration", "upgrade"]


def configuration() -> Config:
    """Return alembic's configuration, which is not in a file."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def upgrade(connection: Connection, check: Callable[[], object], config: Config | None = None) -> None:
    """Bring the tables up to date, in one transaction: all steps or none.

    Parameters
    ----------
    connection
        In no transaction yet, and with the options of a writing one.
    check
        Called once nobody else can write; it raises if the archive is not to be upgraded.
    config
        Another one than `configuration`.
    """
    config = config or configuration()
    config.attributes["connection"] = connection
    with _without_foreign_keys(connection), connection.begin():
        check()
        command.upgrade(config, "head")
        if connection.dialect.name == "sqlite":
            broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
            if broken is not None:
                raise CorruptArchiveError(f"a row of {broken[0]} refers to one that is not in {broken[2]}")


@contextmanager
def _without_foreign_keys(connection: Connection) -> Iterator[None]:
    """Let go of foreign keys in SQLite, which changes a table by copying it and deleting the old one."""
    if connection.dialect.name != "sqlite":
        yield
        return
    driver = connection.connection.driver_connection
    assert driver is not None, "an open connection has one"  # noqa: S101 - for the type checker
    driver.execute("PRAGMA foreign_keys = OFF")
    try:
        yield
    finally:
        driver.execute("PRAGMA foreign_keys = ON")
