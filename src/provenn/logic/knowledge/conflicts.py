"""Minimal conflicts: formulas that cannot all be true, none of which can be left out.

A formula is necessary if some world makes all the others true. Such a world is found once and then *rotated*: where
it violates just one other formula after the offending objects were put into, or out of, a single set, that other one
is necessary too. So a chain of ten thousand facts takes one search, not ten thousand (Belov and Marques-Silva,
"Accelerating MUS extraction with recursive model rotation", 2011).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from provenn.logic.knowledge.formulas import Formula, Inhabited, Some
from provenn.logic.knowledge.graph import PART, Graph
from provenn.logic.knowledge.search import Claims, Search

__all__ = ["minimal_conflict"]

# How many sets of a violated formula a rotation tries, and of how many literals each may be a part: a set that matters
# to many formulas hardly ever matters to one alone.
_MOST_SETS: Final = 16
_MOST_LITERALS: Final = 64


def minimal_conflict(search: Search, formulas: Sequence[Formula], always: Formula) -> list[int] | None:
    """Return the numbers of formulas that conflict with each other and a last one, no more than it takes.

    Parameters
    ----------
    search
        The search for worlds.
    formulas
        What may conflict.
    always
        A formula that holds in any case.

    Returns
    -------
    list or None
        None if all the formulas can be true at once.
    """
    every, last = [*formulas, always], len(formulas)

    def conflict(numbers: Iterable[int]) -> list[int] | Claims:
        tried = [*numbers, last]
        found = search.conflict([every[number] for number in tried])
        return found if isinstance(found, Claims) else [tried[one] for one in found if tried[one] != last]

    numbers = conflict(range(last))
    if isinstance(numbers, Claims):
        return None
    layout = _Layout(search.reasoner.graph, {number: every[number] for number in [*numbers, last]})
    needed: set[int] = set()
    while untried := [number for number in numbers if number not in needed]:
        fewer = conflict(number for number in numbers if number != untried[0])
        if isinstance(fewer, Claims):
            world = _World(layout, search.objects(fewer), fixed=int(search.open_universe))
            needed |= world.necessary(untried[0], {*numbers, last}, needed)
        else:
            numbers = fewer
    return numbers


class _Layout:
    """Which formula speaks of which literals, and which of these are made of which parts."""

    def __init__(self, graph: Graph, formulas: Mapping[int, Formula]) -> None:
        self.graph = graph
        self.formulas = formulas
        self.speakers: dict[int, list[int]] = {}  # literal -> the formulas that speak of it
        for number, one in formulas.items():
            for literal in _literals(one):
                self.speakers.setdefault(literal, []).append(number)
        self.parts = {literal: self._parts(literal) for literal in self.speakers}
        self.made_of: dict[int, list[int]] = {}  # part -> the literals made of it
        for literal, parts in self.parts.items():
            for part in parts:
                self.made_of.setdefault(part, []).append(literal)

    def _parts(self, literal: int) -> list[int]:
        return [node for node in self.graph.cone([literal], set()) if self.graph.right[node] == PART]


class _World:
    """A world that is changed one set at a time.

    Parameters
    ----------
    layout
        What is said of it.
    objects
        The part nodes each object is in.
    fixed
        How many of the objects, counted from the first, stay as they are.
    """

    def __init__(self, layout: _Layout, objects: Sequence[set[int]], fixed: int) -> None:
        self._layout = layout
        self._objects = [set(parts) for parts in objects]
        self._fixed = (1 << fixed) - 1
        holds = layout.graph.holds
        self._inside = {  # the objects in each literal, as the bits of a number
            literal: sum(holds(literal, parts, {}) << place for place, parts in enumerate(objects))
            for literal in layout.speakers
        }

    def necessary(self, violated: int, numbers: set[int], known: set[int]) -> set[int]:
        """Return, given a first one, formulas that are the only one violated in some world, and those known to be."""
        necessary = {violated, *known}
        walk = [((0, 0), self._steps(violated))]
        while walk:
            way, steps = walk[-1]
            for step in steps:
                self._flip(*step)
                broken = self._broken(step[1], numbers)
                if len(broken) == 1 and not necessary.issuperset(broken):
                    necessary.update(broken)
                    walk.append((step, self._steps(broken[0])))
                    break
                self._flip(*step)
            else:
                walk.pop()
                if walk:
                    self._flip(*way)
        return necessary

    def _steps(self, violated: int) -> Iterator[tuple[int, int]]:
        """Objects (as bits) and a part, for each change that may mend a formula."""
        layout = self._layout
        tried = [
            (offending, part)
            for literal in _literals(layout.formulas[violated])
            if (offending := self._inside[literal] & ~self._fixed)
            for part in islice(layout.parts[literal], _MOST_SETS)
            if len(layout.made_of[part]) <= _MOST_LITERALS
        ]
        return iter(tried)

    def _flip(self, places: int, part: int) -> None:
        """Put objects that are in a part out of it, and those that are not into it."""
        changed = self._layout.made_of[part]
        holds, inside, objects = self._layout.graph.holds, self._inside, self._objects
        for place in _bits(places):
            objects[place] ^= {part}
            values: dict[int, bool] = {}
            for literal in changed:
                if holds(literal, objects[place], values) != bool(inside[literal] >> place & 1):
                    inside[literal] ^= 1 << place

    def _broken(self, part: int, numbers: set[int]) -> list[int]:
        """Return the formulas that are violated, of those that a change of this part can matter to."""
        layout = self._layout
        touched = {number for literal in layout.made_of[part] for number in layout.speakers[literal]}
        return [one for one in touched & numbers if not _true(layout.formulas[one], self._inside)]


def _literals(one: Formula) -> Iterator[int]:
    stack = [one]
    while stack:
        one = stack.pop()
        if isinstance(one, Inhabited):
            yield one.literal
        else:
            stack.extend(one.parts)


def _true(one: Formula, inside: Mapping[int, int]) -> bool:
    if isinstance(one, Inhabited):
        return bool(inside[one.literal]) == one.holds
    return (any if isinstance(one, Some) else all)(_true(part, inside) for part in one.parts)


def _bits(value: int) -> Iterator[int]:
    while value:
        lowest = value & -value
        yield lowest.bit_length() - 1
        value ^= lowest
