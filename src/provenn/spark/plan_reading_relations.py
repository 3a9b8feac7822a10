"""What all readers of plans share: the columns of nodes, and how expressions and subqueries are read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from provenn.queries.tree import Column, ColumnNumbers, Node
from provenn.spark.plan_reading_expressions import ExpressionWriter
from provenn.spark.plan_reading_json import JsonNode
from provenn.spark.plan_reading_leaves import Leaves, SparkRelation

__all__ = ["PlanRelation", "Reader"]


@dataclass(frozen=True, slots=True)
class PlanRelation:
    """A node of the tree, and Spark's number of each of its columns.

    Parameters
    ----------
    node
        The node.
    ids
        Spark's number of each column of the node, in order.
    """

    node: Node
    ids: tuple[int, ...]

    @property
    def columns(self) -> dict[int, str]:
        """The SQL of each column, by Spark's number."""
        pairs = zip(self.ids, self.node.columns, strict=True)
        return {number: column.symbol for number, column in reversed(list(pairs))}


@dataclass(slots=True)
class Reader(ABC):
    """Reads plans, with one sequence of column numbers.

    Parameters
    ----------
    leaves
        The tables that leaves are.
    session
        The session of Spark.
    numbers
        Makes columns.
    definitions
        The CTEs by Spark's number.
    outer
        The columns of enclosing queries.
    node_count
        How many parts of plans were read so far.
    relations
        The leaves that were read, and what Spark said about them, by the identity of their node, which is free for
        another node once the node is gone. Each question takes many calls to Java.
    """

    leaves: Leaves
    session: Any
    numbers: ColumnNumbers = field(default_factory=ColumnNumbers)
    definitions: dict[int, JsonNode] = field(default_factory=dict)
    outer: Mapping[int, str] = field(default_factory=dict)
    node_count: int = 0
    relations: dict[int, tuple[JsonNode, SparkRelation]] = field(default_factory=dict)

    @abstractmethod
    def read(self, plan: JsonNode) -> PlanRelation:
        """Return a plan as a node of the tree."""

    def read_child(self, plan: JsonNode) -> PlanRelation:
        """Return the only child of a plan."""
        (child,) = plan.children
        return self.read(child)

    def read_subquery(self, plan: JsonNode, outer: Mapping[int, str]) -> Node:
        """Return a subquery that may name columns of the enclosing queries."""
        enclosing, self.outer = self.outer, outer
        try:
            return self.read(plan).node
        finally:
            self.outer = enclosing

    def make_writer(self, *inputs: PlanRelation) -> ExpressionWriter:
        """Return a writer of expressions over the columns of some nodes."""
        columns: dict[int, str] = {}
        for relation in inputs:
            columns = {**relation.columns, **columns}
        return ExpressionWriter(columns, self.outer, self.read_subquery)

    def make_columns(self, names: Sequence[str]) -> tuple[Column, ...]:
        """Return new columns."""
        return tuple(self.numbers.make_column(name) for name in names)
