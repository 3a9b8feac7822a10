"""TPC-H at a tiny scale, as catalogs and in DuckDB: what queries mean, without Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from pathlib import Path

import duckdb
import pyarrow as pa
import sqlglot
from pyarrow import parquet

from provenn.catalogs import Base, Catalog
from provenn.queries.query_reading import QueryTable, read_query
from provenn.queries.translation import Translation, translate
from tests.queries.empty_inputs import create_empty_inputs
from tests.queries.shops import prove
from tests.spark.lineages import write_base
from tests.spark.oracle import Oracle
from tests.tpch.tables import KEYS, generate_tables

__all__ = ["QUERIES", "TpchWorld", "make_tpch_world"]

_FOLDER = Path(__file__).parents[1] / "tpch" / "sql"
QUERIES = {path.stem: path.read_text() for path in sorted(_FOLDER.glob("q*.sql"))}
"""The 22 queries by name, in DuckDB's dialect."""

SCALE = 0.001
_SPARK = {
    "INTEGER": "int",
    "BIGINT": "bigint",
    "HUGEINT": "bigint",
    "VARCHAR": "string",
    "BOOLEAN": "boolean",
    "DOUBLE": "double",
    "DATE": "date",
}


@dataclass(frozen=True)
class TpchWorld:
    """The tables, as catalogs and in DuckDB."""

    tables: dict[str, pa.Table]
    catalogs: dict[str, Base]

    def find_table(self, parts: tuple[str, ...]) -> QueryTable:
        """Return a table by name."""
        return QueryTable(parts[-1], self.catalogs[parts[-1]].schema.names)

    def translate(self, text: str, dialect: str = "duckdb") -> Translation:
        """Return the catalog that a query means."""
        node = read_query(text, self, dialect)
        return translate(node, self.catalogs, prove=prove, find_types=self.find_types)

    def find_types(self, text: str, inputs: Sequence[Catalog]) -> list[tuple[str, str, bool]]:
        """Return the columns of a query, with the types that DuckDB finds."""
        create_empty_inputs(self.database, inputs)
        written = sqlglot.transpile(text, read="spark", write="duckdb")[0]
        rows = self.database.sql(f"DESCRIBE {written}").fetchall()
        return [(name, _SPARK.get(kind, kind.lower().replace(" ", "")), True) for name, kind, *_ in rows]

    @cached_property
    def database(self) -> duckdb.DuckDBPyConnection:
        """DuckDB with the tables."""
        database = duckdb.connect()
        database.execute("SET threads = 1")
        for name, table in self.tables.items():
            database.register(name, table)
        return database

    def run(self, text: str) -> Counter[tuple[object, ...]]:
        """Return the bag of rows that DuckDB finds for a query."""
        return Counter(tuple(map(_read_value, row)) for row in self.database.sql(text).fetchall())

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
    """Return a value that compares with those of other types of numbers; ten digits of a number count."""
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return float(f"{float(value):.10g}")
    return value.date() if isinstance(value, datetime) else value


def make_tpch_world(folder: Path) -> TpchWorld:
    """Generate the tables below a folder, and take them for catalogs."""
    generate_tables(folder, SCALE)
    tables, catalogs = {}, {}
    for name, (population, key) in KEYS.items():
        table = parquet.read_table(folder / f"{name}.parquet")
        tables[name] = table
        catalogs[name] = write_base(folder, table, key=key, population=population)
    return TpchWorld(tables, catalogs)
