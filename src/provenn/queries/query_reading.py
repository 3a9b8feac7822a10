"""Read a query as a tree: names are resolved, and nothing is executed.

The meaning is Spark's: names are compared without regard to case, and expressions of foreign dialects are written in
Spark's dialect, or refused.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from provenn.errors import QueryError
from provenn.queries.adql_dialect import ADQL
from provenn.queries.reading_context import MOST_NODES, QueryReading, QueryTable, Surroundings, Tables
from provenn.queries.reading_expressions import Names
from provenn.queries.reading_order import add_limit, find_limit, read_order
from provenn.queries.reading_selects import read_select
from provenn.queries.reading_tables import read_from
from provenn.queries.reading_text import parse_query
from provenn.queries.reading_types import check_columns
from provenn.queries.renumbering import count_nodes, measure_depth
from provenn.queries.scopes import Scope, Source
from provenn.queries.tree import Node, ProjectNode, SetOperationKind, SetOperationNode, refer_to

__all__ = ["QueryTable", "Tables", "read_query", "read_syntax_tree", "start_reading"]

_KINDS: dict[type[exp.Expr], SetOperationKind] = {
    exp.Union: "union",
    exp.Intersect: "intersect",
    exp.Except: "except",
}
_DEEPEST = 200


def read_query(text: str, tables: Tables, dialect: str = "spark") -> Node:
    """Return the tree of a query.

    Parameters
    ----------
    text
        One SELECT, or a set operation of several.
    tables
        The tables that it can read.
    dialect
        Its dialect, one of `DIALECTS`.

    Raises
    ------
    QueryError
        If the text is not one query, names what does not exist, or has no fixed meaning.
    """
    return read_syntax_tree(parse_query(text, dialect), text, tables, dialect)


def read_syntax_tree(tree: exp.Expr, text: str, tables: Tables, dialect: str) -> Node:
    """Return the tree of a parsed query, as `read_query` does.

    Parameters
    ----------
    tree
        The syntax tree of the query, which may be part of a statement.
    text, tables, dialect
        The whole text, and as for `read_query`.
    """
    reader = _Reader(text, tables, dialect)
    try:
        node = reader.read_query(tree, Surroundings())
    except RecursionError:
        raise QueryError("the query is nested too deeply", hint="give parts of it a name: WITH part AS (…)") from None
    if count_nodes(node) > MOST_NODES or measure_depth(node) > _DEEPEST:
        raise QueryError("the query is too large", hint="store parts of it as tables")
    return node


def start_reading(tables: Tables) -> QueryReading:
    """Return the state of a reader of parts of a query in Spark's dialect, such as single expressions."""
    return _Reader("", tables, "spark").reading


