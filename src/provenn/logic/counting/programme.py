"""The linear programme of a counting problem, with columns generated as they are needed.

Every possible object belongs to a region of the sets, and the number of objects of each region is unknown. A known
count is a row: the numbers of the regions inside the set add up to it. There are far too many regions to list; a region
is added only if it can improve the solution ("column generation": Dantzig and Wolfe, 1960; for counts of sets: Hooker,
"Column generation in probabilistic logic", 1988). Which region can is a question of weighted MaxSAT.

The solver proposes a multiplier for each row. Multipliers are made rational, and the last question of the search, that
no possible object violates their inequality, is decided in whole numbers. So what `Multipliers.value` says is proved,
whatever the floating-point numbers were.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, lcm
from typing import Final, NamedTuple

from provenn import deadline
from provenn.logic.counting.linear import LinearProgram
from provenn.logic.counting.objects import Objects
from provenn.logic.knowledge.budget import RanOutError

__all__ = ["Effort", "Multipliers", "Programme", "Row"]

_DENOMINATORS: Final = (60, 5_040, 1_000_000)  # multipliers are nearly always fractions of small numbers
_TOLERANCE: Final = 1e-6


class Row(NamedTuple):
    """A literal, with the least and the most objects in it."""

    literal: int
    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class Multipliers:
    """A proved inequality: the factors of the rows of any possible object add up to at most `sign` times its question.

    So the sum of ``factor * count`` over the rows is at most ``sign * count of the question``, whatever the counts are.
    """

    factors: tuple[tuple[Row, Fraction], ...]
    sign: int

    @property
    def value(self) -> Fraction:
        """What the sum is at least: a positive factor uses the lower bound of its count, a negative one the upper."""
        return sum(
            (factor * (row.low if factor > 0 else row.high or 0) for row, factor in self.factors), start=Fraction(0)
        )


@dataclass(slots=True)
class Effort:
    """The number of regions that may still be generated: the same on every machine."""

    regions: int = 2_000


class Programme:
    """The linear programme about the number of objects in a question.

    Parameters
    ----------
    objects
        The possible objects.
    question
        The literal whose objects are counted.
    rows
        The known counts.
    seeds
        Objects to begin with, each as its part nodes.
    effort
        The effort that searches may take.
    """

    def __init__(
        self,
        objects: Objects,
        question: int,
        rows: Sequence[Row],
        seeds: Iterable[set[int]] = (),
        effort: Effort | None = None,
    ) -> None:
        self._effort = effort or Effort()
        self.objects, self.question, self.rows = objects, question, rows
        self.columns: list[set[int]] = []
        self._inside: list[bool] = []  # whether the object of a column is in the question
        self._known: set[tuple[bool, ...]] = set()
        self._literals = [question, *(row.literal for row in rows)]
        self._linear = LinearProgram([row.low for row in rows], [inf if row.high is None else row.high for row in rows])
        for number in range(len(rows)):  # what is missing from a row, and what is too much in it
            self._linear.add_column(1.0, [number])
            self._linear.add_column(1.0, [number], factor=-1.0)
        for parts in seeds:
            self._add_column(parts, 0)

    def _add_column(self, parts: set[int], sign: int) -> bool:
        """Add the region of an object; return False if it is known."""
        memberships = tuple(self.objects.contains(self._literals, parts))
        if memberships in self._known:
            return False
        self._known.add(memberships)
        self.columns.append(parts)
        self._inside.append(memberships[0])
        self._linear.add_column(
            float(sign * memberships[0]), [number for number, inside in enumerate(memberships[1:]) if inside]
        )
        return True

    def find_contradiction(self) -> Multipliers | None:
        """Return multipliers whose value is above 0, so that counts contradict facts; None if there are none."""
        multipliers = self._minimise(0)
        return multipliers if multipliers is not None and multipliers.value > 0 else None

    def bound_question(self, sign: int) -> Multipliers | None:
        """Return multipliers for the question, or for its negative; None if the search finds none.

        The counts must not contradict the facts: see `find_contradiction`.
        """
        return self._minimise(sign)

    def _minimise(self, sign: int) -> Multipliers | None:
        """Minimise `sign` times the question; for sign 0, minimise the deviation from the known counts."""
        slack = 2 * len(self.rows)
        self._linear.set_costs(
            [float(sign == 0)] * slack + [float(sign * inside) for inside in self._inside],
            highest=[0.0 if sign else inf] * slack + [inf] * len(self.columns),
        )
        denominators = iter(_DENOMINATORS)
        denominator = next(denominators)
        while self._effort.regions > 0:
            deadline.check()
            self._effort.regions -= 1
            cost = self._linear.minimise()
            if cost is None or (sign == 0 and cost < _TOLERANCE):
                return None
            factors = [
                _make_rational(dual, row, denominator)
                for row, dual in zip(self.rows, self._linear.duals(), strict=True)
            ]
            try:
                parts = self._find_improvement(factors, sign)
            except RanOutError:
                self._effort.regions = 0
                return None
            if parts is None:
                pairs = zip(self.rows, factors, strict=True)
                return Multipliers(tuple((row, factor) for row, factor in pairs if factor), sign)
            if not self._add_column(parts, sign):  # rounding made the multipliers worse
                denominator = next(denominators, 0)
                if not denominator:
                    return None
        return None

    def _find_improvement(self, factors: Sequence[Fraction], sign: int) -> set[int] | None:
        """Return an object for which the factors of its rows add up to more than `sign` times the question."""
        scale = lcm(*(factor.denominator for factor in factors))
        weights = {self.question: -sign * scale}
        for row, factor in zip(self.rows, factors, strict=True):
            if factor:
                weights[row.literal] = weights.get(row.literal, 0) + int(factor * scale)
        return self.objects.find_heaviest(weights)

    def list_solution(self) -> list[tuple[set[int], float]]:
        """Return the objects of the last solution, each with the number of objects of its region."""
        values = self._linear.values()[2 * len(self.rows) :]
        return [(parts, value) for parts, value in zip(self.columns, values, strict=True) if value > _TOLERANCE]

    def find_whole_solution(self, *, search: bool) -> int | None:
        """Return the number of objects in the question for whole numbers that fit all counts, close to the best.

        The numbers are checked in exact arithmetic. None if there are none close to the last solution, and also none
        that a search finds, if the caller wants a search.
        """
        number = self._count_whole([round(value) for value in self._linear.values()])
        if number is None and search:
            values = self._linear.find_whole_values()
            number = None if values is None else self._count_whole(values)
        return number

    def _count_whole(self, values: Sequence[int]) -> int | None:
        """Return the number of objects in the question, or None if the numbers do not fit all counts exactly."""
        slack = 2 * len(self.rows)
        if any(values[:slack]) or min(values, default=0) < 0:
            return None
        totals = [0] * len(self._literals)
        for parts, number in zip(self.columns, values[slack:], strict=True):
            if number:
                for place, inside in enumerate(self.objects.contains(self._literals, parts)):
                    totals[place] += number * inside
        fits = all(
            row.low <= total and (row.high is None or total <= row.high)
            for row, total in zip(self.rows, totals[1:], strict=True)
        )
        return totals[0] if fits else None


def _make_rational(dual: float, row: Row, denominator: int) -> Fraction:
    """Return a dual as a fraction; an upper bound that is not known gets no factor."""
    scaled = dual * denominator
    is_close = abs(scaled - round(scaled)) < _TOLERANCE
    factor = Fraction(round(scaled), denominator) if is_close else Fraction(dual).limit_denominator(denominator)
    return Fraction(0) if factor < 0 and row.high is None else factor
