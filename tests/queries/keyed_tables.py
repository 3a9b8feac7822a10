"""Random tables with keys, as catalogs and in DuckDB, and the queries and relations that hold there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from random import Random

import duckdb
import pyarrow as pa
import sqlglot

from provenn.catalogs import Base, Catalog
from provenn.queries.query_reading import QueryTable, read_query
from provenn.queries.translation import Translation, translate
from tests.queries.empty_inputs import create_empty_inputs
from tests.queries.random_queries import NUMBER, TABLES, RandomTable, make_rows
from tests.queries.shops import prove
from tests.spark.lineages import write_base
from tests.spark.oracle import Oracle

__all__ = ["KEYED", "KeyedTables", "make_keyed_tables"]

KEYED = tuple(RandomTable(table.name, (("id", NUMBER), *table.columns)) for table in TABLES)
"""The random tables, each with a key."""

_ARROW = {"int": pa.int32(), "string": pa.string()}
_SPARK = {
    "INTEGER": "int",
    "BIGINT": "bigint",
    "HUGEINT": "bigint",
    "VARCHAR": "string",
    "BOOLEAN": "boolean",
    "DOUBLE": "double",
}


@dataclass(frozen=True)
class KeyedTables:
    """Tables, as catalogs and in DuckDB."""

    tables: dict[str, pa.Table]
    catalogs: dict[str, Base]

    def find_table(self, parts: tuple[str, ...]) -> QueryTable:
        """Return a table by name."""
        return QueryTable(parts[-1], self.catalogs[parts[-1]].schema.names)

    def translate(self, text: str) -> Translation:
        """Return the catalog that a query means."""
        node = read_query(text, self, "duckdb")
        return translate(node, self.catalogs, prove=prove, find_types=self.find_types, is_request=True)

    def find_types(self, text: str, inputs: Sequence[Catalog]) -> list[tuple[str, str, bool]]:
        """Return the columns of a query, with the types that DuckDB finds."""
        with self._connect() as database:
            create_empty_inputs(database, inputs)
            written = sqlglot.transpile(text, read="spark", write="duckdb")[0]
            rows = database.sql(f"DESCRIBE {written}").fetchall()
        return [(name, _SPARK[kind], True) for name, kind, *_ in rows]

    def _connect(self) -> duckdb.DuckDBPyConnection:
        database = duckdb.connect()
        for name, table in self.tables.items():
            database.register(name, table)
        return database

    def run(self, text: str) -> Counter[tuple[object, ...]]:
        """Return the bag of rows that DuckDB finds for a query."""
        with self._connect() as database:
            return Counter(tuple(map(_read_value, row)) for row in database.sql(text).fetchall())

    @cached_property
    def oracle(self) -> Oracle:
        """The meaning of catalogs in DuckDB."""
        return Oracle({self.catalogs[name].digest: table for name, table in self.tables.items()})

    def compute(self, translation: Translation) -> Counter[tuple[object, ...]]:
        """Return the bag of rows of the catalog that a query means, by the oracle of catalogs."""
        rows = self.oracle.table(translation.catalog).select(list(translation.columns)).to_pylist()
        return Counter(tuple(_read_value(row[name]) for name in translation.columns) for row in rows)

    def find_keys(self, catalog: Catalog) -> set[tuple[object, ...]]:
        """Return the keys of the sources of a catalog."""
        names = [attribute.name for attribute in catalog.schema.key]
        return {tuple(row[name] for name in names) for row in self.oracle.table(catalog).select(names).to_pylist()}


def _read_value(value: object) -> object:
    """Return a value that compares with those of other types of numbers."""
    return float(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else value


def make_keyed_tables(random: Random, folder: Path) -> KeyedTables:
    """Write random tables below a folder, and take them for catalogs."""
    tables, catalogs = {}, {}
    for table in KEYED:
        rows = make_rows(random, RandomTable(table.name, table.columns[1:]))
        numbered = [(number, *row) for number, row in enumerate(rows)]
        columns = list(zip(*numbered, strict=True)) or [()] * len(table.columns)
        tables[table.name] = pa.table(
            {
                name: pa.array(list(values), _ARROW[kind])
                for (name, kind), values in zip(table.columns, columns, strict=True)
            }
        )
        catalogs[table.name] = write_base(folder, tables[table.name], key="id", population=table.name)
    return KeyedTables(tables, catalogs)
