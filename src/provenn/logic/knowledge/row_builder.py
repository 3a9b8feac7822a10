"""Build the sets of a lineage in a graph: those that a question needs, or all of them."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Final

import numpy as np

from provenn import deadline
from provenn.logic.knowledge.graph import EVERYTHING, SetGraph
from provenn.logic.knowledge.lineage import Lineage, Operation

__all__ = ["RowBuilder"]

# Looking up members of an enumeration is slow.
_BASE, _SUBSET, _EQUAL, _INTERSECTION, _UNION, _DIFFERENCE = map(int, Operation)
_NOT_BUILT: Final = -1
_BETWEEN_CHECKS: Final = 10_000


class RowBuilder:
    """The literals of the rows of a lineage, as far as they are built; four bytes a row.

    Parameters
    ----------
    lineage
        The lineage.
    graph
        The graph that the sets are built in.
    """

    __slots__ = ("_graph", "_left", "_operations", "_right", "labels", "literals")

    def __init__(self, lineage: Lineage, graph: SetGraph) -> None:
        self._graph = graph
        self.labels = lineage.labels
        # The items of a memoryview are plain integers, and faster than those of an array.
        self._operations = lineage.operations.data
        self._left, self._right = lineage.left.data, lineage.right.data
        self.literals = array("i", [_NOT_BUILT]) * len(lineage.labels)

    def build(self, row: int) -> int:
        """Return the literal of a row, after building the sets that it is made of."""
        literals, operations, lefts, rights = self.literals, self._operations, self._left, self._right
        if literals[row] != _NOT_BUILT:
            return literals[row]
        cone = [row]
        visited = {row}
        for member in cone:  # the list grows
            operation = operations[member]
            if operation != _BASE:
                operand = lefts[member]
                if literals[operand] == _NOT_BUILT and operand not in visited:
                    visited.add(operand)
                    cone.append(operand)
                if operation >= _INTERSECTION:
                    operand = rights[member]
                    if literals[operand] == _NOT_BUILT and operand not in visited:
                        visited.add(operand)
                        cone.append(operand)
        if len(cone) > 1:
            cone.sort()  # so that operands come first
        self._build_rows(cone)
        return literals[row]

    def _build_rows(self, rows: Iterable[int]) -> None:
        """Build rows whose operands are built, or come earlier."""
        literals, operations, lefts, rights = self.literals, self._operations, self._left, self._right
        meet, part = self._graph.meet, self._graph.part
        for row in rows:
            operation = operations[row]
            if operation == _SUBSET:
                literals[row] = part(literals[lefts[row]])
            elif operation == _EQUAL:
                literals[row] = literals[lefts[row]]
            elif operation == _INTERSECTION:
                literals[row] = meet(literals[lefts[row]], literals[rights[row]])
            elif operation == _UNION:
                literals[row] = meet(literals[lefts[row]] ^ 1, literals[rights[row]] ^ 1) ^ 1
            elif operation == _DIFFERENCE:
                literals[row] = meet(literals[lefts[row]], literals[rights[row]] ^ 1)
            else:
                literals[row] = part(EVERYTHING)

    def build_all(self) -> None:
        """Build all rows."""
        rows = np.flatnonzero(np.frombuffer(self.literals, np.int32) == _NOT_BUILT)
        for start in range(0, len(rows), _BETWEEN_CHECKS):
            deadline.check()
            self._build_rows(rows[start : start + _BETWEEN_CHECKS].tolist())

    def cut_back(self, nodes: int) -> None:
        """Forget the literals of nodes that the graph no longer has: those from a number on."""
        literals = np.frombuffer(self.literals, np.int32)
        literals[literals >= 2 * nodes] = _NOT_BUILT
