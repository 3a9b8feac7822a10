"""Read statements writing the rows of a query into a table, like CREATE TABLE AS SELECT; nothing is executed."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from provenn.errors import QueryError
from provenn.queries.query_reading import Tables, read_syntax_tree
from provenn.queries.reading_text import parse_statement
from provenn.queries.tree import Node

__all__ = ["WritingStatement", "read_statement"]

_CREATE = {"this", "kind", "expression", "replace", "exists", "properties"}
_INSERT = {"this", "expression", "overwrite"}
"""The parts of statements whose meaning is known; a statement with any other part is refused."""
_TARGET = {"this", "db", "catalog"}


@dataclass(frozen=True, slots=True)
class WritingStatement:
    """A statement writing the rows of a query.

    Parameters
    ----------
    query
        The query.
    target
        The name of the table that is written, part by part; empty if the text is a query alone.
    replaces_table
        Whether the table holds the rows of the query and no others after the statement.
    inserts
        Whether rows are inserted into a table that has columns already.
    """

    query: Node
    target: tuple[str, ...]
    replaces_table: bool
    inserts: bool


def read_statement(text: str, tables: Tables, dialect: str) -> WritingStatement:
    """Read a query, or a statement creating a table or view from a query, or inserting the rows of a query.

    Parameters
    ----------
    text, tables, dialect
        As for `read_query`.

    Raises
    ------
    QueryError
        If the text is another statement, or its query cannot be read.
    """
    tree = parse_statement(text, dialect)
    if isinstance(tree, exp.Query):
        return WritingStatement(read_syntax_tree(tree, text, tables, dialect), (), False, False)
    if not isinstance(tree, exp.Create | exp.Insert) or not isinstance(tree.expression, exp.Query):
        kind = str(tree.this) if isinstance(tree, exp.Command) else tree.key
        raise QueryError(f"{kind.upper()} writes no query", hint="only CREATE TABLE or VIEW AS, and INSERT … SELECT do")
    parts = {name for name, value in tree.args.items() if value}
    unknown = sorted(parts - (_CREATE if isinstance(tree, exp.Create) else _INSERT))
    target = tree.this
    if unknown or not isinstance(target, exp.Table) or not _is_plain(target):
        what = f": {unknown[0].strip('_').upper()}" if unknown else ""
        raise QueryError(f"{tree.key.upper()} writes only a part of a table, or in a way that is not understood{what}")
    query = read_syntax_tree(tree.expression, text, tables, dialect)
    if isinstance(tree, exp.Create):
        _check_creation(tree)
        replaces_table = not tree.args.get("exists")
    else:
        replaces_table = False  # INSERT OVERWRITE may replace partitions only: a setting of the session decides
    return WritingStatement(
        query, tuple(part.name for part in target.parts), replaces_table, isinstance(tree, exp.Insert)
    )


def _is_plain(target: exp.Table) -> bool:
    """Whether a table is given by name alone: no partition, no list of columns."""
    return {name for name, value in target.args.items() if value} <= _TARGET


def _check_creation(tree: exp.Create) -> None:
    """Refuse a creation of anything but a table or view, and a creation without rows."""
    kind = str(tree.args.get("kind") or "").upper()
    if kind not in ("TABLE", "VIEW"):
        raise QueryError(f"CREATE {kind} writes no query")
    properties = tree.args.get("properties")
    for part in properties.expressions if properties is not None else ():
        if isinstance(part, exp.WithDataProperty) and part.args.get("no"):
            raise QueryError("CREATE … WITH NO DATA writes no rows")
