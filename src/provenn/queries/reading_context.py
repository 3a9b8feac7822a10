"""The shared state of all parts of the reader: text, tables, numbers of columns, and subqueries read so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NoReturn, Protocol

from sqlglot import exp

from provenn.criteria.syntax import find_position
from provenn.criteria.types import Type
from provenn.errors import QueryError
from provenn.queries.renumbering import copy_tree, count_nodes
from provenn.queries.scopes import Scope
from provenn.queries.tree import EXISTS, IN, SCALAR, Column, ColumnNumbers, Node

__all__ = [
    "MOST_NODES",
    "QueryReader",
    "QueryReading",
    "QueryTable",
    "Surroundings",
    "Tables",
    "has_subquery",
    "is_subquery_call",
]

_CALLS = (EXISTS, IN, SCALAR)
MOST_NODES = 20_000
"""The maximum number of nodes of a query."""


@dataclass(frozen=True, slots=True)
class QueryTable:
    """A table readable by a query.

    Parameters
    ----------
    name
        The name by which the caller knows it; that of its scan.
    columns
        The names of its columns, in order.
    units
        The units of its columns that are known, by name.
    types
        The types of its columns that are known, by name.
    """

    name: str
    columns: tuple[str, ...]
    units: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, Type] = field(default_factory=dict)


class Tables(Protocol):
    """The tables readable by a query."""

    def find_table(self, parts: tuple[str, ...]) -> QueryTable:
        """Return the table with a name, as written in the query, part by part; raise an error with suggested names."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What encloses a query.

    Parameters
    ----------
    queries
        The queries of WITH, by name in lower case; each may be used once as it is, and must be copied then.
    outer
        The scope of the enclosing query.
    """

    queries: Mapping[str, Node] = field(default_factory=dict)
    outer: Scope | None = None


class QueryReader(Protocol):
    """Reads a query inside of another."""

    def __call__(self, tree: exp.Expr, surroundings: Surroundings) -> Node:
        """Return the tree of a query."""


class QueryReading:
    """The state of a single call of the reader."""

    def __init__(self, text: str, tables: Tables, dialect: str, read_nested: QueryReader) -> None:
        self.text = text
        self.tables = tables
        self.dialect = dialect
        self.read_nested = read_nested
        self._numbers = ColumnNumbers()
        self._subqueries: list[Node] = []
        self._copied_nodes = 0
        self._units: dict[str, str] = {}
        self._types: dict[str, Type] = {}
        self._used: dict[int, Node] = {}  # with the nodes, so that no other node gets their ids

    @property
    def is_spark(self) -> bool:
        """Whether the text is in Spark's dialect."""
        return self.dialect in ("spark", "databricks")

    def make_error(self, tree: exp.Expr, problem: str, hint: str = "") -> QueryError:
        """Return an error pointing to a tree in the text."""
        return QueryError(problem, self.text, find_position(tree), hint=hint)

    def refuse(self, tree: exp.Expr, problem: str, hint: str = "") -> NoReturn:
        """Raise an error pointing to a tree in the text."""
        raise self.make_error(tree, problem, hint) from None

    def make_column(self, name: str) -> Column:
        """Return a new column."""
        return self._numbers.make_column(name)

    def set_unit(self, column: Column, unit: str) -> None:
        """Note the unit of a column."""
        self._units[column.symbol] = unit

    def get_unit(self, symbol: str) -> str:
        """Return the unit of a column by its symbol; empty if it is not known."""
        return self._units.get(symbol, "")

    def set_type(self, column: Column, kind: Type | None) -> None:
        """Note the type of a column, if it is known."""
        if kind is not None:
            self._types[column.symbol] = kind

    def get_type(self, symbol: str) -> Type | None:
        """Return the type of a column by its symbol; None if it is not known."""
        return self._types.get(symbol)

    def name_columns(self, text: str) -> str:
        """Return a text for people, with the names of columns in place of their symbols."""
        return self._numbers.name_columns(text)

    def describe(self, expression: exp.Expr) -> str:
        """Return an expression as text for people."""
        return self._numbers.describe(expression)

    def copy_query(self, node: Node) -> Node:
        """Return a query with new numbers for the columns; the query itself at the first use."""
        if id(node) not in self._used:
            self._used[id(node)] = node
            return node
        self._copied_nodes += count_nodes(node)
        if self._copied_nodes > MOST_NODES:
            raise QueryError("the query is too large with all uses of WITH", hint="store parts of it as tables")
        copied = copy_tree(node, self._numbers)
        for column, original in zip(copied.columns, node.columns, strict=True):
            self.set_unit(column, self.get_unit(original.symbol))
            self.set_type(column, self.get_type(original.symbol))
        return copied

    def import_query(self, node: Node) -> Node:
        """Return a query of another reading, with numbers of this reading for its columns."""
        return copy_tree(node, self._numbers)

    def hold_subquery(self, node: Node) -> int:
        """Keep a subquery until the node of the subquery is built, and return the number of the subquery."""
        self._subqueries.append(node)
        return len(self._subqueries) - 1

    def get_subquery(self, call: exp.Expr) -> Node:
        """Return the subquery of a call."""
        return self._subqueries[int(call.expressions[0].name)]

    def attach(self, trees: Iterable[exp.Expr]) -> tuple[list[exp.Expr], tuple[Node, ...]]:
        """Return expressions of a node with the positions of their subqueries, and these subqueries."""
        attached: list[exp.Expr] = []
        nodes: list[Node] = []
        for tree in trees:
            if not has_subquery(tree):
                attached.append(tree)
                continue
            copied = tree.copy()
            for call in list(copied.find_all(exp.Anonymous)):
                if is_subquery_call(call):
                    nodes.append(self.copy_query(self.get_subquery(call)))
                    call.expressions[0].replace(exp.Literal.number(len(nodes) - 1))
            attached.append(copied)
        return attached, tuple(nodes)


def is_subquery_call(tree: exp.Expr) -> bool:
    """Tell whether a tree is a call of a subquery."""
    return isinstance(tree, exp.Anonymous) and tree.this in _CALLS


def has_subquery(tree: exp.Expr) -> bool:
    """Tell whether an expression has a subquery."""
    return any(is_subquery_call(call) for call in tree.find_all(exp.Anonymous))
