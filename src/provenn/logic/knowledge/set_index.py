"""An index of sets: which of a million sets are equal to, inside, around or apart from a set.

The index holds what definitions state, and nothing that only some people may know. A *view* adds facts, and answers
exactly as `Knowledge` of the definitions and these facts would:

1. what follows from a set by following the graph, and from constraints of two literals, is proved for all sets at once;
2. an object that is simulated in all sets, and obeys the definitions and facts, refutes;
3. the reasoner decides the rest, each question by its cone alone. The objects that it finds are simulated from then on.

Each set is also known to be empty, or to hold a simulated object, as far as the number of objects allows: otherwise
sets without objects would reach the reasoner in every question.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from provenn import deadline
from provenn.logic.knowledge.facts import FactBase, FactList
from provenn.logic.knowledge.formulas import Inhabited, build_formula, iterate_conjuncts
from provenn.logic.knowledge.graph import EMPTY, EVERYTHING, PART, SetGraph
from provenn.logic.knowledge.reasoner import Reasoner
from provenn.logic.knowledge.signatures import Signatures
from provenn.logic.statements import Statement

__all__ = ["IndexView", "Literals", "SetIndex", "SetRelation"]

Literals = NDArray[np.int64]

SetRelation = Literal["equal_to", "subsets_of", "supersets_of", "disjoint_from"]
"""How sets relate to a set; the names are those of the look-ups of `Knowledge`."""

_MOST_ROUNDS = 8
"""The most repetitions of following the graph; what needs more is left to the reasoner."""


_FIRST_BATCH, _MOST_BATCH = 16, 64
"""How many questions the reasoner answers before their consequences for the others are considered."""


class SetIndex:
    """Sets that definitions make from each other, with simulated objects.

    Parameters
    ----------
    labels
        The literals of labels, by label.
    graph, signatures, constraints
        A stored index; by default an empty one.
    """

    def __init__(
        self,
        labels: MutableMapping[str, int] | None = None,
        graph: SetGraph | None = None,
        signatures: Signatures | None = None,
        constraints: Iterable[int] = (),
    ) -> None:
        self._base = FactBase({} if labels is None else labels, graph)
        self._base.definers.frombytes(bytes(self._base.definers.itemsize * len(self.labels)))
        self.signatures = Signatures(self.graph) if signatures is None else signatures
        self.constraints: dict[int, None] = {}
        self.reasoner = Reasoner(self.graph, simulation=self.signatures)
        self._constrain(constraints)

    @property
    def graph(self) -> SetGraph:
        """The sets."""
        return self._base.graph

    @property
    def labels(self) -> MutableMapping[str, int]:
        """The literals of labels."""
        return self._base.labels

    @property
    def is_exact(self) -> bool:
        """Whether definitions state only which sets lie in which; a view considers no other statements of theirs."""
        return not self._base.inhabited and not self._base.choices

    def add(self, statements: Sequence[Statement]) -> None:
        """Add what definitions state."""
        base = self._base
        base.take(statements)
        base.facts = FactList()  # nothing is explained from an index
        self._constrain(literal for literal, _ in base.constraints)
        base.constraints.clear()

    def mention(self, labels: Iterable[str]) -> None:
        """Add an unconstrained set for each new label."""
        self._base.mention(labels)

    def _constrain(self, literals: Iterable[int]) -> None:
        for literal in literals:
            if literal != EVERYTHING and literal not in self.constraints:
                self.constraints[literal] = None
                self.reasoner.constrain(literal)

    def find_empty(self, literals: Iterable[int]) -> set[int]:
        """Return the literals that the definitions prove to be empty; for the others, simulate an object in each."""
        # The deepest come first: an object of theirs is in the sets that contain them, too.
        open_literals = np.array(sorted(set(literals) - {EMPTY, EVERYTHING}, reverse=True), np.int64)
        valid = self.reasoner.find_valid_objects()
        witnessed = self.signatures.find_overlapping(EVERYTHING, open_literals, valid)
        empty = set[int]()
        for literal in open_literals[~witnessed].tolist():
            deadline.check()
            if not self.reasoner.possible(literal, learn=True):
                empty.add(literal)
        return empty

    def open_view(self, facts: Iterable[Statement]) -> IndexView | None:
        """Return the index with some facts; None if the facts leave a choice, name unknown sets, or contradict."""
        constraints: list[int] = []
        inhabited: list[int] = []
        for fact in facts:
            if not all(label in self.labels for label in fact.labels):
                return None
            for part in iterate_conjuncts(build_formula(fact, self._base.literal)):
                if not isinstance(part, Inhabited):
                    return None
                if part.holds:
                    inhabited.append(part.literal)
                else:
                    constraints.append(part.literal ^ 1)
        view = IndexView(self, constraints)
        if EMPTY in constraints or EMPTY in self.constraints:
            return None
        return view if all(map(view.reasoner.possible, inhabited)) else None


class IndexView:
    """An index with facts.

    Parameters
    ----------
    index
        The index. When it gets new definitions, a new view is needed.
    constraints
        What the facts say of every object, as literals.
    """

    def __init__(self, index: SetIndex, constraints: Sequence[int]) -> None:
        self._index = index
        self.reasoner = Reasoner(index.graph, simulation=index.signatures) if constraints else index.reasoner
        if constraints:
            for literal in dict.fromkeys((*index.constraints, *constraints)):
                self.reasoner.constrain(literal)
        self._always = frozenset(self.reasoner.constraints)
        self._partners = _find_partners(index.graph, self._always)

    def find_related(self, relation: SetRelation, literal: int, others: Literals) -> NDArray[np.bool_]:
        """Return which of some literals are proved to have a relation to a literal."""
        match relation:
            case "disjoint_from":
                return self._find_apart([(literal, others)])
            case "subsets_of":
                return self._find_apart([(literal ^ 1, others)])
            case "supersets_of":
                return self._find_apart([(literal, others ^ 1)])
            case "equal_to":
                return self._find_apart([(literal ^ 1, others), (literal, others ^ 1)])

    def _find_apart(self, questions: Sequence[tuple[int, Literals]]) -> NDArray[np.bool_]:
        """Return at which places the literals of each question are all disjoint from its first literal."""
        signatures, reasoner = self._index.signatures, self.reasoner
        holds = np.ones(len(questions[0][1]), np.bool_)
        proved = [self._show_apart(literal)[others] for literal, others in questions]
        for (literal, others), shown in zip(questions, proved, strict=True):
            open_places = np.flatnonzero(holds & ~shown)
            valid = reasoner.find_valid_objects()
            holds[open_places[signatures.find_overlapping(literal, others[open_places], valid)]] = False
        for (literal, others), shown in zip(questions, proved, strict=True):
            open_places = np.flatnonzero(holds & ~shown)
            holds[open_places] = self._decide_apart(literal, others[open_places])
        return holds

    def _decide_apart(self, literal: int, others: Literals) -> NDArray[np.bool_]:
        """Return which of some literals are disjoint from a literal, by asking the reasoner.

        The sets that were created first come first: what is proved of them often follows for sets made from them.
        """
        holds = np.zeros(len(others), np.bool_)
        proved: set[int] = set()
        waiting = np.argsort(others)
        batch = _FIRST_BATCH
        while len(waiting):
            for place in waiting[:batch].tolist():
                deadline.check()
                if not self.reasoner.possible(literal, int(others[place]), learn=True):
                    holds[place] = True
                    proved.add(int(others[place]))
            waiting = waiting[batch:]
            batch = min(2 * batch, _MOST_BATCH)
            if proved and len(waiting):
                follows = self._index.signatures.show_apart(proved)[others[waiting]]
                holds[waiting[follows]] = True
                waiting = waiting[~follows]
        return holds

    def _show_apart(self, literal: int) -> NDArray[np.bool_]:
        """Return for every literal whether following the graph and pairs shows it to be disjoint from a literal."""
        seeds = {implied ^ 1 for implied in self._follow({literal, *self._always})}
        keys = np.array(list(self._partners), np.int64)
        for _ in range(_MOST_ROUNDS):
            apart = self._index.signatures.show_apart(seeds)
            if apart[literal]:
                apart[:] = True
                return apart
            implied = keys[apart[keys ^ 1]].tolist() if len(keys) else []
            further = {follower ^ 1 for follower in self._follow(set(implied))} - seeds
            if not further or apart[list(further)].all():
                return apart
            seeds |= further
        return apart

    def _follow(self, literals: set[int]) -> set[int]:
        """Return the literals that contain the intersection of some literals, by meets, parts and pairs."""
        graph, partners = self._index.graph, self._partners
        implied = set(literals)
        stack = list(literals)
        while stack:
            literal = stack.pop()
            node = literal >> 1
            followers = [partner ^ 1 for partner in partners.get(literal, ())]
            if not literal & 1 and node:
                followers.append(graph.left[node])
                if graph.right[node] != PART:
                    followers.append(graph.right[node])
            for follower in followers:
                if follower not in implied and follower != EVERYTHING:
                    implied.add(follower)
                    stack.append(follower)
        return implied


def _find_partners(graph: SetGraph, constraints: Iterable[int]) -> Mapping[int, Sequence[int]]:
    """Return the literals that are disjoint from a literal by a constraint, for each literal that has any."""
    partners: dict[int, list[int]] = {}
    for constraint in constraints:
        empty = constraint ^ 1
        node = empty >> 1
        if not empty & 1 and graph.right[node] != PART:
            left, right = graph.left[node], graph.right[node]
            partners.setdefault(left, []).append(right)
            partners.setdefault(right, []).append(left)
    return partners
