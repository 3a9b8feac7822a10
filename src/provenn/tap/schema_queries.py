"""Answers to queries of TAP_SCHEMA, by SQLite and without Spark."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, Final

import pyarrow as pa
from sqlglot import exp
from sqlglot.errors import SqlglotError

from provenn import deadline
from provenn.criteria.types import INT, STRING
from provenn.errors import QueryError, TapError, UnknownCatalogError, did_you_mean
from provenn.queries.adql_dialect import ADQL
from provenn.queries.reading_context import QueryTable
from provenn.queries.reading_text import parse_query
from provenn.tap.schema_functions import add_functions, rewrite_operators
from provenn.tap.schema_sets import check_set_operations, nest_set_operations
from provenn.tap.served_tables import ServedTable
from provenn.tap.tap_schema import TAP_SCHEMA, TAP_SCHEMA_TABLES, fill_database

__all__ = ["answer_schema_query", "is_schema_query", "parse_adql"]

_STEPS: Final = 100_000
"""SQLite asks after as many steps whether to go on."""

_MOST_STEPS: Final = 2_000
"""SQLite is stopped after as many questions, some seconds of work."""

_READS: Final = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
_UNSAFE: Final = frozenset({"load_extension", "readfile", "writefile", "edit", "zeroblob", "randomblob", "printf"})
_BY_NAME: Final = {table.name.rpartition(".")[2]: table for table in TAP_SCHEMA_TABLES}


def parse_adql(text: str) -> exp.Expr:
    """Return the syntax tree of a query in ADQL.

    Raises
    ------
    QueryError
        If it cannot be parsed.
    """
    return parse_query(text, ADQL)


def is_schema_query(tree: exp.Expr) -> bool:
    """Return whether a query reads tables of TAP_SCHEMA alone.

    Raises
    ------
    TapError
        If it also reads other tables.
    """
    with_names = {query.alias.lower() for query in tree.find_all(exp.CTE)}
    tables = [table for table in tree.find_all(exp.Table) if table.db or table.name.lower() not in with_names]
    of_schema = [table for table in tables if table.db.upper() == TAP_SCHEMA]
    if of_schema and len(of_schema) < len(tables):
        raise TapError(
            f"a query of {TAP_SCHEMA} cannot read other tables", hint="send a query for each, and join the answers"
        )
    return bool(of_schema)


def answer_schema_query(text: str, tree: exp.Expr, tables: Sequence[ServedTable], most: int | None) -> Any:  # noqa: ANN401 - a table of Arrow
    """Return the rows that a query of TAP_SCHEMA asks for, as a table of Arrow.

    Parameters
    ----------
    text, tree
        The query, and its syntax tree.
    tables
        The tables that the viewer sees.
    most
        The largest number of rows; None for all.

    Raises
    ------
    QueryError
        If the query names what does not exist, or cannot be answered.
    """
    from provenn.queries.query_reading import read_syntax_tree  # noqa: PLC0415 - most answers are not of TAP_SCHEMA

    check_set_operations(tree, text)
    read_syntax_tree(tree, text, _SchemaTables(), ADQL)  # SQLite takes an unknown name in double quotes for a text
    outputs = _find_output_columns(tree)
    connection = fill_database(tables)
    try:
        add_functions(connection)
        _confine(connection)
        cursor = connection.execute(_write_for_sqlite(tree))
        rows = cursor.fetchall() if most is None else cursor.fetchmany(most)
        names = [description[0] for description in cursor.description]
    except (sqlite3.Error, SqlglotError) as error:
        deadline.check()
        raise QueryError(f"this query of {TAP_SCHEMA} cannot be answered: {error}", text) from None
    finally:
        connection.close()
    return _make_table(names, rows, outputs)


class _SchemaTables:
    """The tables of TAP_SCHEMA, for the reader that checks the names and functions of a query."""

    def find_table(self, parts: tuple[str, ...]) -> QueryTable:
        """Return a table by its name."""
        table = _BY_NAME.get(parts[-1].lower())
        if table is None:
            hint = did_you_mean(parts[-1].lower(), _BY_NAME) or f"the tables are {', '.join(_BY_NAME)}"
            raise UnknownCatalogError(f"{TAP_SCHEMA} has no table {parts[-1]}", hint=hint)
        types = {column.name.strip('"'): INT if column.type.datatype == "int" else STRING for column in table.columns}
        return QueryTable(table.name, tuple(types), types=types)


def _write_for_sqlite(tree: exp.Expr) -> str:
    """Return a query of TAP_SCHEMA in the dialect of SQLite, where the tables have no schema."""
    changed = nest_set_operations(rewrite_operators(tree.copy()))
    for table in changed.find_all(exp.Table):
        if table.db:
            alias = table.alias or table.name
            table.set("db", None)
            table.set("this", exp.to_identifier(table.name.lower(), quoted=True))
            table.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
    for column in changed.find_all(exp.Column):
        if column.args.get("db") is not None:  # TAP_SCHEMA.tables.table_name
            column.set("db", None)
    return changed.sql(dialect="sqlite")


def _confine(connection: sqlite3.Connection) -> None:
    """Let a connection only read, within a limit of steps and within the deadline of the caller."""
    steps = 0

    def authorize(action: int, first: str | None, second: str | None, *_: object) -> int:
        del first
        if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in _UNSAFE:
            return sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK if action in _READS else sqlite3.SQLITE_DENY

    def stop() -> int:
        nonlocal steps
        steps += 1
        return int(steps > _MOST_STEPS or deadline.is_over())

    connection.set_authorizer(authorize)
    connection.set_progress_handler(stop, _STEPS)


def _find_output_columns(tree: exp.Expr) -> list[exp.Expr | None]:
    """Return the expressions of the columns of a query; None where a star hides them."""
    select = tree if isinstance(tree, exp.Select) else tree.find(exp.Select)
    expressions = [] if select is None else select.expressions
    if any(isinstance(expression, exp.Star) or expression.is_star for expression in expressions):
        return []
    return [expression.unalias() for expression in expressions]


def _make_table(names: Sequence[str], rows: Sequence[Sequence[Any]], outputs: Sequence[exp.Expr | None]) -> Any:  # noqa: ANN401 - as above
    """Return rows as a table of Arrow; a column of TAP_SCHEMA has its type, another the type of its values."""
    fields, arrays, taken = [], [], set[str]()
    for position, name in enumerate(names):
        values = [row[position] for row in rows]
        output = outputs[position] if len(outputs) == len(names) else exp.column(name)
        kind, description = _find_type(output, values)
        free = name
        while free.lower() in taken:
            free += "_2"
        taken.add(free.lower())
        fields.append(pa.field(free, kind, metadata={"description": description} if description else None))
        arrays.append(pa.array([_convert(value, kind) for value in values], kind))
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def _find_type(output: exp.Expr | None, values: Sequence[Any]) -> tuple[Any, str]:
    """Return the type and the description of a column of an answer."""
    if isinstance(output, exp.Column):
        for table in TAP_SCHEMA_TABLES:
            for column in table.columns:
                if column.name.strip('"') == output.name.lower():
                    return pa.int32() if column.type.datatype == "int" else pa.string(), column.description
    present = [value for value in values if value is not None]
    if isinstance(output, exp.Count) or (present and all(isinstance(value, int) for value in present)):
        return pa.int64(), ""
    return (pa.float64() if present and not any(isinstance(value, str) for value in present) else pa.string()), ""


def _convert(value: Any, kind: Any) -> Any:  # noqa: ANN401 - values of SQLite
    converters: dict[Any, Callable[[Any], Any]] = {pa.string(): str, pa.float64(): float}
    return value if value is None else converters.get(kind, int)(value)
