"""How many pairs of equivalent queries are proved equal: ``python -m benchmarks query_pairs [FILE]``.

FILE is a suite in the format of `benchmarks.query_suites`; without it, the suite of the tests. For each kind of query
the command shows how many pairs are proved equal, how many are not, and how many claims are wrong: a pair that the
suite calls different is proved equal, or DuckDB finds rows on small random tables for which a claim does not hold.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pyarrow as pa
import sqlglot

from benchmarks.query_suites import QueryPair, SuiteColumn, SuiteTable, read_suite
from provenn.catalogs import Base, Catalog
from provenn.errors import ProvennError
from provenn.queries.comparing import QueryComparison, compare_queries
from provenn.queries.query_reading import QueryTable, read_query
from provenn.queries.translation import Translation, translate
from tests.queries.empty_inputs import create_empty_inputs
from tests.queries.shops import prove
from tests.spark.lineages import write_base

__all__ = ["PairResult", "SuiteWorld", "compare_pair", "main"]

SUITE = Path(__file__).parents[1] / "tests" / "queries" / "pairs.json"
ROUNDS = 8
_ARROW = {
    "int": pa.int32(),
    "bigint": pa.int64(),
    "double": pa.float64(),
    "string": pa.string(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
}
_SPARK = {
    "INTEGER": "int",
    "BIGINT": "bigint",
    "HUGEINT": "bigint",
    "VARCHAR": "string",
    "BOOLEAN": "boolean",
    "DOUBLE": "double",
    "DATE": "date",
}


@dataclass(frozen=True, slots=True)
class PairResult:
    """What was proved of a pair, and what is wrong about it; None if a query is no catalog."""

    pair: QueryPair
    comparison: QueryComparison | None
    remarks: tuple[str, ...]
    mistake: str = ""


@dataclass(frozen=True)
class SuiteWorld:
    """The tables of a suite, as catalogs and with random rows in DuckDB."""

    tables: tuple[SuiteTable, ...]
    folder: Path

    @cached_property
    def typical_rows(self) -> dict[str, pa.Table]:
        """The rows of the catalogs: many enough that their files say nothing that other rows contradict."""
        random = Random(0)
        return {table.name: make_rows(table, random, 200) for table in self.tables}

    @cached_property
    def catalogs(self) -> dict[str, Base]:
        """The catalogs, by the names of their tables in lower case."""
        return {
            table.name.lower(): write_base(
                self.folder, self.typical_rows[table.name], key=list(table.key), population=table.name.lower()
            )
            for table in self.tables
            if table.key
        }

    @cached_property
    def databases(self) -> list[duckdb.DuckDBPyConnection]:
        """Databases with other rows in the tables."""
        databases = []
        for seed in range(ROUNDS):
            random = Random(seed)
            database = duckdb.connect()
            database.execute("SET threads = 1")
            for table in self.tables:
                rows = self.typical_rows[table.name] if seed == 0 else make_rows(table, random, random.randrange(12))
                database.register(table.name.lower(), rows)
            databases.append(database)
        return databases

    def find_table(self, parts: tuple[str, ...]) -> QueryTable:
        """Return a table by name.

        Raises
        ------
        ProvennError
            If the suite has no such table with a key.
        """
        name = parts[-1].lower()
        if name not in self.catalogs:
            message = f"{name} is no table with a key"
            raise ProvennError(message)
        return QueryTable(name, self.catalogs[name].schema.names)

    def translate(self, text: str) -> Translation:
        """Return the catalog that a query means."""
        node = read_query(text, self)
        return translate(node, self.catalogs, prove=prove, find_types=self._find_types)

    def _find_types(self, text: str, inputs: Sequence[Catalog]) -> list[tuple[str, str, bool]]:
        database = self.databases[0]
        create_empty_inputs(database, inputs)
        rows = database.sql(f"DESCRIBE {_write_duckdb(text)}").fetchall()
        return [(name, _SPARK.get(kind, kind.lower().replace(" ", "")), True) for name, kind, *_ in rows]

    def run(self, text: str) -> list[Counter[tuple[Any, ...]]]:
        """Return the bag of rows of a query in each database."""
        written = _write_duckdb(text)
        return [Counter(map(tuple, database.sql(written).fetchall())) for database in self.databases]


def _write_duckdb(text: str) -> str:
    return sqlglot.transpile(text, read="spark", write="duckdb")[0]


def make_rows(table: SuiteTable, random: Random, number: int) -> pa.Table:
    """Return random rows of a table, fewer than a number: few values, many NULLs, keys that occur once."""
    key = [place for place, column in enumerate(table.columns) if column.name in table.key]
    rows: dict[tuple[Any, ...], list[Any]] = {}
    for position in range(number):
        row = [_make_value(column, random, max(number, 12)) for column in table.columns]
        rows.setdefault(tuple(row[place] for place in key) or (position,), row)
    values = list(zip(*rows.values(), strict=True)) or [()] * len(table.columns)
    fields = [pa.field(column.name, _ARROW[column.type], nullable=column.is_nullable) for column in table.columns]
    arrays = [pa.array(list(column), field.type) for column, field in zip(values, fields, strict=True)]
    return pa.table(arrays, schema=pa.schema(fields))


def _make_value(column: SuiteColumn, random: Random, keys: int) -> Any:
    if column.is_nullable and random.random() < 0.25:
        return None
    if column.type == "string":
        return random.choice(["x", "y", "z"])
    if column.type == "boolean":
        return random.random() < 0.5
    number = random.randrange(6 if column.is_nullable else keys)
    if column.type == "date":
        return date(2020, 1, 1) + timedelta(days=number)
    return float(number) if column.type == "double" else number


def compare_pair(pair: QueryPair, world: SuiteWorld) -> PairResult:
    """Compare the queries of a pair, and check what is claimed."""
    try:
        first, second = world.translate(pair.first), world.translate(pair.second)
    except (ProvennError, NotImplementedError, duckdb.Error) as error:
        return PairResult(pair, None, (str(error).splitlines()[0],))
    comparison = compare_queries(first, second, prove)
    remarks = tuple(str(remark) for remark in (*first.remarks, *second.remarks))
    if not pair.is_equal and comparison.is_equal:
        return PairResult(pair, comparison, remarks, "the suite calls them different")
    try:
        rows = list(zip(world.run(pair.first), world.run(pair.second), strict=True))
    except duckdb.Error as error:
        return PairResult(pair, None, (f"DuckDB cannot run it: {str(error).splitlines()[0]}",))
    holds = all(_holds(comparison, own, other) for own, other in rows)
    mistake = "" if holds else f"DuckDB finds rows for which they are not {comparison.relation}"
    return PairResult(pair, comparison, remarks, mistake)


def _holds(comparison: QueryComparison, own: Counter[tuple[Any, ...]], other: Counter[tuple[Any, ...]]) -> bool:
    """Whether a claim holds for the rows of two queries."""
    match comparison.relation:
        case "equal":
            return own == other
        case "other columns":
            return own.total() == other.total()
        case "narrowed":
            return other <= own if comparison.has_same_columns else other.total() <= own.total()
        case "widened":
            return own <= other if comparison.has_same_columns else own.total() <= other.total()
    return True


def main(*files: str) -> int:
    """Show how many pairs of suites are proved; return 1 if a claim is wrong."""
    worst = 0
    for path in [Path(file) for file in files] or [SUITE]:
        worst = max(worst, _show_suite(path))
    return worst


def _show_suite(path: Path) -> int:
    pairs = read_suite(path)
    results = []
    with TemporaryDirectory() as folder:
        worlds: dict[tuple[SuiteTable, ...], SuiteWorld] = {}
        for pair in pairs:
            world = worlds.setdefault(pair.tables, SuiteWorld(pair.tables, Path(folder)))
            results.append(compare_pair(pair, world))
    print(f"{path}: {len(pairs)} pairs")
    print(f"{'kind':16} {'pairs':>6} {'proved':>7} {'unknown':>8} {'wrong':>6} {'different':>10} {'kept apart':>11}")
    by_kind: dict[str, list[PairResult]] = defaultdict(list)
    for result in results:
        by_kind[result.pair.kind].append(result)
    for kind, members in (*by_kind.items(), ("all", results)):
        equal = [result for result in members if result.pair.is_equal]
        others = [result for result in members if not result.pair.is_equal]
        proved = sum(_is_proved(result) for result in equal)
        wrong = sum(bool(result.mistake) for result in members)
        apart = sum(not _is_proved(result) for result in others)
        unknown = len(equal) - proved
        print(f"{kind:16} {len(equal):6} {proved:7} {unknown:8} {wrong:6} {len(others):10} {apart:11}")
    for result in sorted(results, key=lambda result: not result.mistake):
        if result.mistake or (result.pair.is_equal and not _is_proved(result)):
            found = "no catalog" if result.comparison is None else result.comparison.relation
            reason = result.comparison.reason if result.comparison is not None else ""
            print(f"- {result.pair.name}: {result.mistake or found}; {reason} {'; '.join(result.remarks)}")
    return int(any(result.mistake for result in results))


def _is_proved(result: PairResult) -> bool:
    return result.comparison is not None and result.comparison.is_equal


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
