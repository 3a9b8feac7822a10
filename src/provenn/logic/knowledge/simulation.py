"""Random objects, many at once: bit j of a node's value says whether object j is in the set.

A value is one Python integer of as many bits as there are objects. Measured against NumPy words that was as fast
and needs no sorting of the graph by level: nodes come in an order in which each follows what it is made of.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import numpy as np

from provenn.logic.knowledge.graph import PART, Graph

__all__ = ["GROUND", "Simulation"]

# Object 0 is in no base set at all and object 1 in every part there can be; the others are in a part of what they
# are in with a probability that grows from one quarter of the objects to the next: 1/2, 3/4, 7/8, 15/16. So deep
# selections hold some of them too.
GROUND: Final = 1
_BYTES: Final = 32
_MOST_BITS: Final = 8192
_SEED: Final = 20121


class Simulation:
    """The values of all nodes of a graph in the random objects, and in the objects that `learn` adds."""

    __slots__ = ("_graph", "_random", "_width", "values")

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._random = np.random.default_rng(_SEED)
        self._width = 8 * _BYTES
        self.values: list[int] = [0]

    @property
    def everything(self) -> int:
        """The value of the set of everything."""
        return (1 << self._width) - 1

    def value(self, literal: int) -> int:
        """Return the objects in a literal; a complement is a negative number with the right low bits."""
        value = self.values[literal >> 1]
        return ~value if literal & 1 else value

    def refresh(self) -> None:
        """Give values to the nodes that are new."""
        values, left, right = self.values, self._graph.left, self._graph.right
        start = len(values)
        if start == len(left):
            return
        chances = self._chances(len(left) - start)
        position = 0
        for node in range(start, len(left)):
            a, b = left[node], right[node]
            value = ~values[a >> 1] if a & 1 else values[a >> 1]
            if b == PART:
                value &= int.from_bytes(chances[position : position + _BYTES], "little")
                position += _BYTES
            else:
                value &= ~values[b >> 1] if b & 1 else values[b >> 1]
            values.append(value)

    def learn(self, objects: Collection[Collection[int]]) -> None:
        """Add objects, each given by the part nodes it is in. A simulation that has learned enough adds no more."""
        self.refresh()
        if self._width + len(objects) > _MOST_BITS:
            return
        given: dict[int, int] = {}
        for bit, parts in enumerate(objects):
            for node in parts:
                given[node] = given.get(node, 0) | 1 << bit
        left, right, shift = self._graph.left, self._graph.right, self._width
        added = [0]
        for node in range(1, len(left)):
            b = right[node]
            if b == PART:
                added.append(given.get(node, 0))
            else:
                a = left[node]
                value = ~added[a >> 1] if a & 1 else added[a >> 1]
                added.append(value & (~added[b >> 1] if b & 1 else added[b >> 1]))
        # A value may be negative (its bits beyond the width are meaningless), so it is cut before it is widened.
        everything, new = self.everything, (1 << len(objects)) - 1
        self.values = [old & everything | (more & new) << shift for old, more in zip(self.values, added, strict=True)]
        self._width += len(objects)

    def _chances(self, parts: int) -> bytes:
        words = self._random.integers(0, 2**64, size=(parts, 4), dtype=np.uint64)
        for quarter in range(1, 4):
            words[:, quarter:] |= self._random.integers(0, 2**64, size=(parts, 4 - quarter), dtype=np.uint64)
        words[:, 0] = words[:, 0] & ~np.uint64(GROUND) | np.uint64(2)
        return words.tobytes()