class _Reader:
    def __init__(self, text: str, tables: Tables, dialect: str) -> None:
        self.reading = QueryReading(text, tables, dialect, self.read_query)

    def read_query(self, tree: exp.Expr, surroundings: Surroundings) -> Node:
        """Read a query with the WITH clause."""
        surroundings = self.read_with(tree, surroundings)
        match tree:
            case exp.Select():
                return read_select(self.reading, tree, surroundings)
            case exp.Union() | exp.Intersect() | exp.Except():
                return self.read_set_operations(tree, surroundings)
            case exp.Subquery():
                node = self.read_query(tree.this, surroundings)
                return self.add_order(tree, node, surroundings)
            case exp.Values():
                star = exp.Select(expressions=[exp.Star()], from_=exp.From(this=tree.copy()))
                return read_from(self.reading, star, surroundings)[0]
            case exp.Table():
                return read_from(self.reading, exp.Select(from_=exp.From(this=tree.copy())), surroundings)[0]
        raise self.reading.make_error(tree, f"{tree.key.upper()} is not a query", "write a SELECT")

    def read_with(self, tree: exp.Expr, surroundings: Surroundings) -> Surroundings:
        """Read the queries of WITH; each query can use the earlier queries."""
        clause = tree.args.get("with_")
        if clause is None:
            return surroundings
        queries = dict(surroundings.queries)
        for query in clause.expressions:
            name = query.alias.lower()
            if clause.args.get("recursive") and any(
                table.name.lower() == name and not table.db for table in query.this.find_all(exp.Table)
            ):
                self.reading.refuse(query, f"{query.alias} is recursive", "compute it outside, and use it as a table")
            node = self.read_query(query.this, replace(surroundings, queries=queries))
            queries[name] = self.rename(query, node)
        return replace(surroundings, queries=queries)

    def rename(self, query: exp.Expr, node: Node) -> Node:
        """Return a query of WITH with the names of columns written after the name of the query."""
        new_names = query.args["alias"].args.get("columns") or []
        if not new_names:
            return node
        if len(new_names) != len(node.columns):
            self.reading.refuse(query, f"{len(new_names)} names are given to {len(node.columns)} columns")
        pairs = zip(node.columns, new_names, strict=True)
        return ProjectNode(
            node, tuple((self.reading.make_column(name.name), refer_to(column)) for column, name in pairs)
        )

    def read_set_operations(self, tree: exp.SetOperation, surroundings: Surroundings) -> Node:
        """Read a chain of set operations, the innermost first."""
        chain: list[exp.SetOperation] = []
        left: exp.Expr = tree
        while isinstance(left, exp.SetOperation) and (left is tree or not _has_modifiers(left)):
            chain.append(left)
            left = left.this
        node = self.read_query(left, surroundings)
        for operation in reversed(chain):
            node = self.combine(operation, node, self.read_query(operation.expression, surroundings))
        return self.add_order(tree, node, surroundings)

    def combine(self, operation: exp.SetOperation, left: Node, right: Node) -> Node:
        """Return a single set operation."""
        if operation.args.get("on") or operation.args.get("side") or operation.args.get("kind"):
            self.reading.refuse(operation, "this set operation is not supported", "list the columns")
        if operation.args.get("by_name"):
            left, right = self.align(operation, left, right)
        if len(left.columns) != len(right.columns):
            problem = f"{len(left.columns)} columns cannot be combined with {len(right.columns)}"
            self.reading.refuse(operation, problem, "select as many columns on both sides")
        if self.reading.dialect == ADQL:
            pairs = list(zip(left.columns, right.columns, strict=True))
            check_columns(self.reading, pairs, operation, type(operation).__name__.upper())
        columns = tuple(self.reading.make_column(column.name) for column in left.columns)
        for column, own, other in zip(columns, left.columns, right.columns, strict=True):
            if self.reading.get_type(own.symbol) == self.reading.get_type(other.symbol):
                self.reading.set_type(column, self.reading.get_type(own.symbol))
        return SetOperationNode(_KINDS[type(operation)], not operation.args.get("distinct"), left, right, columns)

    def align(self, operation: exp.SetOperation, left: Node, right: Node) -> tuple[Node, Node]:
        """Return both sides of BY NAME with the columns of both, NULL where a side lacks a column."""
        sides = [{column.name.lower(): column for column in side.columns} for side in (left, right)]
        if len(sides[0]) != len(left.columns) or len(sides[1]) != len(right.columns):
            self.reading.refuse(operation, "BY NAME needs different names", "rename columns")
        names = list(dict.fromkeys(column.name for side in sides for column in side.values()))
        names = list({name.lower(): name for name in reversed(names)}.values())[::-1]
        aligned = []
        for node, columns in zip((left, right), sides, strict=True):
            values = [(name, columns.get(name.lower())) for name in names]
            computed = tuple(
                (self.reading.make_column(name), exp.Null() if column is None else refer_to(column))
                for name, column in values
            )
            aligned.append(ProjectNode(node, computed))
        return aligned[0], aligned[1]

    def add_order(self, tree: exp.Expr, node: Node, surroundings: Surroundings) -> Node:
        """Add ORDER BY and LIMIT of a set operation or of a query in parentheses."""
        columns = node.columns
        scope = Scope((Source((), columns),), columns, surroundings.outer)
        names = Names(scope, surroundings.queries)
        order = tree.args.get("order")
        output_names = [column.name for column in columns]
        trees: list[exp.Expr] = [refer_to(column) for column in columns]
        keys = [] if order is None else read_order(self.reading, order, names, output_names, trees)
        number, offset = find_limit(self.reading, tree)
        return add_limit(node, keys, number, offset)


def _has_modifiers(tree: exp.SetOperation) -> bool:
    return any(tree.args.get(key) for key in ("order", "limit", "offset", "with_"))
