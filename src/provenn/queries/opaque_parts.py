"""Parts of queries that no catalog class expresses: opaque selections and queries, kept as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp, parse_one

from provenn.catalogs import Catalog, verbs
from provenn.catalogs.population import Population
from provenn.errors import ProvennError
from provenn.files.type_names import parse_spark_type
from provenn.queries.query_writing import write_sql
from provenn.queries.relation import InexpressibleError, RowSource, choose_free_name, symbols_in
from provenn.queries.sky_expressions import write_for_spark
from provenn.queries.subqueries import SubqueryCall, find_outer_symbols, read_call
from provenn.queries.translating import Translating
from provenn.queries.tree import (
    EXISTS,
    IN,
    Column,
    JoinNode,
    LimitNode,
    Node,
    ProjectNode,
    ScanNode,
    SortNode,
    WindowNode,
    refer_to,
    walk_tree,
)
from provenn.queries.understood_inputs import read_understood

__all__ = ["make_opaque", "select_opaquely"]


def make_opaque(node: Node, part: str, reason: str, context: Translating) -> RowSource:
    """Return the rows of a node as the rows of an opaque query.

    Raises
    ------
    InexpressibleError
        If the node names columns of an enclosing query.
    """
    if find_outer_symbols(node):
        raise InexpressibleError(reason)
    readable, tables = read_understood(node, context)
    inputs, table_names = _list_inputs([readable], tables)
    if not inputs:
        raise InexpressibleError("it reads no catalog")
    context.remark(part, reason)
    names: list[str] = []
    for column in node.columns:
        names.append(choose_free_name(column.name, (*names, "row", "copy")))
    last = max(column.number for below in walk_tree(node) for column in below.columns)
    outputs = [Column(last + position, name) for position, name in enumerate(names, 1)]
    computed = tuple((output, refer_to(column)) for output, column in zip(outputs, node.columns, strict=True))
    text = write_sql(ProjectNode(readable, computed), table_names)
    columns = [(name, parse_spark_type(kind), nullable) for name, kind, nullable in context.find_types(text, inputs)]
    key, population = _find_key(node, dict(zip(node.columns, names, strict=True)), context)
    catalog = verbs.query_opaque(inputs, text, columns, key=key, population=population, reason=reason)
    return RowSource.of(catalog, node.columns, names)


def _list_inputs(nodes: Sequence[Node], context: Translating) -> tuple[list[Catalog], dict[str, str]]:
    """Return the catalogs of the tables below some nodes, and the names of these tables in an opaque text."""
    tables = dict.fromkeys(scan.table for node in nodes for scan in walk_tree(node) if isinstance(scan, ScanNode))
    names = {table: f"input_{position}" for position, table in enumerate(tables, 1)}
    return [context.catalogs[table] for table in tables], names


def _find_key(
    node: Node, names: Mapping[Column, str], context: Translating
) -> tuple[list[str] | None, Population | None]:
    """Return the identifying columns of a node's rows, and the population if rows are its sources; None if unknown.

    Sound: window functions, orders and limits give no row twice; a row of an inner join is known by the two joined
    rows.
    """
    if isinstance(node, WindowNode | SortNode | LimitNode):
        below = _translate_quietly(node.input, context)
        symbols = None if below is None else below.find_key_columns()
        if below is None or symbols is None:
            return None, None
        by_symbol = {column.symbol: name for column, name in names.items()}
        return [by_symbol[symbol] for symbol in symbols], below.catalog.population
    if isinstance(node, JoinNode) and node.kind in ("inner", "cross"):
        sides = [_translate_quietly(side, context) for side in node.inputs]
        keys = [None if side is None else side.find_key_columns() for side in sides]
        if None in keys:
            return None, None
        by_symbol = {column.symbol: name for column, name in names.items()}
        return [by_symbol[symbol] for key in keys for symbol in key or ()], None
    return None, None


def _translate_quietly(node: Node, context: Translating) -> RowSource | None:
    """Return the relation of a node, if any, without remarks."""
    try:
        return replace(context, remarks=[]).translate(node)
    except (InexpressibleError, ProvennError):
        return None


def select_opaquely(
    rows: RowSource, condition: exp.Expr, subqueries: Sequence[Node], reason: str, context: Translating
) -> RowSource:
    """Return the rows where a condition is TRUE that criteria cannot express.

    Raises
    ------
    InexpressibleError
        If the condition names columns that are no expressions over attributes.
    """
    calls = [call for call in (read_call(node, subqueries) for node in condition.walk()) if call is not None]
    inputs, table_names = _list_inputs([call.subquery for call in calls], context)
    outer = {symbol for call in calls for symbol in find_outer_symbols(call.subquery)}
    written = write_for_spark(rows.substitute(condition)).transform(_qualify)
    if symbols_in(written) or outer - rows.values.keys():
        raise InexpressibleError(reason)

    def write_call(node: exp.Expr) -> exp.Expr:
        call = read_call(node, subqueries)
        return node if call is None else _write_subquery(call, rows, table_names)

    text = written.transform(write_call).sql(dialect="spark")
    context.remark("WHERE", reason)
    return replace(rows, catalog=verbs.select_opaque(rows.catalog, text, inputs, reason=reason))


def _write_subquery(call: SubqueryCall, rows: RowSource, table_names: Mapping[str, str]) -> exp.Expr:
    """Return a call of a subquery in SQL; columns of the enclosing query are attributes of the parent."""
    outer = find_outer_symbols(call.subquery)

    def replace_outer(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and not node.table and node.name in outer:
            return exp.paren(rows.values[node.name].copy().transform(_qualify), copy=False)
        return node

    query = parse_one(write_sql(call.subquery, table_names), dialect="spark").transform(replace_outer)
    if call.kind == EXISTS:
        return exp.Exists(this=query)
    if call.kind == IN:
        value = call.values[0] if len(call.values) == 1 else exp.Tuple(expressions=list(call.values))
        return exp.In(this=value.copy(), query=exp.Subquery(this=query))
    return exp.Subquery(this=query)


def _qualify(node: exp.Expr) -> exp.Expr:
    """Return an attribute of the parent with the name of the parent in front."""
    if isinstance(node, exp.Column) and not node.table and node.this.args.get("quoted"):
        return exp.column(node.this.copy(), table="parent")
    return node
