"""Simulated objects in arrays: for each node of a graph, the objects in its set, one bit each.

This is `Simulation` for graphs of a million sets. Nodes are computed level by level, and a question about all sets is a
scan of the arrays. The objects can be stored with the graph, and are simulated again in no later process.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from provenn.logic.knowledge.graph import EVERYTHING, PART, SetGraph

__all__ = ["BLOCK_OBJECTS", "MOST_OBJECTS", "Signatures", "Words"]

Words = NDArray[np.uint64]

_WORD: Final = 64
_BLOCK_WORDS: Final = 8
BLOCK_OBJECTS: Final = _WORD * _BLOCK_WORDS
"""The number of objects in one block of signatures."""

MOST_OBJECTS: Final = 8192
_RANDOM_WORDS: Final = 4
_SEED: Final = 20121
_FULL: Final = np.uint64(2**64 - 1)
_FEW: Final = 32  # new nodes that are computed one by one


class Signatures:
    """The objects in each node of a graph: a row of 64-bit words per node, in blocks of eight words.

    Object 0 is in no set at all, and object 1 in every possible part. A further 254 objects are random, as in
    `Simulation`. All other objects were added by `learn`; they are in no part that was created later.

    Parameters
    ----------
    graph
        The sets.
    blocks, objects
        The blocks of stored signatures, with a row for each node, and the number of objects in them.
    """

    def __init__(self, graph: SetGraph, blocks: Sequence[Words] = (), objects: int = _RANDOM_WORDS * _WORD) -> None:
        self._graph = graph
        self._random = np.random.default_rng(_SEED)
        self.objects = objects
        self.blocks = list(blocks) or [np.zeros((1, _BLOCK_WORDS), np.uint64)]
        self.nodes = len(self.blocks[0])
        self._layers = Layers(graph)

    # -- as a simulation of a reasoner ---------------------------------------------------------------------------

    @property
    def values(self) -> Signatures:
        """The values of nodes: ``values[node]``."""
        return self

    def __len__(self) -> int:
        return self.nodes

    def __getitem__(self, node: int) -> int:
        return int.from_bytes(b"".join(block[node].tobytes() for block in self.blocks), "little")

    @property
    def everything(self) -> int:
        """The value of the set of everything."""
        return (1 << self.objects) - 1

    def value(self, literal: int) -> int:
        """Return the objects in a literal; a complement is a negative number with the right low bits."""
        return ~self[literal >> 1] if literal & 1 else self[literal >> 1]

    def refresh(self) -> None:
        """Compute the values of new nodes."""
        left, right = self._graph.left, self._graph.right
        start, stop = self.nodes, len(left)
        if start == stop:
            return
        self._reserve(stop)
        self.nodes = stop
        parts = [node for node in range(start, stop) if right[node] == PART]
        self.blocks[0][parts, :_RANDOM_WORDS] = self._draw_parts(len(parts))
        if stop - start > _FEW:
            for block in self.blocks:
                self._layers.spread(block, start)
            return
        for node in range(start, stop):
            a, b = left[node], right[node]
            for block in self.blocks:
                value = block[a >> 1] ^ _FULL if a & 1 else block[a >> 1]
                other = block[node] if b == PART else block[b >> 1] ^ _FULL if b & 1 else block[b >> 1]
                block[node] = value & other

    def learn(self, objects: Collection[Collection[int]]) -> None:
        """Add objects, given by their part nodes, unless the simulation already has too many objects."""
        self.refresh()
        if self.objects + len(objects) > MOST_OBJECTS:
            return
        changed: dict[int, set[int]] = {}
        for place, parts in enumerate(objects, self.objects):
            number, place_in_block = divmod(place, BLOCK_OBJECTS)
            word, bit = divmod(place_in_block, _WORD)
            if number == len(self.blocks):
                self.blocks.append(np.zeros((len(self.blocks[0]), _BLOCK_WORDS), np.uint64))
            changed.setdefault(number, set()).add(word)
            self.blocks[number][list(parts), word] |= np.uint64(1 << bit)
        self.objects += len(objects)
        for number, words in changed.items():
            # A view: only the words with new objects are computed.
            self._layers.spread(self.blocks[number][:, min(words) : max(words) + 1], 0)

    def place(self, part: int, inside: int, objects: int) -> None:
        """Decide which of some objects may be in a part; `compute_again` lets that have its consequences."""
        for number, block in enumerate(self.blocks):
            chosen, changed = (_take_block(bits, number) for bits in (inside, objects))
            block[part] = block[part] & ~changed | chosen & changed

    def compute_again(self) -> None:
        """Compute all sets of all objects again from the parts that the objects may be in."""
        for block in self.blocks:
            self._layers.spread(block, 0)

    # -- questions about many literals ---------------------------------------------------------------------------

    def find_overlapping(self, literal: int, others: NDArray[np.int64], valid: int) -> NDArray[np.bool_]:
        """Return for each of some literals whether a valid object is in it and in a given literal."""
        self.refresh()
        wanted = valid & self.value(literal)
        overlapping = np.zeros(len(others), np.bool_)
        remaining = np.arange(len(others))
        for number, block in enumerate(self.blocks):
            mask = _take_block(wanted, number)
            for words in (slice(word, word + 1) for word in np.flatnonzero(mask)):
                literals = others[remaining]
                values = block[literals >> 1, words] ^ np.where(literals & 1, _FULL, np.uint64(0))[:, None]
                hit = (values & mask[words]).any(axis=1)
                overlapping[remaining[hit]] = True
                remaining = remaining[~hit]
        return overlapping

    def find_overlapping_nearby(
        self, implied: Collection[int], constraints: Iterable[int], others: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Return for each of some literals whether one of some new random objects is in it.

        The objects are random in all parts but those that some literals decide, so that many of them are in these
        literals; only objects in all these literals and in all constraints count. They are not kept.

        Parameters
        ----------
        implied
            The literals in which the objects have to be.
        constraints
            The literals in which every possible object is.
        others
            The literals that are asked for.
        """
        self.refresh()
        words = self._layers.draw(self._random, implied)
        self._layers.spread(words, 0)
        valid = np.full(words.shape[1], _FULL)
        for literal in (*implied, *constraints):
            valid &= words[literal >> 1] ^ (_FULL if literal & 1 else np.uint64(0))
        useful = np.flatnonzero(valid)
        overlapping = np.zeros(len(others), np.bool_)
        for word in useful:
            remaining = np.flatnonzero(~overlapping)
            literals = others[remaining]
            values = words[literals >> 1, word] ^ np.where(literals & 1, _FULL, np.uint64(0))
            overlapping[remaining] = values & valid[word] != 0
        return overlapping

    def show_apart(self, seeds: Collection[int]) -> NDArray[np.bool_]:
        """Return for every literal whether it follows from some literals being apart from a set that it is, too.

        A meet is apart if an operand is, a part if its whole is, and the complement of a meet if the complements of
        both operands are.

        Parameters
        ----------
        seeds
            Literals that are disjoint from the set.
        """
        self.refresh()
        return self._layers.show_apart(seeds)

    def _reserve(self, nodes: int) -> None:
        """Make room for nodes."""
        capacity = len(self.blocks[0])
        if nodes > capacity:
            more = max(nodes, capacity + capacity // 4) - capacity
            room = np.zeros((more, _BLOCK_WORDS), np.uint64)
            for number, block in enumerate(self.blocks):
                self.blocks[number] = np.concatenate((block, room))

    def _draw_parts(self, parts: int) -> Words:
        """Return which random objects are in new parts, if they are in the wholes; see `Simulation`."""
        words = self._random.integers(0, 2**64, size=(parts, _RANDOM_WORDS), dtype=np.uint64)
        for quarter in range(1, _RANDOM_WORDS):
            more = self._random.integers(0, 2**64, size=(parts, _RANDOM_WORDS - quarter), dtype=np.uint64)
            words[:, quarter:] |= more
        words[:, 0] = words[:, 0] & ~np.uint64(1) | np.uint64(2)
        return words


class Layers:
    """The nodes of a graph by level: a node comes after its operands, and all nodes of a level are computed at once."""

    def __init__(self, graph: SetGraph) -> None:
        self._graph = graph
        self._levels: list[int] = []
        self._nodes: NDArray[np.int64] = np.zeros(0, np.int64)
        self._left = self._right = self._nodes
        self._starts: list[int] = []

    def _refresh(self) -> None:
        left, right, levels = self._graph.left, self._graph.right, self._levels
        start = len(levels)
        if start == len(left):
            return
        for node in range(start, len(left)):
            a, b = left[node] >> 1, right[node]
            below = levels[a] if a < node else -1
            levels.append(max(below, levels[b >> 1] if b > EVERYTHING else below) + 1)
        level = np.array(levels, np.int32)
        self._nodes = np.argsort(level, kind="stable")
        self._left = np.array(left, np.int64)[self._nodes]
        self._right = np.array(right, np.int64)[self._nodes]
        self._starts = [*np.flatnonzero(np.diff(level[self._nodes], prepend=-1)).tolist(), len(level)]

    def draw(self, random: np.random.Generator, implied: Collection[int]) -> Words:
        """Return words of random objects for `spread`: each pair of words is in another share of all parts.

        An object is in the parts among some literals, and outside the parts whose complements are among them.
        """
        self._refresh()
        words = np.zeros((len(self._levels), _BLOCK_WORDS), np.uint64)
        parts = self._nodes[self._right == PART]
        drawn = random.integers(0, 2**64, size=(len(parts), _BLOCK_WORDS), dtype=np.uint64)
        for more in range(1, _BLOCK_WORDS // 2):
            # The shares are 1/2, 1/4, 1/8, 1/16 in the first half, and 1/2, 3/4, 7/8, 15/16 in the second.
            half = _BLOCK_WORDS // 2
            again = random.integers(0, 2**64, size=(len(parts), _BLOCK_WORDS), dtype=np.uint64)
            drawn[:, more:half] &= again[:, more:half]
            drawn[:, half + more :] |= again[:, half + more :]
        words[parts] = drawn
        decided = np.array([literal for literal in implied if literal > EVERYTHING], np.int64)
        words[decided >> 1] = np.where(decided & 1, np.uint64(0), _FULL)[:, None]
        return words

    def spread(self, words: Words, start: int) -> None:
        """Compute the words of all nodes from a number on; those of parts hold the objects that may be in the part."""
        self._refresh()
        for first, last in zip(self._starts[1:], self._starts[2:], strict=False):
            nodes, left, right = self._nodes[first:last], self._left[first:last], self._right[first:last]
            if start:
                new = nodes >= start
                nodes, left, right = nodes[new], left[new], right[new]
            if len(nodes):
                values = words[left >> 1] ^ _complement(left)
                values &= words[np.where(right == PART, nodes, right >> 1)] ^ _complement(np.maximum(right, 0))
                words[nodes] = values

    def show_apart(self, seeds: Collection[int]) -> NDArray[np.bool_]:
        """See `Signatures.show_apart`."""
        self._refresh()
        apart = np.zeros(2 * len(self._levels), np.bool_)
        apart[0] = True
        apart[list(seeds)] = True
        if apart[EVERYTHING]:
            apart[:] = True
            return apart
        for first, last in zip(self._starts[1:], self._starts[2:], strict=False):
            nodes, left, right = self._nodes[first:last], self._left[first:last], self._right[first:last]
            is_meet = right != PART
            other = np.where(is_meet, right, EVERYTHING)
            apart[2 * nodes] |= apart[left] | apart[other]
            apart[2 * nodes + 1] |= apart[left ^ 1] & apart[other ^ 1] & is_meet
        return apart


def _take_block(bits: int, number: int) -> Words:
    """Return the objects of a block among some objects, as words."""
    within = bits >> number * BLOCK_OBJECTS & (1 << BLOCK_OBJECTS) - 1
    return np.frombuffer(within.to_bytes(BLOCK_OBJECTS // 8, "little"), np.uint64)


def _complement(literals: NDArray[np.int64]) -> Words:
    """Return the words by which the values of nodes become those of literals."""
    return np.where(literals & 1, _FULL, np.uint64(0))[:, None]
