"""A relational query as a tree, independent of the original language.

A node is a bag of rows. Each column of a node has a number unique in the query, so an expression needs no scopes: an
expression names a column by ``exp.column("c12")``. Expressions are expressions of sqlglot in Spark's dialect. A
subquery in an expression is a call of `EXISTS`, `IN` or `SCALAR` with the position of the subquery in `subqueries` of
the node; the nodes of the subquery may name columns of the enclosing query.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Final, Literal

from sqlglot import exp

__all__ = [
    "EXISTS",
    "IN",
    "SCALAR",
    "AggregateNode",
    "Column",
    "ColumnNumbers",
    "Computed",
    "DistinctNode",
    "ExplodeNode",
    "FilterNode",
    "JoinKind",
    "JoinNode",
    "LimitNode",
    "Node",
    "NodeOrder",
    "ProjectNode",
    "ScanNode",
    "SetOperationKind",
    "SetOperationNode",
    "SortNode",
    "UnreadNode",
    "ValuesNode",
    "WindowNode",
    "make_subquery_call",
    "refer_to",
    "walk_tree",
]

EXISTS: Final = "EXISTS_SUBQUERY"
"""``EXISTS_SUBQUERY(n)``: whether subquery n has a row."""
IN: Final = "IN_SUBQUERY"
"""``IN_SUBQUERY(n, x, y)``: whether the values are a row of subquery n, as SQL's IN with its NULLs."""
SCALAR: Final = "SCALAR_SUBQUERY"
"""``SCALAR_SUBQUERY(n)``: the only value of subquery n, NULL if it has no row."""

