"""An and-inverter graph of sets, hashed so that sets equal by construction have the same literal.

A set is a *literal*, ``2 * node + complemented``; 0 is the empty set and 1 is everything. A node has one of two kinds:

- a *part* is an arbitrary subset of the literal in `left`. A base set is a part of everything, a selection a part of
  its parent. `right` is ``PART``.
- a *meet* is the intersection of the literals in `left` and `right`.

Nodes are numbered in the order of their creation, so a loop over the graph in this order reaches a node after its
operands. The rewriting follows Brummayer and Biere, "Local two-level and-inverter graph minimization without blowup"
(2006), with the conjuncts of a literal searched a little deeper than two levels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from provenn.logic.terms import Op

__all__ = ["EMPTY", "EVERYTHING", "PART", "GraphSize", "SetGraph"]

EMPTY: Final = 0
EVERYTHING: Final = 1
PART: Final = -1

# The most conjuncts of a literal that are examined when a meet is created, and when a question is answered.
NEAR: Final = 12
FAR: Final = 400


class GraphSize(NamedTuple):
    """The size of a graph, as an argument of `cut_back`."""

    nodes: int
    meets: int


class SetGraph:
    """The sets and their operands. The graph only grows, except by `cut_back`."""

    __slots__ = ("left", "right", "table")

    def __init__(self) -> None:
        self.left: list[int] = [EMPTY]
        self.right: list[int] = [EMPTY]
        self.table: dict[int, int] = {}

    @classmethod
    def of(cls, left: list[int], right: list[int]) -> SetGraph:
        """Return the graph with some operands, each node after its operands."""
        graph = cls()
        graph.left, graph.right = left, right
        graph.table = {
            a << 32 | b: 2 * node for node, (a, b) in enumerate(zip(left, right, strict=True)) if node and b != PART
        }
        return graph

    def copy(self) -> SetGraph:
        """Return a graph with the same nodes, which grows by itself."""
        graph = SetGraph()
        graph.left, graph.right, graph.table = self.left.copy(), self.right.copy(), self.table.copy()
        return graph

    # -- making sets ---------------------------------------------------------------------------------------------

    def part(self, whole: int) -> int:
        """Return a new literal: an arbitrary subset of `whole`."""
        if whole == EMPTY:
            return EMPTY
        left = self.left
        literal = 2 * len(left)
        left.append(whole)
        self.right.append(PART)
        return literal

    def meet(self, a: int, b: int) -> int:
        """Return the literal of the intersection of two literals; simplification may avoid a new node."""
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
            simpler = self._simplify_meet(a, b)
            if simpler is None:
                literal = 2 * len(self.left)
                self.left.append(a)
                self.right.append(b)
                self.table[key] = literal
                return literal
            a, b = simpler

    def _simplify_meet(self, a: int, b: int) -> tuple[int, int] | None:
        """Return two simpler literals with the same intersection, or None if a shallow search finds none."""
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
            simpler = self._simplify_complement(a, b, of_b)
            if simpler is not None:
                return simpler
        if b & 1:
            return self._simplify_complement(b, a, of_a)
        return None

    def _simplify_complement(self, complement: int, other: int, conjuncts: set[int]) -> tuple[int, int] | None:
        """Simplify the intersection of a complement with another literal, given the conjuncts of the latter."""
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
        """Return about `limit` literals that contain `literal`, by following meets and parts downwards."""
        visited = {literal}
        if literal & 1:
            return visited
        left, right = self.left, self.right
        stack = [literal]
        while stack and len(visited) < limit:
            node = stack.pop() >> 1
            left_literal = left[node]
            if left_literal > EVERYTHING and left_literal not in visited:
                visited.add(left_literal)
                if not left_literal & 1:
                    stack.append(left_literal)
            right_literal = right[node]
            if right_literal > EVERYTHING and right_literal not in visited:
                visited.add(right_literal)
                if not right_literal & 1:
                    stack.append(right_literal)
        return visited

    def obviously_disjoint(self, a: int, b: int) -> bool:
        """Return whether following meets and parts far down shows that two literals are disjoint."""
        of_a = self.conjuncts(a, FAR)
        return any(conjunct ^ 1 in of_a for conjunct in self.conjuncts(b, FAR))

    def show_disjoint(self, literal: int, partners: Mapping[int, Iterable[int]]) -> bytearray:
        """Return for every literal whether it is shown to be disjoint from a literal: 1 or 0.

        A meet is disjoint if an operand is, a part if its whole is, and the complement of a meet if the complements of
        both operands are. A single pass over the graph decides all literals, so this suits questions about all sets.

        Parameters
        ----------
        literal
            The literal.
        partners
            Literals known to be disjoint from each literal; an empty literal is its own partner.
        """
        left, right = self.left, self.right
        if literal == EMPTY or literal in partners.get(literal, ()):
            return bytearray(b"\1") * (2 * len(left))
        disjoint = bytearray(2 * len(left))
        disjoint[EMPTY] = 1
        for conjunct in self.conjuncts(literal, 2 * len(left)):
            disjoint[conjunct ^ 1] = 1
            for partner in partners.get(conjunct, ()):
                disjoint[partner] = 1
        for empty_literal, others in partners.items():
            if empty_literal in others:
                disjoint[empty_literal] = 1
        for node in range(1, len(left)):
            a, b = left[node], right[node]
            if disjoint[a]:
                disjoint[2 * node] = 1
            elif b != PART:
                if disjoint[b]:
                    disjoint[2 * node] = 1
                elif disjoint[a ^ 1] and disjoint[b ^ 1]:
                    disjoint[2 * node + 1] = 1
        return disjoint

    def cone(self, literals: Iterable[int], known: set[int]) -> list[int]:
        """Return the nodes below the literals that are not yet `known`, and add them to `known`."""
        left, right = self.left, self.right
        new_nodes: list[int] = []
        stack = [literal >> 1 for literal in literals]
        while stack:
            node = stack.pop()
            if node and node not in known:
                known.add(node)
                new_nodes.append(node)
                stack.append(left[node] >> 1)
                if right[node] != PART:
                    stack.append(right[node] >> 1)
        return new_nodes

    def clauses(self, nodes: Iterable[int]) -> list[tuple[int, ...]]:
        """Return clauses of literals that relate nodes to their operands."""
        left, right = self.left, self.right
        clauses: list[tuple[int, ...]] = []
        for node in nodes:
            a, b, literal = left[node], right[node], 2 * node
            if b == PART:
                if a != EVERYTHING:
                    clauses.append((literal ^ 1, a))
            else:
                clauses += ((literal ^ 1, a), (literal ^ 1, b), (literal, a ^ 1, b ^ 1))
        return clauses

    def invent_objects(self, literal: int) -> list[set[int]]:
        """Return objects that are probably in a literal, and in few other sets.

        Each object is a set of part nodes. If the construction has a choice, the function returns two objects,
        otherwise one.
        """
        first, choices = self._invent_object(literal, 0)
        return [first, self._invent_object(literal, 1)[0]] if choices else [first]

    def _invent_object(self, literal: int, preference: int) -> tuple[set[int], bool]:
        """Return an object, and whether the construction had a choice; `preference` (0 or 1) decides each choice."""
        left, right = self.left, self.right
        parts: set[int] = set()
        visited: set[int] = set()  # avoids visiting shared operands again and again
        choices = False
        stack = [literal]
        while stack:
            wanted = stack.pop()
            node = wanted >> 1
            left_literal, right_literal = left[node], right[node]
            if not wanted & 1:
                if right_literal != PART:
                    if node not in visited:
                        visited.add(node)
                        stack += (left_literal, right_literal)
                elif node not in parts:
                    parts.add(node)
                    if left_literal > EVERYTHING:
                        stack.append(left_literal)
            elif right_literal != PART and node:
                # The object must be outside one operand: preferably a positive literal, as the object is in no set yet.
                choices = True
                second = (left_literal & 1 > right_literal & 1) ^ preference
                stack.append((right_literal if second else left_literal) ^ 1)
        return parts, choices

    def holds(self, literal: int, parts: set[int], values: dict[int, bool]) -> bool:
        """Return whether an object, a set of part nodes, is in `literal`; `values` caches results for nodes."""
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
                missing = [operand for operand in (a >> 1, b >> 1) if operand not in values]
                if missing:
                    stack.extend(missing)
                else:
                    values[node] = values[a >> 1] != bool(a & 1) and values[b >> 1] != bool(b & 1)
                    stack.pop()
        return values[literal >> 1] != bool(literal & 1)

    def spread(self, bits_by_part: Mapping[int, int]) -> list[int]:
        """Return the objects in each node (as bits), given the objects of each part.

        An object outside the whole of a part is dropped from the part. A value may be negative; its bits beyond the
        given bits have no meaning.
        """
        left, right = self.left, self.right
        values = [0]
        append, get_bits = values.append, bits_by_part.get
        for node in range(1, len(left)):
            a, b = left[node], right[node]
            if b == PART:
                value = get_bits(node, 0)
                append(value and value & (~values[a >> 1] if a & 1 else values[a >> 1]))
            else:
                append((~values[a >> 1] if a & 1 else values[a >> 1]) & (~values[b >> 1] if b & 1 else values[b >> 1]))
        return values

    # -- its size ------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.left)

    def size(self) -> GraphSize:
        """Return the current size of the graph."""
        return GraphSize(len(self.left), len(self.table))

    def cut_back(self, size: GraphSize) -> None:
        """Remove all nodes created since the graph had the given size."""
        del self.left[size.nodes :]
        del self.right[size.nodes :]
        while len(self.table) > size.meets:
            self.table.popitem()
