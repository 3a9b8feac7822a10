"""Minimal conflicts: formulas that cannot all be true, none of which can be left out.

A formula is necessary if some world makes all the others true. Such a world is found once and then *rotated*: where
it violates just one other formula after the offending objects were put into, or out of, a single set, that other one
is necessary too. So a chain of ten thousand facts takes one search, not ten thousand (Belov and Marques-Silva,
"Accelerating MUS extraction with recursive model rotation", 2011).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from provenn.logic.knowledge.formulas import Formula, Inhabited, Some
from provenn.logic.knowledge.graph import PART, Graph
from provenn.logic.knowledge.search import Claims, Search

__all__ = ["Case", "minimal_conflict"]

# The number of the formula that holds in any case.
_ALWAYS: Final = -1

# How many sets of a violated formula a rotation tries, and of how many literals each may be a part: a set that matters
# to many formulas hardly ever matters to one alone.
_MOST_SETS: Final = 16
_MOST_LITERALS: Final = 64


class Case(NamedTuple):
    """Formulas that may conflict, and one that holds in any case."""

    formulas: Sequence[Formula]
    always: Formula


class _WayOut(NamedTuple):
    """A case in which formulas do not conflict, and claims that make them true."""

    case: Case
    claims: Claims


def minimal_conflict(search: Search, cases: Sequence[Case]) -> list[int] | None:
    """Return the numbers of formulas that conflict in every case, no more than it takes.

    Parameters
    ----------
    search
        The search for worlds.
    cases
        The same number of formulas each, numbered alike.

    Returns
    -------
    list or None
        None if in some case all the formulas can be true.
    """
    numbers = _conflict(search, cases, range(len(cases[0].formulas)) if cases else ())
    if isinstance(numbers, _WayOut):
        return None
    needed: set[int] = set()
    while untried := [number for number in numbers if number not in needed]:
        tried = untried[len(untried) // 2]  # in a chain that rotates one way only, half of the rest will follow
        fewer = _conflict(search, cases, [number for number in numbers if number != tried])
        if isinstance(fewer, list):
            numbers = fewer
            continue
        case, claims = fewer
        formulas = {number: case.formulas[number] for number in numbers} | {_ALWAYS: case.always}
        world = _World(search.reasoner.graph, formulas, search.objects(claims), fixed=int(search.open_universe))
        needed |= world.necessary(tried, needed)
    return numbers


def _conflict(search: Search, cases: Sequence[Case], numbers: Sequence[int]) -> list[int] | _WayOut:
    """Return those of the formulas that are to blame for the conflict in every case, or a case without one."""
    blamed: set[int] = set()
    for case in cases:
        found = search.conflict([case.always, *(case.formulas[number] for number in numbers)])
        if isinstance(found, Claims):
            return _WayOut(case, found)
        blamed.update(numbers[place - 1] for place in found if place)
    return sorted(blamed)


class _World:
    """A world that is changed one set at a time.

    Parameters
    ----------
    graph
        The sets, each label a part of everything.
    formulas
        What is said of it, numbered.
    objects
        The part nodes each object is in.
    fixed
        How many of the objects, counted from the first, stay as they are.
    """

    def __init__(self, graph: Graph, formulas: dict[int, Formula], objects: Sequence[set[int]], fixed: int) -> None:
        self._graph = graph
        self._formulas = formulas
        self._objects = [set(parts) for parts in objects]
        self._fixed = (1 << fixed) - 1
        self._speakers: dict[int, list[int]] = {}  # literal -> the formulas that speak of it
        for number, said in formulas.items():
            for literal in _literals(said):
                self._speakers.setdefault(literal, []).append(number)
        self._parts = {literal: self._parts_of(literal) for literal in self._speakers}
        self._made_of: dict[int, list[int]] = {}  # part -> the literals made of it
        for literal, parts in self._parts.items():
            for part in parts:
                self._made_of.setdefault(part, []).append(literal)
        given: dict[int, int] = {}
        for place, one in enumerate(self._objects):
            for part in one:
                given[part] = given.get(part, 0) | 1 << place
        values, every = graph.spread(given), (1 << len(self._objects)) - 1
        self._inside = {  # literal -> the objects in it, as the bits of a number
            literal: (values[literal >> 1] ^ -(literal & 1)) & every for literal in self._speakers
        }

    def necessary(self, violated: int, known: set[int]) -> set[int]:
        """Return, given a first one, formulas that are the only one violated in some world, and those known to be."""
        necessary = {violated, *known}
        walk = [((0, 0), self._steps(violated))]
        while walk:
            back, steps = walk[-1]
            for step in steps:
                self._flip(*step)
                broken = self._broken(step[1])
                if len(broken) == 1 and not necessary.issuperset(broken):
                    necessary.update(broken)
                    walk.append((step, self._steps(broken[0])))
                    break
                self._flip(*step)
            else:
                walk.pop()
                self._flip(*back)
        return necessary

    def _steps(self, violated: int) -> Iterator[tuple[int, int]]:
        """Objects (as bits) and a part, for each change that may mend a formula."""
        steps = [
            (offending, part)
            for literal in _literals(self._formulas[violated])
            if (offending := self._inside[literal] & ~self._fixed)
            for part in islice(self._parts[literal], _MOST_SETS)
            if len(self._made_of[part]) <= _MOST_LITERALS
        ]
        return iter(steps)

    def _flip(self, places: int, part: int) -> None:
        """Put objects that are in a part out of it, and those that are not into it."""
        holds, inside, changed = self._graph.holds, self._inside, self._made_of.get(part, ())
        for place in _bits(places):
            parts = self._objects[place]
            parts ^= {part}
            values: dict[int, bool] = {}
            for literal in changed:
                if holds(literal, parts, values) != bool(inside[literal] >> place & 1):
                    inside[literal] ^= 1 << place

    def _broken(self, part: int) -> list[int]:
        """Return the formulas that are violated, of those that a change of this part can matter to."""
        touched = {number for literal in self._made_of[part] for number in self._speakers[literal]}
        return [number for number in touched if not self._true(self._formulas[number])]

    def _true(self, one: Formula) -> bool:
        if isinstance(one, Inhabited):
            return bool(self._inside[one.literal]) == one.holds
        return (any if isinstance(one, Some) else all)(map(self._true, one.parts))

    def _parts_of(self, literal: int) -> list[int]:
        return [node for node in self._graph.cone([literal], set()) if self._graph.right[node] == PART]


def _literals(one: Formula) -> Iterator[int]:
    stack = [one]
    while stack:
        one = stack.pop()
        if isinstance(one, Inhabited):
            yield one.literal
        else:
            stack.extend(one.parts)


def _bits(value: int) -> Iterator[int]:
    while value:
        lowest = value & -value
        yield lowest.bit_length() - 1
        value ^= lowest
