"""Find minimal conflicts: formulas that cannot all be true, without a superfluous formula.

A formula is necessary if some world satisfies all other formulas. The search finds a world, which is then *rotated*:
the offending objects are moved into, or out of, a single set; if the world then violates a single formula, this formula
is necessary, too. So a chain of ten thousand facts takes a single search (Belov and Marques-Silva, "Accelerating MUS
extraction with recursive model rotation", 2011).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from provenn.logic.hypercubes.masks import iterate_bits
from provenn.logic.knowledge.formulas import Disjunction, Formula, Inhabited
from provenn.logic.knowledge.graph import PART
from provenn.logic.knowledge.reasoner import Reasoner
from provenn.logic.knowledge.search import Claims, WorldSearch

__all__ = ["Case", "Resolution", "find_conflict", "find_minimal_conflict", "minimize_conflict"]

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
    return None if isinstance(numbers, Resolution) else minimize_conflict(search, cases, numbers)


def minimize_conflict(search: WorldSearch, cases: Sequence[Case], numbers: list[int]) -> list[int]:
    """Return the numbers of formulas that conflict in every case, without a superfluous formula, from those that do."""
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
        self._all, self._fixed = (1 << len(self._objects)) - 1, (1 << fixed) - 1
        self._speakers: dict[int, list[int]] = {}  # literal -> the formulas with this literal
        for number, formula in formulas.items():
            for literal in _iterate_literals(formula):
                self._speakers.setdefault(literal, []).append(number)
        self._cones = {literal: graph.cone([literal], set()) for literal in self._speakers}
        self._parts = {
            literal: [node for node in cone if graph.right[node] == PART] for literal, cone in self._cones.items()
        }
        self._made_of: dict[int, list[int]] = {}  # part -> the literals made of this part
        for literal, parts in self._parts.items():
            for part in parts:
                self._made_of.setdefault(part, []).append(literal)
        self._above: dict[int, list[int]] = {}  # part -> the nodes made of this part, each after its operands
        self._values = {0: 0, **dict.fromkeys(self._made_of, 0)}  # node -> the objects in this node (as bits)
        for place, parts_of_object in enumerate(self._objects):
            for part in parts_of_object & self._made_of.keys():
                self._values[part] |= 1 << place
        self._evaluate(sorted({node for cone in self._cones.values() for node in cone} - self._made_of.keys()))
        self._inside = {literal: self._find_inside(literal) for literal in self._speakers}

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
        for place in iterate_bits(places):
            self._objects[place] ^= {part}
        changed = self._made_of.get(part, ())
        self._values[part] = self._values.get(part, 0) ^ places
        if part not in self._above:
            self._above[part] = self._find_nodes_above(part, changed)
        self._evaluate(self._above[part])
        for literal in changed:
            self._inside[literal] = self._find_inside(literal)

    def _find_nodes_above(self, part: int, literals: Iterable[int]) -> list[int]:
        """Return the nodes below some literals that are made of a part, each after its operands."""
        left, right = self._graph.left, self._graph.right
        above = {part}
        for node in sorted({node for literal in literals for node in self._cones[literal]}):
            if right[node] != PART and (left[node] >> 1 in above or right[node] >> 1 in above):
                above.add(node)
        return sorted(above - {part})

    def _evaluate(self, nodes: Iterable[int]) -> None:
        """Find the objects in nodes that are no parts, each after its operands."""
        left, right, values = self._graph.left, self._graph.right, self._values
        for node in nodes:
            a, b = left[node], right[node]
            values[node] = (values[a >> 1] ^ -(a & 1)) & (values[b >> 1] ^ -(b & 1))

    def _find_inside(self, literal: int) -> int:
        """Return the objects in a literal (as bits)."""
        return (self._values[literal >> 1] ^ -(literal & 1)) & self._all

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


def _iterate_literals(formula: Formula) -> Iterator[int]:
    stack = [formula]
    while stack:
        formula = stack.pop()
        if isinstance(formula, Inhabited):
            yield formula.literal
        else:
            stack.extend(formula.parts)
