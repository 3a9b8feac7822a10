"""Catalogs as DuckDB computes them, from the user's verbs alone.

Nothing here uses what provenn makes of a verb. A criterion or an expression is written twice, for provenn (in Spark's
SQL) and for DuckDB, which orders values as Spark does; they differ where a division by zero is NULL in Spark.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from random import Random

import duckdb

__all__ = ["COLUMNS", "SQL", "Oracle", "Table", "condition", "expression", "in_sample", "values"]

COLUMNS = {"n": "int", "x": "double", "s": "string", "b": "boolean"}
_VALUES = {
    "int": [None, -1, 0, 1, 2, 3],
    "double": [None, float("nan"), float("inf"), -0.0, 0.0, 0.5, 1.0, 2.0],
    "string": [None, "", "a", "ab", "b"],
    "boolean": [None, True, False],
}
_CONSTANTS = {
    "int": ["0", "1", "2", "1.5", "-1", "2.0D"],
    "double": ["0", "1", "0.5", "2.0", "-1.5", "CAST('NaN' AS DOUBLE)", "1e0"],
    "string": ["''", "'a'", "'ab'", "'b'"],
}


def values(random: Random, kind: str, size: int) -> list[object]:
    """Return random values of a type, NULL and NaN among them."""
    return [random.choice(_VALUES[kind]) for _ in range(size)]


@dataclass(frozen=True)
class SQL:
    """A text for provenn, and one for DuckDB."""

    provenn: str
    duckdb: str

    def within(self, form: str) -> "SQL":
        return SQL(form.format(self.provenn), form.format(self.duckdb))


def same(text: str) -> SQL:
    return SQL(text, text.replace("2.0D", "CAST(2 AS DOUBLE)"))


def condition(random: Random, columns: dict[str, str], depth: int = 2) -> SQL:
    """Return a random condition on columns, given their types."""
    if depth and random.random() < 0.5:
        parts = [condition(random, columns, depth - 1) for _ in range(2)]
        form = random.choice(["({}) AND ({})", "({}) OR ({})", "NOT ({})", "({}) IS NOT TRUE", "({}) IS TRUE"])
        return SQL(form.format(*(part.provenn for part in parts)), form.format(*(part.duckdb for part in parts)))
    name, kind = random.choice(list(columns.items()))
    if kind == "boolean":
        return same(random.choice([name, f"NOT {name}", f"{name} IS NULL", f"{name} = TRUE", f"{name} <> TRUE"]))
    one, other = (random.choice(_CONSTANTS[kind]) for _ in range(2))
    operator = random.choice(["<", "<=", "=", "<>", ">=", ">"])
    plain = [
        f"{name} {operator} {one}",
        f"{name} {operator} {one}",
        f"{one} {operator} {name}",
        f"{name} BETWEEN {one} AND {other}",
        f"{name} NOT BETWEEN {one} AND {other}",
        f"{name} IN ({one}, {other})",
        f"{name} NOT IN ({one}, {other})",
        f"{name} IS NULL",
        f"{name} IS NOT NULL",
        f"{name} IS DISTINCT FROM {one}",
        f"{name} IS NOT DISTINCT FROM {one}",
        f"COALESCE({name}, {one}) {operator} {other}",
    ]
    if kind == "string":
        plain += [f"{name} LIKE 'a%'"]
    elif kind == "int":
        plain += [f"{name} + 1 {operator} {one}"]
    second = random.choice([column for column, its in columns.items() if its == kind])
    plain += [f"{name} {operator} {second}"]
    return same(random.choice(plain))


def expression(random: Random, columns: dict[str, str]) -> tuple[SQL, str]:
    """Return a random expression on columns, and its type."""
    name, kind = random.choice(list(columns.items()))
    if kind == "int":
        quotient = SQL(f"6 / {name}", f"CASE WHEN {name} = 0 THEN NULL ELSE 6.0::DOUBLE / {name} END")
        return random.choice([(same(f"{name} + 1"), "int"), (same(f"-{name}"), "int"), (quotient, "double")])
    if kind == "double":
        quotient = SQL(f"1 / {name}", f"CASE WHEN {name} = 0 THEN NULL ELSE 1.0::DOUBLE / {name} END")
        doubled = same(f"CASE WHEN {name} > 1 THEN {name} ELSE CAST(0 AS DOUBLE) END")
        return random.choice([(quotient, "double"), (doubled, "double"), (same(name), "double")])
    if kind == "string":
        longer = SQL(f"CONCAT({name}, 'b')", f"{name} || 'b'")  # DuckDB's CONCAT takes NULL for nothing
        return random.choice([longer, same(f"COALESCE({name}, 'b')")]), "string"
    return condition(random, columns, 1).within("({}) IS TRUE"), "boolean"


def in_sample(seed: int, key: int, fraction: float) -> bool:
    """Whether a source is in a sample: any rule that nests will do, as nothing else is known of samples."""
    return Random(1000 * seed + key).random() < fraction


@dataclass(frozen=True)
class Table:
    """A catalog as DuckDB has it: the table, the name of its key, and its other columns with their types."""

    name: str
    key: str
    columns: dict[str, str]


class Oracle:
    """A database with a table for every catalog."""

    def __init__(self) -> None:
        self._database = duckdb.connect()
        self._numbers = count()

    def _make(self, key: str, columns: dict[str, str], query: str) -> Table:
        name = f"t{next(self._numbers)}"
        self._database.execute(f"CREATE TABLE {name} AS {query}")
        return Table(name, key, columns)

    def sources(self, one: Table) -> frozenset[int]:
        found = self._database.execute(f"SELECT {one.key} FROM {one.name}").fetchall()  # noqa: S608
        assert len(set(found)) == len(found), "a source is there once"
        return frozenset(key for (key,) in found)

    def base(self, path: str) -> Table:
        return self._make("hip", dict(COLUMNS), f"SELECT * FROM read_parquet('{path}')")  # noqa: S608

    def select(self, one: Table, where: SQL) -> Table:
        return self._make(one.key, one.columns, f"SELECT * FROM {one.name} WHERE {where.duckdb}")  # noqa: S608

    def restrict(self, one: Table, other: Table, *, without: bool = False) -> Table:
        test = f"{one.key} {'NOT ' * without}IN (SELECT {other.key} FROM {other.name})"  # noqa: S608
        return self._make(one.key, one.columns, f"SELECT * FROM {one.name} WHERE {test}")  # noqa: S608

    def sample(self, one: Table, fraction: float, seed: int) -> Table:
        kept = [str(key) for key in self.sources(one) if in_sample(seed, key, fraction)]
        test = f"{one.key} IN ({', '.join(kept) or 'NULL'})"
        return self._make(one.key, one.columns, f"SELECT * FROM {one.name} WHERE {test}")  # noqa: S608

    def keep(self, one: Table, names: Iterable[str]) -> Table:
        columns = {name: one.columns[name] for name in names}
        return self._make(one.key, columns, f"SELECT {', '.join([one.key, *columns])} FROM {one.name}")  # noqa: S608

    def rename(self, one: Table, names: dict[str, str]) -> Table:
        columns = {names.get(name, name): kind for name, kind in one.columns.items()}
        shown = [f"{name} AS {names.get(name, name)}" for name in (one.key, *one.columns)]
        query = f"SELECT {', '.join(shown)} FROM {one.name}"  # noqa: S608
        return self._make(names.get(one.key, one.key), columns, query)

    def derive(self, one: Table, name: str, value: SQL, kind: str) -> Table:
        return self._make(one.key, one.columns | {name: kind}, f"SELECT *, {value.duckdb} AS {name} FROM {one.name}")  # noqa: S608

    def combine(self, one: Table, other: Table) -> Table:
        shared = [name for name in other.columns if name in one.columns]
        differ = " OR ".join(f"l.{name} IS DISTINCT FROM r.{name}" for name in shared) or "FALSE"
        joined = f"FROM {one.name} l JOIN {other.name} r ON l.{one.key} = r.{other.key}"
        (different,) = self._database.execute(f"SELECT count(*) {joined} WHERE {differ}").fetchone()
        assert not different, "an attribute has one value"
        more = [f"r.{name}" for name in other.columns if name not in one.columns]
        return self._make(one.key, one.columns | other.columns, f"SELECT {', '.join(['l.*', *more])} {joined}")

    def concat(self, one: Table, other: Table) -> Table:
        columns = {name: kind for name, kind in one.columns.items() if name in other.columns}
        left, right = (", ".join([table.key, *columns]) for table in (one, other))
        rest = f"{other.key} NOT IN (SELECT {one.key} FROM {one.name})"  # noqa: S608
        query = f"SELECT {left} FROM {one.name} UNION ALL SELECT {right} FROM {other.name} WHERE {rest}"  # noqa: S608
        return self._make(one.key, columns, query)
