"""Tables of tests for the reader, and the answers of DuckDB to queries as they were written and as they were read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import duckdb
import sqlglot

from provenn.errors import UnknownCatalogError, did_you_mean
from provenn.queries.query_reading import QueryTable
from tests.queries.random_queries import NUMBER, TABLES, make_tables

__all__ = ["KnownTables", "answer", "connect_random_tables", "list_known_tables", "translate_to_duckdb"]


class KnownTables:
    """Tables by the last part of their names, without regard to case."""

    def __init__(self, tables: Mapping[str, Sequence[str]]) -> None:
        self.tables = {name.lower(): QueryTable(name, tuple(columns)) for name, columns in tables.items()}

    def find_table(self, parts: tuple[str, ...]) -> QueryTable:
        """Return a table."""
        name = parts[-1].lower()
        if name not in self.tables:
            raise UnknownCatalogError(f"there is no table {parts[-1]}", hint=did_you_mean(name, self.tables))
        return self.tables[name]


def list_known_tables() -> KnownTables:
    """Return the tables of random queries."""
    return KnownTables({table.name: [name for name, _ in table.columns] for table in TABLES})


def connect_random_tables(random: Random) -> Any:
    """Return a connection to DuckDB with random rows in all tables."""
    connection = duckdb.connect()
    rows = make_tables(random)
    for table in TABLES:
        columns = ", ".join(f'"{name}" {"BIGINT" if kind == NUMBER else "VARCHAR"}' for name, kind in table.columns)
        connection.execute(f"CREATE TABLE {table.name} ({columns})")
        if rows[table.name]:
            marks = ", ".join("?" * len(table.columns))
            connection.executemany(f"INSERT INTO {table.name} VALUES ({marks})", rows[table.name])  # noqa: S608 - names
    return connection


def translate_to_duckdb(text: str) -> str:
    """Return SQL of Spark in the dialect of DuckDB."""
    return sqlglot.transpile(text, read="spark", write="duckdb")[0]


def answer(connection: Any, text: str) -> Counter[str]:
    """Return the bag of rows of a query."""
    return Counter(map(str, connection.execute(text).fetchall()))
