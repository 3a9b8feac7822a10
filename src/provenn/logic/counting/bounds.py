"""Bounds: the least and the most objects that a set can have, given facts and counts.

Every world that the facts allow is a choice of regions that may hold objects, and of a number of objects for each.
`programme` bounds the number of objects in a set over all numbers; here the answer is made whole:

- facts with a choice (``A <= B or nonempty(C)``) are resolved in every way, each a case of its own;
- an object is whole. Where the best solution has half objects, a region is divided into "at most n" and "at least
  n + 1", and both are solved ("branch and bound": Land and Doig, 1960);
- counts are considered a few at a time, beginning with those that the solution so far violates: fewer counts allow
  more worlds, so each bound on the way is valid, too.

A search that reaches a limit stops with the bounds proved so far. These hold, and may be wider than necessary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor
from typing import Final

from provenn.logic.counting.objects import Objects
from provenn.logic.counting.programme import Effort, Multipliers, Programme, Row
from provenn.logic.knowledge.graph import EVERYTHING
from provenn.logic.terms import Op, Term, chain

__all__ = ["Problem", "ProofCase", "SideProof", "bound_below_or_above"]

_FIRST_ROWS: Final = (24, 12, 6)  # how many counts are considered first: fewer, if the search takes too long
_FURTHER_REGIONS: Final = 100  # the effort for all further counts
_MOST_BRANCHES: Final = 200
_MOST_ROWS_TO_BRANCH: Final = 40
_MOST_OBJECTS_TO_BRANCH: Final = 1_000  # among more objects, half an object hardly matters
_TOLERANCE: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Problem:
    """A question, and what is known in one resolution of the facts.

    Parameters
    ----------
    objects
        The possible objects.
    question
        The literal whose objects are counted.
    rows
        The known counts, the most relevant first.
    terms
        The term of each literal; extended by the regions of branches.
    known
        Objects found so far, shared by the searches for both bounds.
    further
        The effort for counts beyond the most relevant, shared likewise.
    is_divided
        Whether regions are divided until objects are whole, which may take most of the time.
    """

    objects: Objects
    question: int
    rows: tuple[Row, ...]
    terms: dict[int, Term]
    known: list[set[int]] = field(default_factory=list)
    further: Effort = field(default_factory=lambda: Effort(_FURTHER_REGIONS))
    is_divided: bool = True


@dataclass(frozen=True, slots=True)
class ProofCase:
    """A proved inequality, in a case given by further bounds on regions.

    Parameters
    ----------
    suppositions
        What distinguishes this case from the other cases.
    multipliers
        The inequality; with sign 0, it shows that the case is impossible.
    """

    suppositions: tuple[Row, ...]
    multipliers: Multipliers


@dataclass(frozen=True, slots=True)
class SideProof:
    """A proved bound: all cases together leave no other number.

    Parameters
    ----------
    value
        The least number if the sign is 1, the negative of the most if it is -1; None if the counts contradict the
        facts.
    cases
        The cases.
    is_complete
        Whether every count was considered; and among few objects, whether whole numbers reach exactly this bound.
    """

    value: int | None
    cases: tuple[ProofCase, ...]
    is_complete: bool = True


def bound_below_or_above(problem: Problem, sign: int) -> SideProof:
    """Return the least number of objects in the question (sign 1), or the negative of the most (sign -1).

    For the most, the counts with an upper bound must cover the question.
    """
    cover: list[Row] = []
    if sign < 0:
        highs = [row for row in problem.rows if row.high is not None]
        covering = set(problem.objects.find_cover(problem.question, [row.literal for row in highs]) or ())
        cover = [row for row in highs if row.literal in covering]
    best = None
    for number in _FIRST_ROWS:
        active = list(dict.fromkeys([*problem.rows[:number], *cover]))
        branching = _Branching(problem, sign, active, problem.known, Effort())
        best = branching.run()
        if best is not None:
            break
    else:  # nothing was found by searching
        return _prove_least(cover, sign)
    problem.known[:] = branching.root.columns
    while best.value is not None:
        violated = branching.list_violated([row for row in problem.rows if row not in active])
        if not violated:
            return best
        active += violated[: len(active)]
        branching = _Branching(problem, sign, active, problem.known, problem.further)
        proof = branching.run()
        problem.known[:] = branching.root.columns
        if proof is None:  # the effort is used up: what was proved before stays valid
            return SideProof(best.value, best.cases, is_complete=False)
        if proof.value is None or proof.value > best.value:
            best = proof
    return best


def _prove_least(cover: Sequence[Row], sign: int) -> SideProof:
    """Return a bound that needs no search: 0 objects at least; at most the sum over all sets of a cover."""
    multipliers = Multipliers(tuple((row, Fraction(-1)) for row in cover), sign)
    return SideProof(ceil(multipliers.value), (ProofCase((), multipliers),), is_complete=False)


@dataclass(frozen=True, slots=True)
class _OpenCase:
    """A case that may be divided further."""

    value: int
    case: ProofCase
    programme: Programme
    solution: list[tuple[set[int], float]]


class _Branching:
    """Branch and bound over regions with a fraction of an object in the solution."""

    def __init__(
        self, problem: Problem, sign: int, rows: Sequence[Row], seeds: Sequence[set[int]], effort: Effort
    ) -> None:
        self._problem, self._sign, self._rows, self._effort = problem, sign, tuple(rows), effort
        literals = dict.fromkeys([problem.question, *(row.literal for row in rows)])
        invented = [parts for literal in literals for parts in problem.objects.invent(literal)]
        self.root = Programme(problem.objects, problem.question, self._rows, [*invented, *seeds], effort)
        self._branches = (
            problem.is_divided
            and len(rows) <= _MOST_ROWS_TO_BRANCH
            and all(max(row.low, row.high or 0) <= _MOST_OBJECTS_TO_BRANCH for row in rows)
        )
        self._solution: list[tuple[set[int], float]] = []
        self._reached: int | None = None  # the best value of whole numbers so far

    def run(self) -> SideProof | None:
        """Return the proof of the bound; None if no inequality was found."""
        root = self._solve((), self.root)
        if root is None or isinstance(root, ProofCase):
            return None if root is None else SideProof(None, (root,))
        self._solution = root.solution
        if self._reached == root.value or not self._branches:
            return SideProof(root.value, (root.case,))
        return self._divide(root)

    def _solve(self, suppositions: tuple[Row, ...], programme: Programme) -> _OpenCase | ProofCase | None:
        """Return an open case, a case that is impossible, or None if no inequality was found."""
        contradiction = programme.find_contradiction()
        if contradiction is not None:
            return ProofCase(suppositions, contradiction)
        multipliers = programme.bound_question(self._sign)
        if multipliers is None:
            return None
        solution = programme.list_solution()
        number = programme.find_whole_solution(search=self._branches)
        if number is not None and (self._reached is None or self._sign * number < self._reached):
            self._reached = self._sign * number
        return _OpenCase(ceil(multipliers.value), ProofCase(suppositions, multipliers), programme, solution)

    def _divide(self, root: _OpenCase) -> SideProof:
        """Divide cases until whole numbers reach the bound, or the branches are used up."""
        open_cases, closed = [root], list[ProofCase]()
        for _ in range(_MOST_BRANCHES):
            worst = min(open_cases, key=lambda case: case.value, default=None)
            region = None if worst is None or worst.value == self._reached else self._choose_region(worst.solution)
            if worst is None or region is None:
                break
            open_cases.remove(worst)
            literal, number = region
            for supposition in (Row(literal, 0, number), Row(literal, number + 1, None)):
                suppositions = (*worst.case.suppositions, supposition)
                rows = (*self._rows, *suppositions)
                part = self._solve(
                    suppositions,
                    Programme(
                        self._problem.objects, self._problem.question, rows, worst.programme.columns, self._effort
                    ),
                )
                if isinstance(part, ProofCase):
                    closed.append(part)
                elif part is None or part.value < worst.value:  # the bound of the divided case holds in both parts
                    closed_case = ProofCase(suppositions, worst.case.multipliers)
                    open_cases.append(_OpenCase(worst.value, closed_case, worst.programme, []))
                else:
                    open_cases.append(part)
        value = min((case.value for case in open_cases), default=None)
        if value == root.value:
            return SideProof(value, (root.case,), is_complete=value == self._reached)
        cases = (*closed, *(case.case for case in open_cases))
        return SideProof(value, cases, is_complete=value in (None, self._reached))

    def _choose_region(self, solution: Sequence[tuple[set[int], float]]) -> tuple[int, int] | None:
        """Return the literal of a region with a fraction of an object in a solution, and its whole objects."""
        objects = self._problem.objects
        for parts, value in solution:
            if abs(value - round(value)) > _TOLERANCE:
                literals = list(dict.fromkeys([self._problem.question, *(row.literal for row in self._rows)]))
                region, operands = EVERYTHING, list[Term]()
                for literal, inside in zip(literals, objects.contains(literals, parts), strict=True):
                    region = objects.graph.meet(region, literal if inside else literal ^ 1)
                    operands.append(self._problem.terms[literal] if inside else ~self._problem.terms[literal])
                self._problem.terms.setdefault(region, chain(Op.AND, tuple(operands)))
                return region, floor(value)
        return None

    def list_violated(self, rows: Sequence[Row]) -> list[Row]:
        """Return the rows whose counts differ in the solution, in their order."""
        totals = [0.0] * len(rows)
        literals = [row.literal for row in rows]
        for parts, value in self._solution:
            for place, inside in enumerate(self._problem.objects.contains(literals, parts)):
                totals[place] += value * inside
        return [row for row, total in zip(rows, totals, strict=True) if _is_violated(row, total)]


def _is_violated(row: Row, total: float) -> bool:
    return total < row.low - _TOLERANCE or (row.high is not None and total > row.high + _TOLERANCE)
