"""All worlds of up to four sets, and what is true in each: the oracle of the tests of `Knowledge`.

A world is a number: its bit r says whether region r is inhabited, and bit i of r whether the region lies in set i. What
holds in every world is then one NumPy array over the 2^(2^n) worlds.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property, reduce
from itertools import combinations
from operator import and_, or_

import numpy as np

from provenn.logic import Statement, World
from provenn.logic.statements import And, Not, Or, Property, SetComparison
from provenn.logic.terms import Op, Term

_MOST_KNOWN = 1000


class AllWorlds:
    """The worlds of some sets."""

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = tuple(labels)
        self.regions = range(2 ** len(self.labels))
        self.everything = 2 ** len(self.regions) - 1
        self.worlds = np.arange(self.everything + 1, dtype=np.uint16)
        self._known: dict[Statement, np.ndarray] = {}

    def regions_of(self, term: Term) -> int:
        """The regions that a term consists of, as a mask."""
        stack: list[int] = []
        for token in term.postfix:
            match token:
                case str():
                    bit = self.labels.index(token)
                    stack.append(sum(1 << region for region in self.regions if region >> bit & 1))
                case Op.EMPTY:
                    stack.append(0)
                case Op.NOT:
                    stack.append(self.everything - stack.pop())
                case _:
                    right, left = stack.pop(), stack.pop()
                    both = left & right
                    stack.append(
                        {Op.AND: both, Op.OR: left | right, Op.MINUS: left - both, Op.XOR: (left | right) - both}[token]
                    )
        (regions,) = stack
        return regions

    def contents(self, term: Term) -> np.ndarray:
        """The inhabited regions of a term, in each world."""
        return self.worlds & np.uint16(self.regions_of(term))

    def truth(self, said: Statement) -> np.ndarray:
        """Whether a statement is true, in each world."""
        if said not in self._known:
            if len(self._known) == _MOST_KNOWN:
                self._known.clear()
            self._known[said] = self._truth(said)
        return self._known[said]

    def _truth(self, said: Statement) -> np.ndarray:
        match said:
            case Not(part):
                return ~self.truth(part)
            case And(parts):
                return reduce(and_, map(self.truth, parts))
            case Or(parts):
                return reduce(or_, map(self.truth, parts))
            case SetComparison(operator, left, right):
                return self._compared(operator, self.contents(left), self.contents(right))
            case Property(name, arguments):
                return self._property(name, [self.contents(argument) for argument in arguments])
        raise AssertionError(said)

    def _compared(self, operator: str, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        inside, around = (left | right) == right, (left | right) == left
        return {
            "==": inside & around,
            "!=": ~(inside & around),
            "<=": inside,
            "<": inside & ~around,
            ">=": around,
            ">": around & ~inside,
        }[operator]

    def _property(self, name: str, sets: list[np.ndarray]) -> np.ndarray:
        match name:
            case "empty":
                return sets[0] == 0
            case "nonempty":
                return sets[0] != 0
            case "disjoint":
                return reduce(and_, [(item & other) == 0 for item, other in combinations(sets, 2)])
            case "overlapping":
                return reduce(and_, sets) != 0
            case "outside":
                return reduce(or_, sets) != self.worlds
        raise AssertionError(name)

    @cached_property
    def _some_object_outside(self) -> np.ndarray:
        return (self.worlds & 1) == 1

    def allowed(self, facts: Iterable[Statement], *, open_universe: bool) -> np.ndarray:
        """Whether a world bears out the facts, for each world."""
        allowed = np.ones(len(self.worlds), bool)
        if open_universe:
            allowed &= self._some_object_outside
        for fact in facts:
            allowed &= self.truth(fact)
        return allowed

    def number(self, world: World) -> int:
        """The number of a world that `Knowledge` found."""
        return sum(
            {1 << sum(1 << bit for bit, label in enumerate(self.labels) if label in region) for region in world.regions}
        )

    def hypercubes(self, allowed: np.ndarray, labels: Sequence[str]) -> set[bytes]:
        """What the allowed worlds are between some of the sets, each as the bytes of its array."""
        places = [self.labels.index(label) for label in labels]
        cells = [[region >> place & 1 for place in places] for region in self.regions]
        worlds = np.flatnonzero(allowed)
        inhabited = (worlds[:, None] >> np.arange(len(self.regions)) & 1).astype(bool)
        reduced = np.zeros((len(worlds), *(2 for _ in labels)), bool)
        for region, cell in enumerate(cells):
            reduced[(slice(None), *cell)] |= inhabited[:, region]
        return {cube.tobytes() for cube in reduced}
