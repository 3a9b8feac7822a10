"""Statements of SQL that are compiled once for all archives of a process, and not once an archive.

SQLAlchemy keeps compiled statements with the engine of a database, and tests open thousands of databases. To compile
its statements anew took a third of the time of a test that opens an archive twice.
"""

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import sqlalchemy
from sqlalchemy.engine import Engine

from provenn.database import engines

__all__ = ["CompiledStatements", "share_statements", "shared_statements"]

MOST = 5_000
"""How many statements are kept; when there are more, all are forgotten."""


class CompiledStatements(dict[tuple[Hashable, ...], Any]):
    """Compiled statements of all databases of one kind.

    SQLAlchemy's keys begin with the dialect, an object that every engine has for itself. All engines of a kind are made
    alike, by the same driver and for the same version of the same server, so that the dialect tells nothing more.
    """

    def get(self, key: tuple[Hashable, ...], default: Any = None) -> Any:
        """Return the statement compiled for any engine of this kind."""
        return super().get(key[1:], default)

    def __setitem__(self, key: tuple[Hashable, ...], compiled: Any) -> None:
        if len(self) >= MOST:
            self.clear()
        super().__setitem__(key[1:], compiled)


@pytest.fixture(scope="session", autouse=True)
def shared_statements() -> Iterator[dict[str, CompiledStatements]]:
    """The compiled statements that all databases of a pytest process share, by kind of database."""
    with share_statements() as statements:
        yield statements


@contextmanager
def share_statements() -> Iterator[dict[str, CompiledStatements]]:
    """Let the engines that provenn makes in the body share compiled statements, by kind of database."""
    create_engine, statements = engines.create_engine, dict[str, CompiledStatements]()

    def create_with_shared_statements(address: str | sqlalchemy.URL, **options: Any) -> Engine:
        engine = create_engine(address, **options)
        compiled = statements.setdefault(engine.dialect.name, CompiledStatements())
        engine.update_execution_options(compiled_cache=compiled)
        return engine

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engines, "create_engine", create_with_shared_statements)
        yield statements
