"""A small world of customers, orders and items, with NULLs and dangling references, for tests of queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import duckdb
import pyarrow as pa
import sqlglot

from provenn.catalogs import Base, Catalog, cone
from provenn.knowledge.consequences import build_knowledge
from provenn.logic import Knowledge, Statement
from provenn.queries.query_reading import QueryTable, read_query
from provenn.queries.translation import Translation, translate
from provenn.targets.known import build_definition
from tests.spark.lineages import write_base
from tests.spark.oracle import Oracle

__all__ = ["KEYS", "Shop", "make_shop", "read_tables", "refuse_types"]

KEYS = {"customers": ["id"], "orders": ["id"], "items": ["order_id", "line"], "vips": ["id"]}
_POPULATIONS = {"customers": "customer", "orders": "order", "items": "item", "vips": "customer"}


def read_tables(seed: int = 0) -> dict[str, pa.Table]:
    """Return the tables: the same for the same seed."""
    import random  # noqa: PLC0415

    random = random.Random(seed)

    def maybe(value: object) -> object:
        return None if random.random() < 0.2 else value

    customers = {
        "id": list(range(1, 7)),
        "city": [maybe(random.choice(["Oslo", "Bern", "Rome"])) for _ in range(6)],
        "age": [maybe(random.randrange(18, 24)) for _ in range(6)],
    }
    orders = {
        "id": list(range(1, 11)),
        "customer": [maybe(random.randrange(1, 9)) for _ in range(10)],
        "total": [maybe(random.randrange(0, 6)) for _ in range(10)],
        "day": [maybe(random.choice(["mon", "tue"])) for _ in range(10)],
    }
    lines = [(order, line) for order in range(1, 13) for line in range(1, random.randrange(1, 4))]
    items = {
        "order_id": [order for order, _ in lines],
        "line": [line for _, line in lines],
        "price": [maybe(random.randrange(0, 5)) for _ in lines],
        "kind": [maybe(random.choice(["a", "b", "c"])) for _ in lines],
    }
    vips = {"id": sorted(random.sample(range(1, 9), 3)), "level": [maybe(random.randrange(3)) for _ in range(3)]}
    types = {"city": pa.string(), "day": pa.string(), "kind": pa.string()}
    return {
        name: pa.table({column: pa.array(values, types.get(column, pa.int64())) for column, values in table.items()})
        for name, table in {"customers": customers, "orders": orders, "items": items, "vips": vips}.items()
    }


def refuse_types(text: str, _: Sequence[Catalog]) -> list[tuple[str, str, bool]]:
    """Refuse to find the types of an opaque query: the tests of this module know no Spark."""
    message = f"opaque: {text}"
    raise NotImplementedError(message)


@dataclass(frozen=True)
class Shop:
    """The tables, as catalogs and in DuckDB."""

    tables: Mapping[str, pa.Table]
    catalogs: Mapping[str, Base]

    def find_table(self, parts: tuple[str, ...]) -> QueryTable:
        """Return a table by name."""
        return QueryTable(parts[-1], self.catalogs[parts[-1]].schema.names)

    def translate(self, text: str, *, find_types: object = refuse_types) -> Translation:
        """Return the catalog that a query means."""
        node = read_query(text, self)
        return translate(node, self.catalogs, prove=prove, find_types=find_types)

    @cached_property
    def oracle(self) -> Oracle:
        """The meaning of catalogs in DuckDB."""
        return Oracle({self.catalogs[name].digest: table for name, table in self.tables.items()})

    def run(self, text: str) -> Counter[tuple[object, ...]]:
        """Return the bag of rows that DuckDB finds for a query in Spark's dialect."""
        with duckdb.connect() as database:
            for name, table in self.tables.items():
                database.register(name, table)
            written = sqlglot.transpile(text, read="spark", write="duckdb")[0]
            return Counter(tuple(row) for row in database.sql(written).fetchall())

    def compute(self, translation: Translation) -> Counter[tuple[object, ...]]:
        """Return the bag of rows of the catalog that a query means, by the oracle of catalogs."""
        rows = self.oracle.table(translation.catalog).select(list(translation.columns)).to_pylist()
        return Counter(tuple(row[name] for name in translation.columns) for row in rows)


def collect_knowledge(*catalogs: Catalog) -> Knowledge:
    """Return what definitions say about catalogs."""
    lineage = {catalog.digest: catalog for catalog in cone(*catalogs)}
    return build_knowledge([build_definition(catalog) for catalog in lineage.values()], ()).knowledge


def prove(statement: Statement, catalogs: Sequence[Catalog]) -> bool:
    """Whether a statement follows from definitions alone."""
    return collect_knowledge(*catalogs).entails(statement)


def make_shop(folder: Path, seed: int = 0) -> Shop:
    """Write the tables below a folder, and take them for catalogs."""
    tables = read_tables(seed)
    catalogs = {
        name: write_base(folder, table, key=KEYS[name], population=_POPULATIONS[name]) for name, table in tables.items()
    }
    return Shop(tables, catalogs)
