"""Simulate many random objects at once: bit j of a node's value is set if object j is in the set.

A value is a Python integer with a bit per object. In measurements this was as fast as NumPy words, and needs no sorting
of the graph by level: nodes come in an order in which each node follows its operands.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import numpy as np

from provenn.logic.knowledge.graph import PART, SetGraph

__all__ = ["GROUND", "Simulation"]

# Object 0 is in no base set at all and object 1 in every possible part. An object in a set is in a part of the set with
# a probability that grows from one quarter of the objects to the next: 1/2, 3/4, 7/8, 15/16. So deep selections hold
# some objects, too.
GROUND: Final = 1
_BYTES: Final = 32
_MOST_BITS: Final = 8192
_SEED: Final = 20121
_FEWEST_DRAWN: Final = 32
_MOST_DRAWN: Final = 4096
"""For how many parts random objects are drawn at once: about as many as there are nodes."""


class Simulation:
    """The values of all nodes of a graph for the random objects, and for the objects added by `learn`."""

    __slots__ = ("_drawn", "_graph", "_position", "_random", "_width", "values")

    def __init__(self, graph: SetGraph) -> None:
        self._graph = graph
        self._random = np.random.default_rng(_SEED)
        self._width = 8 * _BYTES
        self._drawn = b""  # the random objects of the next parts, from a position on
        self._position = 0
        self.values: list[int] = [0]

    def copy(self, graph: SetGraph) -> Simulation:
        """Return a simulation of the same objects for a copy of the graph; new nodes get random values of their own."""
        simulation = Simulation(graph)
        simulation._random = np.random.default_rng((_SEED, len(self.values)))
        simulation._width = self._width
        simulation.values = self.values.copy()
        return simulation

    @property
    def everything(self) -> int:
        """The value of the set of everything."""
        return (1 << self._width) - 1

    def value(self, literal: int) -> int:
        """Return the objects in a literal; a complement is a negative number with the right low bits."""
        value = self.values[literal >> 1]
        return ~value if literal & 1 else value

    def refresh(self) -> None:
        """Compute the values of new nodes."""
        values, left, right = self.values, self._graph.left, self._graph.right
        start = len(values)
        if start == len(left):
            return
        drawn, position = self._drawn, self._position
        for node in range(start, len(left)):
            a, b = left[node], right[node]
            value = ~values[a >> 1] if a & 1 else values[a >> 1]
            if b == PART:
                if position == len(drawn):
                    wanted = max(_FEWEST_DRAWN, node, len(left) - node)
                    drawn, position = self._draw_parts(min(wanted, _MOST_DRAWN)), 0
                value &= int.from_bytes(drawn[position : position + _BYTES], "little")
                position += _BYTES
            else:
                value &= ~values[b >> 1] if b & 1 else values[b >> 1]
            values.append(value)
        self._drawn, self._position = drawn, position

    def learn(self, objects: Collection[Collection[int]]) -> None:
        """Add objects, given by their part nodes, unless the simulation already has too many objects."""
        self.refresh()
        if self._width + len(objects) > _MOST_BITS:
            return
        bits_by_part: dict[int, int] = {}
        for bit, parts in enumerate(objects):
            for node in parts:
                bits_by_part[node] = bits_by_part.get(node, 0) | 1 << bit
        left, right, shift = self._graph.left, self._graph.right, self._width
        new_values = [0]
        for node in range(1, len(left)):
            b = right[node]
            if b == PART:
                new_values.append(bits_by_part.get(node, 0))
            else:
                a = left[node]
                value = ~new_values[a >> 1] if a & 1 else new_values[a >> 1]
                new_values.append(value & (~new_values[b >> 1] if b & 1 else new_values[b >> 1]))
        # A value may be negative (its bits beyond the width are meaningless), so it is cut before it is extended.
        everything, new_bits = self.everything, (1 << len(objects)) - 1
        self.values = [
            old_value & everything | (new_value & new_bits) << shift
            for old_value, new_value in zip(self.values, new_values, strict=True)
        ]
        self._width += len(objects)

    def _draw_parts(self, parts: int) -> bytes:
        words = self._random.integers(0, 2**64, size=(parts, 4), dtype=np.uint64)
        for quarter in range(1, 4):
            words[:, quarter:] |= self._random.integers(0, 2**64, size=(parts, 4 - quarter), dtype=np.uint64)
        words[:, 0] = words[:, 0] & ~np.uint64(GROUND) | np.uint64(2)
        return words.tobytes()
