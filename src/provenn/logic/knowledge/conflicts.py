"""Find minimal conflicts: formulas that cannot all be true, without a superfluous formula.

A formula is necessary if some world satisfies all other formulas. The search finds a world, which is then *rotated*:
the offending objects are moved into, or out of, a single set; if the world then violates a single formula, this formula
is necessary, too. So a chain of ten thousand facts takes a single search (Belov and Marques-Silva, "Accelerating MUS
extraction with recursive model rotation", 2011).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from provenn.logic.hypercubes.masks import iterate_bits
from provenn.logic.knowledge.formulas import Disjunction, Formula, Inhabited
from provenn.logic.knowledge.graph import PART
from provenn.logic.knowledge.reasoner import Reasoner
from provenn.logic.knowledge.search import Claims, WorldSearch

__all__ = ["Case", "Resolution", "find_conflict", "find_minimal_conflict"]

# The number of the formula that always holds.
_ALWAYS: Final = -1

# The most sets of a violated formula that a rotation tries, and the most literals made of such a set: moving objects
# in a set that many formulas use hardly ever violates a single formula.
_MOST_SETS: Final = 16
_MOST_LITERALS: Final = 64


class Case(NamedTuple):
    """Formulas that may conflict, and a formula that always holds."""

    formulas: Sequence[Formula]
    always: Formula


class Resolution(NamedTuple):
    """A case without a conflict, and claims that make its formulas true."""

    case: Case
    claims: Claims


def find_minimal_conflict(search: WorldSearch, cases: Sequence[Case]) -> list[int] | None:
    """Return the numbers of formulas that conflict in every case, without a superfluous formula.

    Parameters
    ----------
    search
        The search for worlds.
    cases
        The cases, with the same number of formulas in the same order.

    Returns
    -------
    list or None
        The numbers, or None if all formulas can be true in some case.
    """
    numbers = find_conflict(search, cases, range(len(cases[0].formulas)) if cases else ())
    if isinstance(numbers, Resolution):
        return None
    needed: set[int] = set()
    while untried := [number for number in numbers if number not in needed]:
        tried = untried[
            len(untried) // 2
        ]  # in a chain that rotates in a single direction, half of the rest will follow
        fewer = find_conflict(search, cases, [number for number in numbers if number != tried])
        if isinstance(fewer, list):
            numbers = fewer
            continue
        case, claims = fewer
        formulas = {number: case.formulas[number] for number in numbers} | {_ALWAYS: case.always}
        world = _ChangingWorld(search.reasoner, formulas, search.objects(claims), fixed=int(search.open_universe))
        needed |= world.find_necessary(tried, needed)
    return numbers


def find_conflict(search: WorldSearch, cases: Sequence[Case], numbers: Sequence[int]) -> list[int] | Resolution:
    """Return the formulas to blame for the conflict in every case, or a case without a conflict."""
    blamed: set[int] = set()
    for case in cases:
        result = search.conflict([case.always, *(case.formulas[number] for number in numbers)])
        if isinstance(result, Claims):
            return Resolution(case, result)
        blamed.update(numbers[place - 1] for place in result if place)
    return sorted(blamed)


class _ChangingWorld:
    """A world with operations that move objects into or out of a single set.

    Parameters
    ----------
    reasoner
        The sets, of which each label is a part of everything, and a theory that objects must respect, or none.
    formulas
        The formulas about the world, by number.
    objects
        The part nodes of each object.
    fixed
        The number of objects, counted from the first, that stay unchanged.
    """

    def __init__(
        self, reasoner: Reasoner, formulas: dict[int, Formula], objects: Sequence[set[int]], fixed: int
    ) -> None:
        graph = self._graph = reasoner.graph
        self._reasoner = reasoner
        self._formulas = formulas
        self._objects = [set(parts) for parts in objects]
        self._fixed = (1 << fixed) - 1
        self._speakers: dict[int, list[int]] = {}  # literal -> the formulas with this literal
        for number, formula in formulas.items():
            for literal in _iterate_literals(formula):
                self._speakers.setdefault(literal, []).append(number)
        self._parts = {literal: self._find_parts(literal) for literal in self._speakers}
        self._made_of: dict[int, list[int]] = {}  # part -> the literals made of this part
        for literal, parts in self._parts.items():
            for part in parts:
                self._made_of.setdefault(part, []).append(literal)
        objects_by_part: dict[int, int] = {}
        for place, parts_of_object in enumerate(self._objects):
            for part in parts_of_object:
                objects_by_part[part] = objects_by_part.get(part, 0) | 1 << place
        values, all_objects = graph.spread(objects_by_part), (1 << len(self._objects)) - 1
        self._inside = {  # literal -> the objects in this literal, as the bits of a number
            literal: (values[literal >> 1] ^ -(literal & 1)) & all_objects for literal in self._speakers
        }

    def find_necessary(self, violated: int, known: set[int]) -> set[int]:
        """Return the known necessary formulas, and formulas that are the only violated formula in some world."""
        necessary = {violated, *known}
        walk = [((0, 0), self._list_steps(violated))]
        while walk:
            last_step, steps = walk[-1]
            for step in steps:
                self._flip(*step)
                now_violated = self._find_violated(step[1])
                if len(now_violated) == 1 and not necessary.issuperset(now_violated) and self._is_real(step[0]):
                    necessary.update(now_violated)
                    walk.append((step, self._list_steps(now_violated[0])))
                    break
                self._flip(*step)
            else:
                walk.pop()
                self._flip(*last_step)
        return necessary

    def _list_steps(self, violated: int) -> Iterator[tuple[int, int]]:
        """Return the changes that may satisfy a formula: each has objects (as bits) and a part."""
        steps = [
            (offending, part)
            for literal in _iterate_literals(self._formulas[violated])
            if (offending := self._inside[literal] & ~self._fixed)
            for part in islice(self._parts[literal], _MOST_SETS)
            if len(self._made_of[part]) <= _MOST_LITERALS
        ]
        return iter(steps)

    def _flip(self, places: int, part: int) -> None:
        """Move objects into a part if they are outside, and out of the part if they are inside."""
        holds, inside, changed = self._graph.holds, self._inside, self._made_of.get(part, ())
        for place in iterate_bits(places):
            parts = self._objects[place]
            parts ^= {part}
            values: dict[int, bool] = {}
            for literal in changed:
                if holds(literal, parts, values) != bool(inside[literal] >> place & 1):
                    inside[literal] ^= 1 << place

    def _is_real(self, places: int) -> bool:
        """Return whether the theory, if there is one, accepts some objects."""
        return all(self._reasoner.refute(self._objects[place]) is None for place in iterate_bits(places))

    def _find_violated(self, part: int) -> list[int]:
        """Return the violated formulas among the formulas that a change of this part can affect."""
        touched = {number for literal in self._made_of[part] for number in self._speakers[literal]}
        return [number for number in touched if not self._is_true(self._formulas[number])]

    def _is_true(self, formula: Formula) -> bool:
        if isinstance(formula, Inhabited):
            return bool(self._inside[formula.literal]) == formula.holds
        return (any if isinstance(formula, Disjunction) else all)(map(self._is_true, formula.parts))

    def _find_parts(self, literal: int) -> list[int]:
        return [node for node in self._graph.cone([literal], set()) if self._graph.right[node] == PART]


def _iterate_literals(formula: Formula) -> Iterator[int]:
    stack = [formula]
    while stack:
        formula = stack.pop()
        if isinstance(formula, Inhabited):
            yield formula.literal
        else:
            stack.extend(formula.parts)
