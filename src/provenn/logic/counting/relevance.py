"""Order known counts by how much they may say about a question. The order affects speed and effort, never soundness.

The simulated objects of the reasoner show quickly which sets may contain the question, lie in it, or avoid it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Final

from provenn.logic.counting.programme import Row
from provenn.logic.knowledge.graph import EVERYTHING, PART, SetGraph
from provenn.logic.knowledge.reasoner import Reasoner

__all__ = ["order_rows"]

_MOST_OF_A_KIND: Final = 6


def order_rows(reasoner: Reasoner, question: int, rows: Sequence[Row]) -> list[Row]:
    """Return the rows, the most relevant first.

    First come the operands of the question. Then come the smallest sets that may contain the question, the largest sets
    that may lie in it, and the largest sets that may be the rest of the smallest superset. All other rows follow, by
    their distance in the graph.
    """
    graph = reasoner.graph
    reasoner.simulation.refresh()
    everything, value = reasoner.simulation.everything, reasoner.simulation.value
    inside = value(question) & everything
    operands = {question >> 1, *graph.cone([question], set())}
    containing = [row for row in rows if row.high is not None and not inside & ~value(row.literal)]
    containing.sort(key=lambda row: row.high or 0)
    contained = [row for row in rows if not value(row.literal) & everything & ~inside]
    smallest = value(containing[0].literal) if containing else everything
    beside = [row for row in rows if not value(row.literal) & everything & (inside | ~smallest)]
    groups: list[Iterable[Row]] = [
        (row for row in rows if row.literal >> 1 in operands),
        containing[:_MOST_OF_A_KIND],
        sorted(contained, key=lambda row: -row.low)[:_MOST_OF_A_KIND],
        sorted(beside, key=lambda row: -row.low)[:_MOST_OF_A_KIND],
        _order_by_distance(graph, question, rows),
    ]
    return list(dict.fromkeys(row for group in groups for row in group))


def _order_by_distance(graph: SetGraph, question: int, rows: Sequence[Row]) -> list[Row]:
    """Return the rows, those first whose sets share operands with the question."""
    neighbours: dict[int, list[int]] = {}
    left, right = graph.left, graph.right
    for node in graph.cone([question, *(row.literal for row in rows)], set()):
        for operand in (left[node], right[node]):
            if operand not in (PART, EVERYTHING):
                neighbours.setdefault(node, []).append(operand >> 1)
                neighbours.setdefault(operand >> 1, []).append(node)
    distances = {question >> 1: 0}
    queue = deque(distances)
    while queue:
        node = queue.popleft()
        for other in neighbours.get(node, ()):
            if other not in distances:
                distances[other] = distances[node] + 1
                queue.append(other)
    far = len(distances)
    return sorted(rows, key=lambda row: distances.get(row.literal >> 1, far))
