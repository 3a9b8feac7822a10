"""A theory of some sets: knows which combinations of them no object can have, and is asked only about found objects.

Facts between sets whose objects have values (``a < b``, ``b < c``, ``a < c``) are too many to be stated beforehand. A
theory states each of them when an object would contradict it, as in "lazy" SMT: the fact becomes a constraint, and an
explanation can cite it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from provenn.logic.knowledge.graph import EVERYTHING, PART, SetGraph
from provenn.logic.statements import Statement, disjoint, empty, subset
from provenn.logic.terms import Op, chain, term

__all__ = ["Refutation", "Theory", "TheoryCheck"]

_MOST_ACCEPTED: Final = 100_000
"""The most accepted combinations that are remembered."""


@dataclass(frozen=True, slots=True)
class Refutation:
    """A combination that no object has: inside all of some sets, and outside all of other sets."""

    inside: tuple[str, ...]
    outside: tuple[str, ...]

    def build_statement(self) -> Statement:
        """Return the refutation as a statement about the sets.

        >>> print(Refutation(("a", "b"), ("c",)).build_statement())
        a & b <= c
        """
        inside = tuple(map(term, self.inside))
        if self.inside and self.outside:
            return subset(chain(Op.AND, inside), chain(Op.OR, tuple(map(term, self.outside))))
        if len(inside) == 2:
            return disjoint(*inside)
        return empty(chain(Op.AND, (*inside, *(~term(label) for label in self.outside))))


class Theory(Protocol):
    """What is known of some sets, beyond facts.

    `Knowledge` with a theory means the same as `Knowledge` with the statement of every refutation among its facts. A
    theory may overlook a combination that no object has, and then less is proved. It must not refute a combination
    that some object can have.
    """

    @property
    def labels(self) -> Collection[str]:
        """The labels of the sets."""

    def refute(self, inside: Collection[str], outside: Collection[str]) -> Refutation | None:
        """Return a small part of a combination that no object has, or None if some object may have the combination.

        Parameters
        ----------
        inside, outside
            Labels of the theory. The object may be inside or outside each set that is not named.
        """


class TheoryCheck:
    """Asks a theory about objects of a graph, and turns its refutations into literals.

    An object is a set of part nodes, and it is outside all other parts. A question needs no check of sets that occur
    neither in the question nor in a constraint: the values that an object can have decide whether it is inside these
    sets, and nothing else depends on them.

    Parameters
    ----------
    theory
        The theory.
    graph
        The sets.
    literals
        The literals of labels. A label of the theory without a literal occurs in no question.
    """

    def __init__(self, theory: Theory, graph: SetGraph, literals: Mapping[str, int]) -> None:
        self.refutations: dict[int, Refutation] = {}  # by the literal of every object that states the refutation
        self._theory = theory
        self._graph = graph
        self._literals = {label: literals[label] for label in theory.labels if label in literals}
        self._labels_by_part: dict[int, list[str]] = {}
        for label, literal in self._literals.items():
            for node in self._find_top_parts(literal):
                self._labels_by_part.setdefault(node, []).append(label)
        self._label_of_part = {
            literal >> 1: label
            for label, literal in self._literals.items()
            if not literal & 1 and graph.right[literal >> 1] == PART
        }
        self._labels_below: dict[int, frozenset[str]] = {}  # by node
        self._known_wholes: dict[int, bool] = {}  # by part
        # A set that holds everything or nothing by definition occurs in no cone.
        self._constrained = frozenset(label for label, literal in self._literals.items() if literal <= EVERYTHING)
        self._accepted: set[tuple[frozenset[str], frozenset[str]]] = set()

    @property
    def all_labels(self) -> Collection[str]:
        """All labels of the theory."""
        return self._literals.keys()

    def note_constraint(self, literal: int) -> None:
        """Note that every object must be in a literal, so that its sets matter to every question."""
        self._constrained |= self._find_labels_below(literal)

    def find_relevant_labels(self, literals: Iterable[int]) -> frozenset[str]:
        """Return the labels of the theory that matter to a question about some literals."""
        relevant = self._constrained
        for literal in literals:
            relevant |= self._find_labels_below(literal)
        return relevant

    def refute_object(self, parts: set[int], labels: Iterable[str]) -> int | None:
        """Return a literal of every object that an object is not in, or None if the theory accepts the object."""
        values: dict[int, bool] = {}
        return self.refute(lambda literal: self._graph.holds(literal, parts, values), labels)

    def refute(self, holds: Callable[[int], bool], labels: Iterable[str]) -> int | None:
        """Return a literal of every object that an object is not in, or None if the theory accepts the object.

        The function `holds` tells whether the object is in a literal.
        """
        inside: list[str] = []
        outside: list[str] = []
        for label in labels:
            (inside if holds(self._literals[label]) else outside).append(label)
        combination = (frozenset(inside), frozenset(outside))
        if combination in self._accepted:
            return None
        refutation = self._theory.refute(*combination)
        if refutation is None:
            if len(self._accepted) >= _MOST_ACCEPTED:
                self._accepted.clear()
            self._accepted.add(combination)
            return None
        return self.note_refutation(refutation)

    def note_refutation(self, refutation: Refutation) -> int:
        """Return the literal of every object that states a refutation."""
        literal = EVERYTHING
        for label in refutation.inside:
            literal = self._graph.meet(literal, self._literals[label])
        for label in refutation.outside:
            literal = self._graph.meet(literal, self._literals[label] ^ 1)
        self.refutations[literal ^ 1] = refutation
        return literal ^ 1

    def _find_labels_below(self, literal: int) -> frozenset[str]:
        """Return the labels that a literal is made of.

        A set of the theory is a part of another set, which is a part of a third. These others do not matter if the
        theory itself knows that they contain the first.
        """
        node = literal >> 1
        labels = self._labels_below.get(node)
        if labels is None:
            left, right = self._graph.left, self._graph.right
            labels_below: set[str] = set()
            visited: set[int] = set()
            stack = [node]
            while stack:
                below = stack.pop()
                if not below or below in visited:
                    continue
                visited.add(below)
                labels_below.update(self._labels_by_part.get(below, ()))
                if right[below] != PART:
                    stack += (left[below] >> 1, right[below] >> 1)
                else:
                    is_known = self._known_wholes.get(below)
                    if is_known is None:
                        is_known = self._known_wholes[below] = self._knows_whole(below)
                    if not is_known:
                        stack.append(left[below] >> 1)
            labels = self._labels_below[node] = frozenset(labels_below)
        return labels

    def _knows_whole(self, part: int) -> bool:
        """Return whether the theory knows that a part of the graph lies in the set that it is a part of."""
        label = self._label_of_part.get(part)
        if label is None:
            return False
        stack = [self._graph.left[part]]
        while stack:
            literal = stack.pop()
            if literal & 1:
                return False
            node = literal >> 1
            if self._graph.right[node] != PART:
                stack += (self._graph.left[node], self._graph.right[node])
            elif node not in self._label_of_part or not self._theory.refute([label], [self._label_of_part[node]]):
                return False
        return True

    def _find_top_parts(self, literal: int) -> list[int]:
        """Return the parts that a literal consists of, without the sets that these are parts of."""
        left, right = self._graph.left, self._graph.right
        parts: list[int] = []
        visited: set[int] = set()
        stack = [literal >> 1]
        while stack:
            node = stack.pop()
            if node and node not in visited:
                visited.add(node)
                if right[node] == PART:
                    parts.append(node)
                else:
                    stack += (left[node] >> 1, right[node] >> 1)
        return parts