JoinKind = Literal["inner", "left", "right", "full", "semi", "anti", "cross"]
SetOperationKind = Literal["union", "intersect", "except"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a node.

    Parameters
    ----------
    number
        The number that identifies the column in the query.
    name
        The name in the query, for people and for the result.
    """

    number: int
    name: str

    @property
    def symbol(self) -> str:
        """The name of the column in expressions."""
        return f"c{self.number}"


_SYMBOL = re.compile(r"\bc[0-9]+\b")


class ColumnNumbers:
    """Makes columns, each with a new number."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._names: dict[str, str] = {}

    def make_column(self, name: str) -> Column:
        """Return a new column."""
        column = Column(next(self._numbers), name)
        self._names[column.symbol] = name
        return column

    def name_columns(self, text: str) -> str:
        """Return a text for people, with the names of columns in place of their symbols."""
        return _SYMBOL.sub(lambda match: self._names.get(match[0], match[0]), text)

    def describe(self, expression: exp.Expr) -> str:
        """Return an expression as text for people, with the names of columns."""

        def name_column(node: exp.Expr) -> exp.Expr:
            if isinstance(node, exp.Column) and node.name in self._names:
                return exp.column(self._names[node.name])
            return node

        return expression.copy().transform(name_column).sql("spark").replace("`", "")


def refer_to(column: Column) -> exp.Column:
    """Return the expression for the value of a column."""
    return exp.column(column.symbol)


def make_subquery_call(kind: str, position: int, *values: exp.Expr) -> exp.Anonymous:
    """Return a call of `EXISTS`, `IN` or `SCALAR` for the subquery at a position."""
    return exp.Anonymous(this=kind, expressions=[exp.Literal.number(position), *values])


@dataclass(frozen=True, slots=True)
class Node:
    """A bag of rows."""

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The input nodes of the rows, without subqueries in expressions."""
        return ()

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns, in order."""
        (only,) = self.inputs
        return only.columns


Computed = tuple[Column, exp.Expr]
"""A new column, and the expression of its values."""


@dataclass(frozen=True, slots=True)
class ScanNode(Node):
    """The rows of a table.

    Parameters
    ----------
    table
        The table, as the caller of the reader names it.
    table_columns
        All columns of the table; their names are those of the table.
    """

    table: str
    table_columns: tuple[Column, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns of the table."""
        return self.table_columns


@dataclass(frozen=True, slots=True)
class ValuesNode(Node):
    """Rows of constants; a SELECT without FROM is a single row without columns below a `ProjectNode`."""

    rows: tuple[tuple[exp.Expr, ...], ...]
    value_columns: tuple[Column, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the constants."""
        return self.value_columns


@dataclass(frozen=True, slots=True)
class _Unary(Node):
    """A node with a single input."""

    input: Node

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The input node, alone."""
        return (self.input,)


@dataclass(frozen=True, slots=True)
class ProjectNode(_Unary):
    """A row for each row of the input, with these columns alone."""

    computed: tuple[Computed, ...]
    subqueries: tuple[Node, ...] = ()

    @property
    def columns(self) -> tuple[Column, ...]:
        """The computed columns."""
        return tuple(column for column, _ in self.computed)


@dataclass(frozen=True, slots=True)
class FilterNode(_Unary):
    """The rows where a condition is TRUE: WHERE, HAVING, QUALIFY."""

    condition: exp.Expr
    subqueries: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class JoinNode(Node):
    """Pairs of rows where a condition is TRUE; outer joins add rows without a partner, with NULL.

    "semi" and "anti" are rows of `left` with, or without, a partner, each once. For a row of an "anti" join, the
    condition is TRUE with no row of `right`: NOT EXISTS, not NOT IN.
    """

    left: Node
    right: Node
    kind: JoinKind
    condition: exp.Expr | None
    subqueries: tuple[Node, ...] = ()

    @property
    def inputs(self) -> tuple[Node, ...]:
        """Both sides."""
        return self.left, self.right

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of both sides; for semi and anti joins, the columns of `left`."""
        return self.left.columns if self.kind in ("semi", "anti") else (*self.left.columns, *self.right.columns)


@dataclass(frozen=True, slots=True)
class AggregateNode(_Unary):
    """A row for each group of rows with equal keys, NULL being a value; without keys, a single row for all rows.

    The expressions of `values` hold aggregate functions of columns of the input; outside of these functions the
    expressions name columns of `keys` only.
    """

    keys: tuple[Computed, ...]
    values: tuple[Computed, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        """The keys, then the values."""
        return tuple(column for column, _ in (*self.keys, *self.values))


@dataclass(frozen=True, slots=True)
class DistinctNode(_Unary):
    """The different rows of the input, each once."""


@dataclass(frozen=True, slots=True)
class SetOperationNode(Node):
    """UNION, INTERSECT or EXCEPT of two nodes with as many columns, compared by position; `is_all` keeps duplicates."""

    kind: SetOperationKind
    is_all: bool
    left: Node
    right: Node
    result_columns: tuple[Column, ...]

    @property
    def inputs(self) -> tuple[Node, ...]:
        """Both sides."""
        return self.left, self.right

    @property
    def columns(self) -> tuple[Column, ...]:
        """New columns, each for a pair of columns."""
        return self.result_columns


@dataclass(frozen=True, slots=True)
class WindowNode(_Unary):
    """The rows of the input with values of window functions; an expression is an `exp.Window`."""

    computed: tuple[Computed, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the input, then the computed ones."""
        return (*self.input.columns, *(column for column, _ in self.computed))


@dataclass(frozen=True, slots=True)
class ExplodeNode(_Unary):
    """A row for each element of an array (LATERAL VIEW, UNNEST), with the columns of the array's row.

    Parameters
    ----------
    array
        The array.
    element
        The column of the elements.
    position
        The column of the positions, from 0, if the query has it.
    is_outer
        Whether a row without elements stays, with NULL.
    """

    array: exp.Expr
    element: Column
    position: Column | None = None
    is_outer: bool = False

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the input, the position, the element."""
        position = () if self.position is None else (self.position,)
        return (*self.input.columns, *position, self.element)


@dataclass(frozen=True, slots=True)
class NodeOrder:
    """An expression to sort by."""

    expression: exp.Expr
    is_descending: bool = False
    nulls_first: bool = True


@dataclass(frozen=True, slots=True)
class SortNode(_Unary):
    """The rows in an order."""

    keys: tuple[NodeOrder, ...]


@dataclass(frozen=True, slots=True)
class LimitNode(_Unary):
    """The first rows; None is no limit."""

    number: int | None
    offset: int = 0


@dataclass(frozen=True, slots=True)
class UnreadNode(Node):
    """A part of a query that no other node expresses, as text.

    Parameters
    ----------
    text
        A SELECT in Spark's dialect. It names the columns of the result as `result_columns` do, in their order, and the
        input n as the table ``input_n``, with the column names of that input.
    scans
        The tables that it reads.
    result_columns
        The columns of the result.
    reason
        Which part was not understood, and why: "GROUPING SETS are not supported".
    """

    text: str
    scans: tuple[ScanNode, ...]
    result_columns: tuple[Column, ...]
    reason: str = field(compare=False)

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The tables."""
        return self.scans

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the result."""
        return self.result_columns


def walk_tree(node: Node) -> Iterator[Node]:
    """Return a node and all nodes below, nodes of subqueries included."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(current.inputs)
        pending.extend(getattr(current, "subqueries", ()))
