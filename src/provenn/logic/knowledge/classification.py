"""Classify all sets at once: find the equal sets, and the direct supersets of each set.

For every set, an object is invented that is in the set and in as few other sets as possible. Only the sets with this
object are candidates for supersets, a handful for each set, and most candidates follow from the definition of the set.
The reasoner decides the rest.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from provenn import deadline, display
from provenn.batches import split_batches
from provenn.logic.hypercubes.masks import iterate_bits
from provenn.logic.knowledge.graph import EMPTY, EVERYTHING, PART, SetGraph
from provenn.logic.knowledge.reasoner import Reasoner

__all__ = ["Classification", "classify_literals"]

_BLOCK: Final = 4096


@dataclass(frozen=True, slots=True)
class Classification:
    """The order of sets by containment.

    Attributes
    ----------
    classes
        The groups of equal sets; each class is sorted, and the classes are sorted by their first label.
    parents
        For the first label of each class, the first labels of the classes directly above it.
    """

    classes: tuple[tuple[str, ...], ...]
    parents: Mapping[str, tuple[str, ...]]

    def _repr_html_(self) -> str:
        return display.classification_html(self.classes, self.parents)


def classify_literals(
    labels: Mapping[str, int], reasoner: Reasoner, apart: Callable[[int, int], bool], allowed: Sequence[int]
) -> Classification:
    """Classify labelled literals.

    Parameters
    ----------
    labels
        The literals to classify, by label.
    reasoner
        The reasoner with the constraints.
    apart
        A function that decides whether two literals are provably disjoint.
    allowed
        Literals of every object, besides the constraints, for a single resolution of the choices among the facts.
    """
    members: dict[int, list[str]] = {}
    for label, literal in labels.items():
        members.setdefault(literal, []).append(label)
    above = _find_supersets(sorted(members), reasoner, apart, allowed)
    names, representative = _name_classes(members, above)
    parents = {}
    for literal, name in names.items():
        deadline.check()
        over = {representative[superset] for superset in above[literal]} - {literal}
        parents[name] = tuple(sorted(names[parent] for parent in _find_direct(over, above, representative)))
    classes = sorted(
        tuple(sorted(label for literal in equal for label in members[literal]))
        for equal in _group_by_representative(representative).values()
    )
    return Classification(tuple(classes), dict(sorted(parents.items())))


def _name_classes(
    members: Mapping[int, list[str]], above: Mapping[int, set[int]]
) -> tuple[dict[int, str], dict[int, int]]:
    """Return the name of each class by its representative, and the representative of each literal."""
    representative: dict[int, int] = {}
    for literal, over in above.items():
        if literal not in representative:
            representative[literal] = literal
            for other in over:
                if literal in above[other]:
                    representative[other] = literal
    names = {
        class_literal: min(min(members[member]) for member in equal)
        for class_literal, equal in _group_by_representative(representative).items()
    }
    return names, representative


def _group_by_representative(representative: Mapping[int, int]) -> dict[int, list[int]]:
    groups: dict[int, list[int]] = {}
    for literal, class_literal in representative.items():
        groups.setdefault(class_literal, []).append(literal)
    return groups


def _find_direct(over: set[int], above: Mapping[int, set[int]], representative: Mapping[int, int]) -> list[int]:
    """Return the classes in `over` that are not above another class in `over`."""
    direct: list[int] = []
    covered: set[int] = set()
    # The class with the most supersets lies lowest, so no later class can lie below it.
    for candidate in sorted(over, key=lambda literal: -len(above[literal])):
        if candidate not in covered:
            direct.append(candidate)
            covered.update(representative[superset] for superset in above[candidate])
    return direct


# -- supersets -------------------------------------------------------------------------------------------------------


def _find_supersets(
    literals: Sequence[int], reasoner: Reasoner, apart: Callable[[int, int], bool], allowed: Sequence[int]
) -> dict[int, set[int]]:
    """Return for each literal the literals that contain it."""
    graph = reasoner.graph
    all_literals = set(literals)
    candidates = _find_candidates(literals, reasoner, allowed)
    above: dict[int, set[int]] = {}
    for literal in literals:
        deadline.check()
        if literal not in candidates and apart(literal, literal):
            above[literal] = all_literals - {literal}
            continue
        known = _find_known_supersets(graph, literal, above, all_literals)
        known.discard(literal)
        witnesses: int | None = None
        for other in candidates.pop(literal, literals):
            if other in known or other == literal:
                continue
            if witnesses is None:
                witnesses, values = _find_witnesses(literal, reasoner, allowed), reasoner.simulation.values
            if witnesses & (values[other >> 1] if other & 1 else ~values[other >> 1]):
                continue
            if _follows_from_supersets(graph, other, literal, known) or apart(literal, other ^ 1):
                known.add(other)
            witnesses = None  # the question may have added objects to the simulation
        above[literal] = known
    return above


def _find_witnesses(literal: int, reasoner: Reasoner, allowed: Sequence[int]) -> int:
    """Return the simulated objects in a literal that are possible: the literal is in no set that lacks one of them.

    With a theory, simulated objects may be impossible, so that none of them counts.
    """
    if reasoner.check is not None:
        return 0
    reasoner.simulation.refresh()
    witnesses = reasoner.find_valid_objects()
    for known in (literal, *allowed):
        witnesses &= reasoner.simulation.value(known)
    return witnesses


def _find_known_supersets(
    graph: SetGraph, literal: int, above: Mapping[int, set[int]], all_literals: set[int]
) -> set[int]:
    """Return the supersets of a literal that follow from the supersets of its operands."""
    node = literal >> 1
    if literal == EVERYTHING or (literal & 1 and graph.right[node] == PART):
        return set()
    if literal & 1:
        left, right = graph.left[node] ^ 1, graph.right[node] ^ 1
        if left in above and right in above:
            return (above[left] | {left}) & (above[right] | {right})
        return set()
    known: set[int] = set()
    stack = [graph.left[node], graph.right[node]]
    while stack:
        operand = stack.pop()
        if operand in above:
            known.add(operand)
            known |= above[operand]
        elif operand > EVERYTHING and not operand & 1:
            stack += (graph.left[operand >> 1], graph.right[operand >> 1])
    if EVERYTHING in all_literals:
        known.add(EVERYTHING)
    return known


def _follows_from_supersets(graph: SetGraph, other: int, literal: int, known: set[int]) -> bool:
    """Return whether the known supersets of a literal imply that `other` contains the literal."""
    node = other >> 1
    if other <= EVERYTHING or graph.right[node] == PART:
        return False
    left, right = graph.left[node], graph.right[node]
    if other & 1:
        return left ^ 1 in known or right ^ 1 in known or literal in (left ^ 1, right ^ 1)
    return (left in known or left == literal) and (right in known or right == literal)


def _find_candidates(literals: Sequence[int], reasoner: Reasoner, allowed: Sequence[int]) -> dict[int, Sequence[int]]:
    """Return for each inhabitable literal the literals with all objects invented for it."""
    candidates: dict[int, Sequence[int]] = {}
    waiting: dict[int, list[set[int]]] = {}
    for literal in literals:
        deadline.check()
        if literal != EMPTY:
            waiting[literal] = reasoner.graph.invent_objects(literal)
    is_invented = True
    while waiting:
        unfit: list[int] = []
        for copies in (1, 2):
            same_copies = [(literal, objects) for literal, objects in waiting.items() if len(objects) == copies]
            for batch in split_batches(same_copies, _BLOCK):
                unfit += _find_containing(batch, literals, reasoner, allowed, candidates, is_invented=is_invented)
        # If an invented object is not in the set, or violates a constraint, the solver finds an object.
        waiting, is_invented = {}, False
        for literal in unfit:
            deadline.check()
            witness = reasoner.find([literal, *allowed], whole=True)
            if witness is not None:
                waiting[literal] = [witness]
    return candidates


def _find_containing(
    objects: Sequence[tuple[int, list[set[int]]]],
    literals: Sequence[int],
    reasoner: Reasoner,
    allowed: Sequence[int],
    candidates: dict[int, Sequence[int]],
    *,
    is_invented: bool,
) -> list[int]:
    """Find the literals with all objects of each literal; return the literals with unfit objects.

    A theory, if present, is asked about invented objects; the solver has asked the theory about all other objects.
    """
    width, copies = len(objects), len(objects[0][1])
    mask = (1 << width) - 1
    bits_by_part: dict[int, int] = {}
    for column, (_, copies_of_object) in enumerate(objects):
        for copy, parts in enumerate(copies_of_object):
            bit = 1 << column + copy * width
            for node in parts:
                bits_by_part[node] = bits_by_part.get(node, 0) | bit
    values = reasoner.graph.spread(bits_by_part)

    def value(literal: int) -> int:
        bits = common = ~values[literal >> 1] if literal & 1 else values[literal >> 1]
        for copy in range(1, copies):
            common &= bits >> copy * width
        return common & mask

    valid = mask
    for constraint in chain(reasoner.constraints, allowed):
        valid &= value(constraint)
    fit = [bool((valid & value(literal)) >> column & 1) for column, (literal, _) in enumerate(objects)]
    if reasoner.check is not None and is_invented:
        for column in range(width):
            places = range(column, column + copies * width, width)
            fit[column] = fit[column] and not any(reasoner.is_refuted(values, place) for place in places)
    wanted = int("".join("01"[is_fit] for is_fit in reversed(fit)), 2)
    containing: list[array[int]] = [array("q") for _ in objects]
    for other in literals:
        deadline.check()
        for column in iterate_bits(value(other) & wanted):
            containing[column].append(other)
    candidates.update(
        (literal, supersets) for (literal, _), supersets, is_fit in zip(objects, containing, fit, strict=True) if is_fit
    )
    return [literal for column, (literal, _) in enumerate(objects) if not fit[column]]
