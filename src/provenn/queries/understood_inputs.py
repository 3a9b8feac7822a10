"""The rows below an opaque part: where they are understood, the opaque part reads them as a catalog.

So a count of the sources in a region is a count of a catalog, and what is stored or proved of that catalog serves it.
"""

from __future__ import annotations

from dataclasses import replace

from provenn.catalogs import Catalog
from provenn.errors import ProvennError
from provenn.queries.relation import InexpressibleError, symbols_in
from provenn.queries.translating import Translating
from provenn.queries.tree import AggregateNode, Column, DistinctNode, Node, ScanNode, SetOperationNode, refer_to

__all__ = ["read_understood"]

_TABLE = "\x1funderstood {}"
"""The names of the tables of understood rows: no catalog has such a name."""


def read_understood(node: Node, context: Translating) -> tuple[Node, Translating]:
    """Return a node that reads its understood inputs as tables, and the context in which these tables are catalogs.

    Any other node, and a node with an input that is not understood, stays as it is.
    """
    try:
        match node:
            case AggregateNode() | DistinctNode():
                scan, catalog = _read_input(node.input, _list_needed(node), 1, context)
                return replace(node, input=scan), _add_tables(context, catalog)
            case SetOperationNode():
                left, first = _read_input(node.left, _list_symbols(node.left), 1, context)
                right, second = _read_input(node.right, _list_symbols(node.right), 2, context)
                return replace(node, left=left, right=right), _add_tables(context, first, second)
    except (InexpressibleError, ProvennError):
        pass
    return node, context


def _read_input(node: Node, needed: set[str], number: int, context: Translating) -> tuple[ScanNode, Catalog]:
    """Return the needed columns of an input as a scan, and the catalog of its rows."""
    rows = context.translate(node)
    columns = [column for column in node.columns if column.symbol in needed]
    rows, attributes = rows.expose([rows.resolve(refer_to(column)) for column in columns])
    pairs = zip(columns, attributes, strict=True)
    named = tuple(Column(column.number, attribute.name) for column, attribute in pairs)
    return ScanNode(_TABLE.format(number), named), rows.catalog


def _add_tables(context: Translating, *catalogs: Catalog) -> Translating:
    tables = {_TABLE.format(number): catalog for number, catalog in enumerate(catalogs, 1)}
    return replace(context, catalogs={**context.catalogs, **tables})


def _list_symbols(node: Node) -> set[str]:
    return {column.symbol for column in node.columns}


def _list_needed(node: AggregateNode | DistinctNode) -> set[str]:
    """Return the symbols of the columns of its input that a node reads, at least one for a node with keys."""
    if isinstance(node, DistinctNode):
        return _list_symbols(node.input)
    needed = {symbol for _, tree in (*node.keys, *node.values) for symbol in symbols_in(tree)}
    if node.keys and not needed & _list_symbols(node.input):
        needed |= {column.symbol for column in node.input.columns[:1]}
    return needed
