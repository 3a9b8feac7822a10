"""The order of all sets at once: which are equal, and which are the direct supersets of which.

For every set an object is made up that is in it and in as little else as possible. The sets that contain this object
are the only candidates for supersets, a handful for each set, and most of them follow from how the set is made. Only
what is left goes to the reasoner.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from provenn import display
from provenn.logic.knowledge.graph import EMPTY, EVERYTHING, PART, Graph
from provenn.logic.knowledge.reasoner import Reasoner

__all__ = ["Classification", "classify"]

_BLOCK: Final = 4096


@dataclass(frozen=True, slots=True)
class Classification:
    """How sets are ordered by containment.

    Attributes
    ----------
    classes
        The sets that are equal, together; each class sorted, the classes sorted by their first label.
    parents
        For the first label of each class, the first labels of the classes directly above it.
    """

    classes: tuple[tuple[str, ...], ...]
    parents: Mapping[str, tuple[str, ...]]

    def _repr_html_(self) -> str:
        return display.classification_html(self.classes, self.parents)


def classify(
    labels: Mapping[str, int], reasoner: Reasoner, apart: Callable[[int, int], bool], allowed: Sequence[int]
) -> Classification:
    """Classify labelled literals.

    Parameters
    ----------
    labels
        What to classify.
    reasoner
        Knows the constraints.
    apart
        Decides whether two literals can be proved to have nothing in common.
    allowed
        Literals that every object is in, besides the constraints, in one of the ways that the facts leave open.
    """
    members: dict[int, list[str]] = {}
    for label, literal in labels.items():
        members.setdefault(literal, []).append(label)
    above = _supersets(sorted(members), reasoner, apart, allowed)
    names, representative = _classes(members, above)
    parents = {}
    for literal, name in names.items():
        over = {representative[one] for one in above[literal]} - {literal}
        parents[name] = tuple(sorted(names[one] for one in _direct(over, above, representative)))
    classes = sorted(
        tuple(sorted(label for one in equal for label in members[one])) for equal in _grouped(representative).values()
    )
    return Classification(tuple(classes), dict(sorted(parents.items())))


def _classes(members: Mapping[int, list[str]], above: Mapping[int, set[int]]) -> tuple[dict[int, str], dict[int, int]]:
    """Return the name of each class by its representative, and the representative of each literal."""
    representative: dict[int, int] = {}
    for literal, over in above.items():
        if literal not in representative:
            representative[literal] = literal
            for other in over:
                if literal in above[other]:
                    representative[other] = literal
    names = {one: min(min(members[other]) for other in equal) for one, equal in _grouped(representative).items()}
    return names, representative


def _grouped(representative: Mapping[int, int]) -> dict[int, list[int]]:
    groups: dict[int, list[int]] = {}
    for literal, one in representative.items():
        groups.setdefault(one, []).append(literal)
    return groups


def _direct(over: set[int], above: Mapping[int, set[int]], representative: Mapping[int, int]) -> list[int]:
    """Return those of the classes `over` one that are not over another of them."""
    direct: list[int] = []
    covered: set[int] = set()
    # What has most above it lies lowest, so nothing that comes later can lie below it.
    for one in sorted(over, key=lambda literal: -len(above[literal])):
        if one not in covered:
            direct.append(one)
            covered.update(representative[other] for other in above[one])
    return direct


# -- supersets -------------------------------------------------------------------------------------------------------


def _supersets(
    literals: Sequence[int], reasoner: Reasoner, apart: Callable[[int, int], bool], allowed: Sequence[int]
) -> dict[int, set[int]]:
    """Return for each literal those of the others that contain it."""
    graph = reasoner.graph
    every = set(literals)
    candidates = _candidates(literals, reasoner, allowed)
    above: dict[int, set[int]] = {}
    for literal in literals:
        if literal not in candidates and apart(literal, literal):
            above[literal] = every - {literal}
            continue
        known = _known_supersets(graph, literal, above, every)
        known.discard(literal)
        for other in candidates.pop(literal, literals):
            if other in known or other == literal:
                continue
            if _follows(graph, other, literal, known) or apart(literal, other ^ 1):
                known.add(other)
        above[literal] = known
    return above


def _known_supersets(graph: Graph, literal: int, above: Mapping[int, set[int]], every: set[int]) -> set[int]:
    """Return the supersets of a literal that follow from those of what it is made of."""
    node = literal >> 1
    if literal == EVERYTHING or (literal & 1 and graph.right[node] == PART):
        return set()
    if literal & 1:
        one, other = graph.left[node] ^ 1, graph.right[node] ^ 1
        if one in above and other in above:
            return (above[one] | {one}) & (above[other] | {other})
        return set()
    known: set[int] = set()
    stack = [graph.left[node], graph.right[node]]
    while stack:
        made_of = stack.pop()
        if made_of in above:
            known.add(made_of)
            known |= above[made_of]
        elif made_of > EVERYTHING and not made_of & 1:
            stack += (graph.left[made_of >> 1], graph.right[made_of >> 1])
    if EVERYTHING in every:
        known.add(EVERYTHING)
    return known


def _follows(graph: Graph, other: int, literal: int, known: set[int]) -> bool:
    """Whether it follows from its known supersets that `other` contains a literal."""
    node = other >> 1
    if other <= EVERYTHING or graph.right[node] == PART:
        return False
    one, two = graph.left[node], graph.right[node]
    if other & 1:
        return one ^ 1 in known or two ^ 1 in known or literal in (one ^ 1, two ^ 1)
    return (one in known or one == literal) and (two in known or two == literal)


def _candidates(literals: Sequence[int], reasoner: Reasoner, allowed: Sequence[int]) -> dict[int, Sequence[int]]:
    """Return for each literal that can hold an object those that contain all objects made up for it."""
    candidates: dict[int, Sequence[int]] = {}
    waiting = {literal: reasoner.graph.made_up(literal) for literal in literals if literal != EMPTY}
    while waiting:
        unfit: list[int] = []
        for copies in (1, 2):
            alike = [(literal, objects) for literal, objects in waiting.items() if len(objects) == copies]
            for start in range(0, len(alike), _BLOCK):
                unfit += _meet_objects(alike[start : start + _BLOCK], literals, reasoner, allowed, candidates)
        # Where an object made up is not in the set after all, or violates a constraint, the solver finds one.
        waiting = {}
        for literal in unfit:
            found = reasoner.find([literal, *allowed])
            if found is not None:
                waiting[literal] = [found]
    return candidates


def _meet_objects(
    objects: Sequence[tuple[int, list[set[int]]]],
    literals: Sequence[int],
    reasoner: Reasoner,
    allowed: Sequence[int],
    candidates: dict[int, Sequence[int]],
) -> list[int]:
    """Find the literals that contain all objects of each; return the literals whose objects are unfit for them."""
    width, copies = len(objects), len(objects[0][1])
    mask = (1 << width) - 1
    given: dict[int, int] = {}
    for column, (_, copied) in enumerate(objects):
        for copy, parts in enumerate(copied):
            bit = 1 << column + copy * width
            for node in parts:
                given[node] = given.get(node, 0) | bit
    values = reasoner.graph.spread(given)

    def value(literal: int) -> int:
        one = every = ~values[literal >> 1] if literal & 1 else values[literal >> 1]
        for copy in range(1, copies):
            every &= one >> copy * width
        return every & mask

    valid = mask
    for constraint in chain(reasoner.constraints, allowed):
        valid &= value(constraint)
    fit = [bool((valid & value(literal)) >> column & 1) for column, (literal, _) in enumerate(objects)]
    wanted = int("".join("01"[one] for one in reversed(fit)), 2)
    containing: list[array[int]] = [array("q") for _ in objects]
    for other in literals:
        for column in _bits(value(other) & wanted):
            containing[column].append(other)
    candidates.update(
        (literal, found) for (literal, _), found, one in zip(objects, containing, fit, strict=True) if one
    )
    return [literal for column, (literal, _) in enumerate(objects) if not fit[column]]


def _bits(value: int) -> Iterator[int]:
    while value:
        lowest = value & -value
        yield lowest.bit_length() - 1
        value ^= lowest
