"""Suites of pairs of queries, as provers publish them: JSON with two SQL texts and a schema.

A suite is a list of pairs, or an object with ``pairs`` and a ``schema`` for all of them. A pair has a name, two texts
(``q1`` and ``q2``, ``query1``, ``left``, ``sql1`` …), maybe a schema of its own, and ``equal`` (or ``equivalent``):
false for queries that differ. A schema is the text of CREATE TABLE statements, or tables with columns and keys.
Other suites are plain text, in which each two lines are equal queries; CREATE TABLE statements stand in a file beside
it that ends in ``.sql``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp

__all__ = ["QueryPair", "SuiteColumn", "SuiteTable", "read_suite"]

_FIRST = ("q1", "query1", "left", "sql1", "first", "a")
_SECOND = ("q2", "query2", "right", "sql2", "second", "b")
_EQUAL = ("equal", "equivalent", "expected")
_KEY = ("key", "keys", "primary_key", "primaryKey", "primary")


@dataclass(frozen=True, slots=True)
class SuiteColumn:
    """A column: its name, its type as one of int, bigint, double, string, boolean and date, and whether it has NULL."""

    name: str
    type: str
    is_nullable: bool


@dataclass(frozen=True, slots=True)
class SuiteTable:
    """A table; without a key, no query of it can be a catalog."""

    name: str
    columns: tuple[SuiteColumn, ...]
    key: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QueryPair:
    """Two queries over the same tables."""

    name: str
    first: str
    second: str
    tables: tuple[SuiteTable, ...]
    is_equal: bool
    kind: str


def read_suite(path: Path) -> list[QueryPair]:
    """Return the pairs of a suite.

    Raises
    ------
    ValueError
        If a pair lacks a text or a schema.
    """
    content = json.loads(path.read_text()) if path.suffix == ".json" else _read_lines(path)
    pairs = content if isinstance(content, list) else content.get("pairs") or content.get("tests") or []
    common = None if isinstance(content, list) else content.get("schema")
    schemas: dict[str, tuple[SuiteTable, ...]] = {}
    suite = []
    for number, pair in enumerate(pairs, 1):
        name = str(pair.get("name", number))
        schema = pair.get("schema", common)
        if schema is None:
            message = f"{name} in {path} has no schema"
            raise ValueError(message)
        text = json.dumps(schema)
        if text not in schemas:
            schemas[text] = _read_schema(schema)
        first, second = _find(pair, _FIRST, name), _find(pair, _SECOND, name)
        is_equal = next((pair[word] for word in _EQUAL if word in pair), True) in (True, "true", "equal", "EQ")
        kind = pair.get("kind") or _classify(first, second)
        suite.append(QueryPair(name, first, second, schemas[text], is_equal, kind))
    return suite


def _read_lines(path: Path) -> dict[str, Any]:
    """Return the content of a suite of plain text."""
    lines = [line for line in path.read_text().splitlines() if line.strip()]
    if len(lines) % 2:
        message = f"{path} has {len(lines)} queries, which are no pairs"
        raise ValueError(message)
    pairs = [{"q1": first, "q2": second} for first, second in zip(lines[::2], lines[1::2], strict=True)]
    return {"pairs": pairs, "schema": path.with_suffix(".sql").read_text()}


def _find(pair: Mapping[str, Any], words: Sequence[str], name: str) -> str:
    for word in words:
        if word in pair:
            return str(pair[word]).rstrip("; \n")
    message = f"{name} has no {' or '.join(words)}"
    raise ValueError(message)


def _classify(first: str, second: str) -> str:
    """Return the kind of a pair by the words of its texts."""
    words = f"{first} {second}".lower()
    if any(word in words for word in ("left join", "right join", "full join", "outer join")):
        return "outer join"
    if any(word in words for word in ("group by", "sum(", "count(", "avg(", "min(", "max(")):
        return "aggregate"
    if any(word in words for word in ("union", "intersect", "except")):
        return "set operation"
    if " in (select" in words or "exists" in words:
        return "subquery"
    return "join" if " join " in words else "plain"


# --- schemas ---


def _read_schema(schema: Any) -> tuple[SuiteTable, ...]:
    if isinstance(schema, str):
        statements = sqlglot.parse(schema, read="mysql" if "`" in schema else "postgres")
        return tuple(_read_create(statement) for statement in statements if isinstance(statement, exp.Create))
    tables = schema.get("tables", schema) if isinstance(schema, dict) else schema
    if isinstance(tables, dict):
        tables = [{"name": name, **_make_table(table)} for name, table in tables.items()]
    return tuple(_read_table(table) for table in tables)


def _make_table(table: Any) -> dict[str, Any]:
    return table if isinstance(table, dict) and "columns" in table else {"columns": table}


def _read_create(statement: exp.Create) -> SuiteTable:
    """Return the table of a CREATE TABLE statement."""
    schema = statement.this
    columns, key = [], []
    for definition in schema.expressions:
        if isinstance(definition, exp.ColumnDef):
            kinds = {type(constraint.kind) for constraint in definition.args.get("constraints") or ()}
            if exp.PrimaryKeyColumnConstraint in kinds:
                key.append(definition.name)
            is_nullable = exp.NotNullColumnConstraint not in kinds
            columns.append(SuiteColumn(definition.name, _read_type(definition.args["kind"]), is_nullable))
        else:
            found = definition.find(exp.PrimaryKey)
            key += [part.name for part in found.expressions] if found is not None else []
    return _make_suite_table(schema.this.name, columns, key)


def _read_table(table: Mapping[str, Any]) -> SuiteTable:
    """Return a table of a schema in JSON."""
    columns, key = [], []
    given = table["columns"]
    types = table.get("types")
    if isinstance(given, dict):
        given = list(given.items())
    if types:
        given = list(zip(given, types, strict=True))
    for column in given:
        if isinstance(column, dict):
            name, kind, is_nullable = column["name"], column.get("type", "int"), column.get("nullable", True)
            if any(column.get(word) is True for word in _KEY):
                key.append(name)
        else:
            (name, kind), is_nullable = column, True
        columns.append(SuiteColumn(name, _read_type(exp.DataType.build(kind, dialect="postgres")), is_nullable))
    for word in _KEY:
        named = table.get(word)
        if named:
            first = named if isinstance(named, str) else named[0]
            key = [first] if isinstance(named, str) else list(first if isinstance(first, list) else named)
    return _make_suite_table(table["name"], columns, key)


def _make_suite_table(name: str, columns: Sequence[SuiteColumn], key: Sequence[str]) -> SuiteTable:
    keyed = tuple(
        SuiteColumn(column.name, column.type, column.is_nullable and column.name not in key) for column in columns
    )
    return SuiteTable(name, keyed, tuple(key))


def _read_type(kind: exp.DataType) -> str:
    """Return the type of a column; numbers with digits after the point are doubles, other types are text."""
    name = kind.this
    if name in (exp.DataType.Type.BIGINT, exp.DataType.Type.UBIGINT):
        return "bigint"
    if name in exp.DataType.INTEGER_TYPES:
        return "int"
    if name in exp.DataType.NUMERIC_TYPES:
        return "double"
    if name == exp.DataType.Type.BOOLEAN:
        return "boolean"
    return "date" if name == exp.DataType.Type.DATE else "string"
