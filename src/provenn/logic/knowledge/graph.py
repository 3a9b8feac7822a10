"""An and-inverter graph of sets, hashed so that sets that are equal by construction are the same literal.

A set is a *literal*, ``2 * node + complemented``; 0 is the empty set and 1 is everything. There are two kinds of node:

- a *part* is some subset, nothing more is known, of the literal in `left`. A base set is a part of everything, a
  selection a part of its parent. `right` is ``PART``.
- a *meet* is the intersection of the literals in `left` and `right`.

Nodes are numbered in the order of their making, so every loop over the graph in that order meets a node after all
that it is made of. The rewriting follows Brummayer and Biere, "Local two-level and-inverter graph minimization
without blowup" (2006), with the conjuncts of a literal searched a little deeper than two levels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from provenn.logic.terms import Op

__all__ = ["EMPTY", "EVERYTHING", "PART", "Graph", "GraphSize"]

EMPTY: Final = 0
EVERYTHING: Final = 1
PART: Final = -1

# How many conjuncts of a literal are looked at when a meet is made, and when a question is asked.
NEAR: Final = 12
FAR: Final = 400


class GraphSize(NamedTuple):
    """How large a graph is, to cut it back to."""

    nodes: int
    meets: int


class Graph:
    """The sets, and how they are made of one another. It only grows, except by `cut_back`."""

    __slots__ = ("left", "right", "table")

    def __init__(self) -> None:
        self.left: list[int] = [EMPTY]
        self.right: list[int] = [EMPTY]
        self.table: dict[int, int] = {}

    # -- making sets ---------------------------------------------------------------------------------------------

    def part(self, whole: int) -> int:
        """Return a new literal: some subset of `whole`."""
        if whole == EMPTY:
            return EMPTY
        left = self.left
        literal = 2 * len(left)
        left.append(whole)
        self.right.append(PART)
        return literal

    def meet(self, a: int, b: int) -> int:
        """Return the literal of the intersection of two literals, a new one only if it cannot be simplified."""
        while True:
            if a > b:
                a, b = b, a
            if a <= EVERYTHING:
                return b if a else EMPTY
            if a ^ b <= 1:
                return a if a == b else EMPTY
            key = a << 32 | b
            known = self.table.get(key)
            if known is not None:
                return known
            simpler = self._simpler(a, b)
            if simpler is None:
                literal = 2 * len(self.left)
                self.left.append(a)
                self.right.append(b)
                self.table[key] = literal
                return literal
            a, b = simpler

    def _simpler(self, a: int, b: int) -> tuple[int, int] | None:
        """Return two literals with the same intersection and less to them, if a near look finds any."""
        of_a = self.conjuncts(a, NEAR)
        if b in of_a:
            return a, EVERYTHING
        of_b = self.conjuncts(b, NEAR)
        if a in of_b:
            return b, EVERYTHING
        for conjunct in of_b:
            if conjunct ^ 1 in of_a:
                return EMPTY, EMPTY
        if a & 1:
            simpler = self._without_complement(a, b, of_b)
            if simpler is not None:
                return simpler
        if b & 1:
            return self._without_complement(b, a, of_a)
        return None

    def _without_complement(self, complement: int, other: int, conjuncts: set[int]) -> tuple[int, int] | None:
        """Simplify the intersection of a complement with another literal, of which the conjuncts are given."""
        inner = complement ^ 1
        for conjunct in self.conjuncts(inner, NEAR):
            if conjunct ^ 1 in conjuncts:
                return other, EVERYTHING
        node = inner >> 1
        right = self.right[node]
        if right == PART:
            return None
        left = self.left[node]
        if left in conjuncts:
            return (EMPTY, EMPTY) if right in conjuncts else (other, right ^ 1)
        return (other, left ^ 1) if right in conjuncts else None

    def join(self, a: int, b: int) -> int:
        """Return the literal of the union of two literals."""
        return self.meet(a ^ 1, b ^ 1) ^ 1

    def differ(self, a: int, b: int) -> int:
        """Return the literal of the symmetric difference of two literals."""
        return self.join(self.meet(a, b ^ 1), self.meet(a ^ 1, b))

    def run(self, postfix: Iterable[str | Op], literals: Mapping[str, int]) -> int:
        """Return the literal of a term, given the literals of its labels."""
        stack: list[int] = []
        for token in postfix:
            if isinstance(token, str):
                stack.append(literals[token])
            elif token is Op.NOT:
                stack[-1] ^= 1
            elif token is Op.EMPTY:
                stack.append(EMPTY)
            else:
                b = stack.pop()
                a = stack.pop()
                if token is Op.AND:
                    stack.append(self.meet(a, b))
                elif token is Op.OR:
                    stack.append(self.meet(a ^ 1, b ^ 1) ^ 1)
                elif token is Op.MINUS:
                    stack.append(self.meet(a, b ^ 1))
                else:
                    stack.append(self.differ(a, b))
        return stack[0]

    # -- looking at sets -----------------------------------------------------------------------------------------

    def conjuncts(self, literal: int, limit: int) -> set[int]:
        """Return literals that contain `literal`, by following meets and parts downwards; about `limit` of them."""
        found = {literal}
        if literal & 1:
            return found
        left, right = self.left, self.right
        stack = [literal]
        while stack and len(found) < limit:
            node = stack.pop() >> 1
            one = left[node]
            if one > EVERYTHING and one not in found:
                found.add(one)
                if not one & 1:
                    stack.append(one)
            two = right[node]
            if two > EVERYTHING and two not in found:
                found.add(two)
                if not two & 1:
                    stack.append(two)
        return found

    def obviously_disjoint(self, a: int, b: int) -> bool:
        """Whether following meets and parts far down shows that two literals have nothing in common."""
        of_a = self.conjuncts(a, FAR)
        return any(conjunct ^ 1 in of_a for conjunct in self.conjuncts(b, FAR))

    def cone(self, literals: Iterable[int], known: set[int]) -> list[int]:
        """Return the nodes that the literals are made of and that are not yet `known`, and make them known."""
        left, right = self.left, self.right
        found: list[int] = []
        stack = [literal >> 1 for literal in literals]
        while stack:
            node = stack.pop()
            if node and node not in known:
                known.add(node)
                found.append(node)
                stack.append(left[node] >> 1)
                if right[node] != PART:
                    stack.append(right[node] >> 1)
        return found

    def made_up(self, literal: int) -> list[set[int]]:
        """Return objects that are likely in a literal, and in as little else as comes easily.

        Each is given by the part nodes it is in. There are two if it can be done in several ways, otherwise one.
        """
        first, choices = self._made_up(literal, 0)
        return [first, self._made_up(literal, 1)[0]] if choices else [first]

    def _made_up(self, literal: int, way: int) -> tuple[set[int], bool]:
        """Return an object, and whether it could have been left out of something else the other way (0 or 1)."""
        left, right = self.left, self.right
        parts: set[int] = set()
        met: set[int] = set()  # without it, sets made twice of another would be walked through time and again
        choices = False
        stack = [literal]
        while stack:
            wanted = stack.pop()
            node = wanted >> 1
            one, two = left[node], right[node]
            if not wanted & 1:
                if two != PART:
                    if node not in met:
                        met.add(node)
                        stack += (one, two)
                elif node not in parts:
                    parts.add(node)
                    if one > EVERYTHING:
                        stack.append(one)
            elif two != PART and node:
                # One of the two must be left out: first one that is out by itself, the object being in nothing yet.
                choices = True
                second = (one & 1 > two & 1) ^ way
                stack.append((two if second else one) ^ 1)
        return parts, choices

    def holds(self, literal: int, parts: set[int], values: dict[int, bool]) -> bool:
        """Whether an object is in `literal`, given the part nodes it is in; `values` remembers what was found."""
        left, right = self.left, self.right
        stack = [literal >> 1]
        while stack:
            node = stack[-1]
            if node in values:
                stack.pop()
            elif right[node] == PART or not node:
                values[node] = node in parts
                stack.pop()
            else:
                a, b = left[node], right[node]
                missing = [one for one in (a >> 1, b >> 1) if one not in values]
                if missing:
                    stack.extend(missing)
                else:
                    values[node] = values[a >> 1] != bool(a & 1) and values[b >> 1] != bool(b & 1)
                    stack.pop()
        return values[literal >> 1] != bool(literal & 1)

    def spread(self, given: Mapping[int, int]) -> list[int]:
        """Return the objects in each node (as bits), given those that are to be in each part, if they are in its whole.

        A value may be negative; its bits beyond those given have no meaning.
        """
        left, right = self.left, self.right
        values = [0]
        append, of = values.append, given.get
        for node in range(1, len(left)):
            a, b = left[node], right[node]
            if b == PART:
                value = of(node, 0)
                append(value and value & (~values[a >> 1] if a & 1 else values[a >> 1]))
            else:
                append((~values[a >> 1] if a & 1 else values[a >> 1]) & (~values[b >> 1] if b & 1 else values[b >> 1]))
        return values

    # -- its size ------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.left)

    def size(self) -> GraphSize:
        """Return how large the graph is now."""
        return GraphSize(len(self.left), len(self.table))

    def cut_back(self, size: GraphSize) -> None:
        """Forget all that was made since the graph had that size."""
        del self.left[size.nodes :]
        del self.right[size.nodes :]
        while len(self.table) > size.meets:
            self.table.popitem()
