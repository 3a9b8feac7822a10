"""Counts: ``SELECT COUNT(*)`` of the rows of a catalog that fulfil a condition, answered without Spark where known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from sqlglot import exp

from provenn.archive import Archive, Catalog
from provenn.archive.catalog_computing import plan_attributes
from provenn.archive.querying import ArchiveTables, translate_node
from provenn.catalogs import verbs
from provenn.queries.adql_dialect import ADQL
from provenn.tap.served_tables import SCHEMA

__all__ = ["CountedCatalog", "RowCount", "find_counted_catalog", "find_known_count"]


@dataclass(frozen=True, slots=True)
class RowCount:
    """The answer to a query that counts: the name of its column, the number, and the declared facts behind it."""

    name: str
    number: int
    rests_on: tuple[str, ...] = ()

    def make_table(self) -> Any:  # noqa: ANN401 - a table of Arrow
        """Return the answer as a table of Arrow."""
        return pa.table({self.name: pa.array([self.number], pa.int64())})


@dataclass(frozen=True, slots=True)
class CountedCatalog:
    """The catalog whose sources a query counts, and the name of the column of the answer."""

    name: str
    catalog: Catalog

    def count(self) -> RowCount:
        """Return the count; the sources are counted only if their number is unknown."""
        return RowCount(self.name, self.catalog.count())


def find_known_count(archive: Archive, text: str, tree: exp.Expr) -> RowCount | None:
    """Return the answer to a query that counts, if these rows were counted before; otherwise None.

    Parameters
    ----------
    archive
        The archive, as the viewer sees it.
    text, tree
        The query, and its syntax tree.
    """
    counted = find_counted_catalog(archive, text, tree)
    if counted is None:
        return None
    from provenn.targets.sinks import CountSink  # noqa: PLC0415 - most answers are no counts

    context, definition = archive.context, counted.catalog.definition
    keys = verbs.keep(definition, ())
    plan = context.read(plan_attributes, context.database, keys, "the query", "never")
    # What follows from other counts and facts is left to a run: it takes time, and the answer says what it rests on.
    number = CountSink().find_recorded_count(context.workshop, plan)
    return None if number is None else RowCount(counted.name, number)


def find_counted_catalog(archive: Archive, text: str, tree: exp.Expr) -> CountedCatalog | None:
    """Return what a query counts; None unless it is ``SELECT COUNT(*)`` of a table and a condition alone."""
    name = _read_count_name(tree)
    if name is None:
        return None
    from provenn.queries.query_reading import read_syntax_tree  # noqa: PLC0415 - see above

    rows = tree.copy()
    rows.set("expressions", [exp.Star()])
    rows.set("limit", None)
    context = archive.context
    with context.database.reading() as reading:
        tables = ArchiveTables(reading, {}, frozenset({SCHEMA}))
        node = read_syntax_tree(rows, text, tables, ADQL)
        translation = translate_node(context, reading, node, tables.used)
    return CountedCatalog(name, Catalog(archive, translation.catalog))


def _read_count_name(tree: exp.Expr) -> str | None:
    """Return the name of the column of a query that only counts rows; None for any other query."""
    if not isinstance(tree, exp.Select) or len(tree.expressions) != 1:
        return None
    clauses = {key for key, value in tree.args.items() if value} - {"expressions", "from_", "where", "limit", "kind"}
    output = tree.expressions[0]
    count = output.unalias()
    is_plain = isinstance(count, exp.Count) and isinstance(count.this, exp.Star) and not count.expressions
    source = tree.args.get("from_")
    if clauses or not is_plain or source is None or not isinstance(source.this, exp.Table):
        return None
    if tree.find(exp.Subquery) is not None or tree.find(exp.Exists) is not None:
        return None
    limit = tree.args.get("limit")
    if limit is not None and limit.expression is not None and limit.expression.name in ("", "0"):
        return None
    return output.alias or "count_all"
