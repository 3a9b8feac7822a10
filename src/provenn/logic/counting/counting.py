"""Count the objects of a set as far as facts and counts allow: the entry to this room."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil
from typing import Final

from provenn.errors import ContradictionError
from provenn.logic.counting.bounds import Problem, ProofCase, SideProof, bound_below_or_above
from provenn.logic.counting.counts import Count
from provenn.logic.counting.objects import Objects
from provenn.logic.counting.programme import Multipliers, Programme, Row
from provenn.logic.counting.proofs import BoundProof, CountBounds, CountConflict, Inequality
from provenn.logic.counting.relevance import order_rows
from provenn.logic.knowledge.formulas import build_formula
from provenn.logic.knowledge.knowledge import Knowledge
from provenn.logic.knowledge.search import Claims
from provenn.logic.parser import parse_set
from provenn.logic.statements import Statement, empty
from provenn.logic.terms import Op, Term, chain, nothing, term

__all__ = ["bound_count", "bound_numbers", "find_count_conflict"]

_MOST_RESOLUTIONS: Final = 16
_MOST_TRIED_ALONE: Final = 200  # counts that are tried as the whole proof of a bound
_MOST_SHORTENED: Final = 40  # counts of a proof from which superfluous ones are removed
_MOST_EXPLAINED: Final = 9  # sets in an inequality whose facts are found by looking at all their regions


def bound_count(
    knowledge: Knowledge, region: Term | str, counts: Iterable[Count] = (), *, is_divided: bool = True
) -> CountBounds:
    """Return the least and the most objects of a set that facts and counts allow, with the proofs.

    Parameters
    ----------
    knowledge
        The facts.
    region
        The set: a term, or its text.
    counts
        The known counts.
    is_divided
        Whether cases are distinguished where a bound would need a fraction of an object. Without, the search is much
        faster among few objects, and a bound may be wider.

    Raises
    ------
    ContradictionError
        If the facts contradict each other, or the counts; then the conflict is a `CountConflict`.

    Examples
    --------
    >>> from provenn.logic.counting.counts import count
    >>> known = [count("A", 700), count("B", 600), count("C", 1000)]
    >>> print(bound_count(Knowledge(["A <= C", "B <= C"]), "A & B", known))
    at least 300: |A & B| >= |A| + |B| - |C| = 700 + 600 - 1,000 = 300
    at most 600: |A & B| <= |B| = 600
    """
    whole = parse_set(region) if isinstance(region, str) else region
    return _Counting(knowledge, whole, counts, is_divided=is_divided).bound()


def bound_numbers(
    knowledge: Knowledge, region: Term, counts: Iterable[Count] = (), *, is_divided: bool = True
) -> tuple[int, int | None, bool]:
    """Return the bounds of `bound_count` without proofs, and whether none is stricter: proofs take most of the time.

    The bounds follow from the facts and counts in the same way; only the search for short proofs is left out.

    Raises
    ------
    ContradictionError
        As for `bound_count`.
    """
    return _Counting(knowledge, region, counts, is_divided=is_divided).bound_numbers()


def find_count_conflict(knowledge: Knowledge, counts: Iterable[Count]) -> CountConflict | None:
    """Return counts and facts that contradict each other, or None if the search finds no contradiction.

    Raises
    ------
    ContradictionError
        If the facts contradict each other without any count.
    """
    counting = _Counting(knowledge, nothing, counts)
    try:
        counting.bound()
    except ContradictionError as error:
        if isinstance(error.conflict, CountConflict):
            return error.conflict
        raise
    return None


@dataclass(frozen=True, slots=True)
class _Resolved:
    """A problem in one resolution of the facts with choices, and its two proofs; no upper proof without any bound."""

    problem: Problem
    low: SideProof
    high: SideProof | None


class _Counting:
    """The state of a question: counts by literal, proofs, and explanations of the proofs."""

    def __init__(self, knowledge: Knowledge, region: Term, counts: Iterable[Count], *, is_divided: bool = True) -> None:
        self._knowledge, self._region, self._is_divided = knowledge, region, is_divided
        self._search = knowledge.open_search()
        self._question = knowledge.find_literal(region)
        self._lows: dict[int, tuple[Count, Statement | None]] = {}  # by literal: the highest lower bound, and its fact
        self._highs: dict[int, Count] = {}  # by literal: the lowest upper bound
        self._terms: dict[int, Term] = {self._question: region}
        for known in counts:
            self._take(known, knowledge.find_literal(known.region))
        for fact in dict.fromkeys([*(fact for _, fact in knowledge.list_inhabited()), *knowledge.list_choices()]):
            build_formula(fact, self._name_literal)
        for literal, fact in knowledge.list_inhabited():
            self._take(Count(self._terms[literal], low=1), literal, fact)
        self._take_open_universe()

    def _name_literal(self, region: Term) -> int:
        """Return the literal of a term, and remember the term as its name."""
        literal = self._knowledge.find_literal(region)
        self._terms.setdefault(literal, region)
        self._terms.setdefault(literal ^ 1, ~region)
        return literal

    def _take(self, known: Count, literal: int, fact: Statement | None = None) -> None:
        """Take in a count, unless a stricter one is known."""
        self._terms.setdefault(literal, known.region)
        if known.low and (literal not in self._lows or known.low > self._lows[literal][0].low):
            self._lows[literal] = known, fact
        if known.high is not None:
            before = self._highs.get(literal)
            if before is None or known.high < (before.high or 0):
                self._highs[literal] = known

    def _take_open_universe(self) -> None:
        """Count the object outside all sets, if a set of the question has such an object."""
        if not self._knowledge.open_universe:
            return
        on_ground = self._search.reasoner.on_ground
        if any(on_ground(literal) for literal in (self._question, *self._lows, *self._highs)):
            labels = dict.fromkeys(label for region in self._terms.values() for label in region.labels)
            outside = ~chain(Op.OR, tuple(map(term, labels))) if labels else ~nothing
            self._take(Count(outside, low=1), self._knowledge.find_literal(outside))

    def bound(self) -> CountBounds:
        """Return the bounds; raise ContradictionError if counts and facts contradict each other."""
        resolved = [self._resolve(claims) for claims in self._iterate_resolutions()]
        low, high = self._combine(resolved)
        low_cases = [case for part in resolved for case in self._explain(part.low, low)]
        high_cases = [
            case
            for part in resolved
            if part.high is not None and high is not None
            for case in self._explain(part.high, high)
        ]
        return CountBounds(
            BoundProof("low", self._region, low, tuple(low_cases) if low else ()),
            BoundProof("high", self._region, high, tuple(high_cases)),
            _are_complete(resolved),
        )

    def bound_numbers(self) -> tuple[int, int | None, bool]:
        """Return the bounds without proofs, and whether none is stricter."""
        resolved = [self._resolve(claims, is_shortened=False) for claims in self._iterate_resolutions()]
        return (*self._combine(resolved), _are_complete(resolved))

    def _combine(self, resolved: Sequence[_Resolved]) -> tuple[int, int | None]:
        """Return the bounds that hold in every resolution; raise ContradictionError if none is possible."""
        possible = [part for part in resolved if part.low.value is not None]
        if not possible:
            cases = [case for part in resolved for case in self._explain(part.low, None)]
            raise ContradictionError(CountConflict(tuple(cases)))
        low = min(part.low.value for part in possible if part.low.value is not None)
        highs = [None if part.high is None or part.high.value is None else -part.high.value for part in possible]
        return low, None if None in highs else max(number for number in highs if number is not None)

    def _iterate_resolutions(self) -> Iterator[Claims]:
        """Yield the resolutions of all facts with choices; if there are too many, a single one without any choice.

        Sound: every world agrees with at least one resolution, and a choice that is left open allows more worlds.
        """
        resolutions = list(self._search.iterate_resolutions(_MOST_RESOLUTIONS + 1))
        return iter(resolutions if len(resolutions) <= _MOST_RESOLUTIONS else [Claims()])

    def _resolve(self, claims: Claims, *, is_shortened: bool = True) -> _Resolved:
        """Return the proofs in one resolution."""
        shorten = self._shorten if is_shortened else _leave_proof
        lows = {literal: known.low for literal, (known, _) in self._lows.items()}
        for literal in claims.inhabited:
            lows.setdefault(literal, 1)
        highs = {literal: known.high for literal, known in self._highs.items()}
        rows = [
            row
            for literal in dict.fromkeys([*lows, *highs])
            for row in _make_rows(literal, lows.get(literal, 0), highs.get(literal))
        ]
        ordered = order_rows(self._search.reasoner, self._question, rows)
        objects = Objects(self._search.reasoner, claims.empty)
        problem = Problem(objects, self._question, tuple(ordered), self._terms, is_divided=self._is_divided)
        low = shorten(problem, bound_below_or_above(problem, 1))
        bounded = [row.literal for row in rows if row.high is not None]
        if low.value is None or problem.objects.find_cover(self._question, bounded) is None:
            return _Resolved(problem, low, None)
        return _Resolved(problem, low, shorten(problem, bound_below_or_above(problem, -1)))

    # -- shorter proofs ------------------------------------------------------------------------------------------

    def _shorten(self, problem: Problem, proof: SideProof) -> SideProof:
        """Return a proof of the same bound with few counts, if the proof has a single case."""
        if len(proof.cases) != 1 or not proof.cases[0].multipliers.factors:
            return proof
        multipliers = self._find_single(problem, proof) or self._remove_superfluous(problem, proof)
        return SideProof(proof.value, (ProofCase((), multipliers),), proof.is_complete)

    def _find_single(self, problem: Problem, proof: SideProof) -> Multipliers | None:
        """Return the proof by a single set that contains the question, or lies in it, and has exactly the bound."""
        sign = proof.cases[0].multipliers.sign
        tried = [
            row
            for row in problem.rows
            if proof.value is not None and (row.low if sign > 0 else row.high) == sign * proof.value
        ]
        for row in tried[:_MOST_TRIED_ALONE] if sign else ():
            inner, outer = (row.literal, self._question) if sign > 0 else (self._question, row.literal)
            if not problem.objects.is_possible(inner, outer ^ 1):
                return Multipliers(((row, Fraction(sign)),), sign)
        return None

    def _remove_superfluous(self, problem: Problem, proof: SideProof) -> Multipliers:
        """Return multipliers for the same bound of which no count can be left out."""
        best = proof.cases[0].multipliers
        if len(best.factors) > _MOST_SHORTENED:
            return best
        for row, _ in sorted(best.factors, key=lambda pair: abs(pair[1])):
            fewer = [kept for kept, _ in best.factors if kept != row]
            if len(fewer) == len(best.factors):
                continue
            programme = Programme(problem.objects, problem.question, fewer)
            shorter = programme.bound_question(best.sign) if best.sign else programme.find_contradiction()
            if shorter is not None and (not best.sign or ceil(shorter.value) >= ceil(best.value)):
                best = shorter
        return best

    # -- explanations --------------------------------------------------------------------------------------------

    def _explain(self, proof: SideProof, bound: int | None) -> Iterator[Inequality]:
        """Yield the inequalities of a proof, with the facts behind each."""
        for case in proof.cases:
            multipliers = case.multipliers
            terms = [
                (self._sign_factor(multipliers, factor), self._find_count(row, factor))
                for row, factor in multipliers.factors
            ]
            yield Inequality(
                tuple(terms),
                self._find_facts(multipliers),
                tuple(Count(self._terms[row.literal], row.low, row.high) for row in case.suppositions),
                None if not multipliers.sign else bound,
            )

    @staticmethod
    def _sign_factor(multipliers: Multipliers, factor: Fraction) -> Fraction:
        """Return a factor as it stands beside the set itself, not beside its negative."""
        return -factor if multipliers.sign < 0 else factor

    def _find_count(self, row: Row, factor: Fraction) -> Count:
        """Return the known count that a factor uses; a supposed or claimed count is identified by its bounds."""
        region = self._terms.get(row.literal, nothing)
        low, high = self._lows.get(row.literal, (None, None))[0], self._highs.get(row.literal)
        known = low if factor > 0 else high
        used = row.low if factor > 0 else row.high
        if known is None or (known.low if factor > 0 else known.high) != used:
            return Count(region, row.low if factor > 0 else 0, row.high if factor < 0 else None)
        return known

    def _find_facts(self, multipliers: Multipliers) -> tuple[Statement, ...]:
        """Return the facts without which some object could violate an inequality, or a set could be empty."""
        from_counts = [
            fact
            for row, factor in multipliers.factors
            if factor > 0 and row.literal in self._lows and (fact := self._lows[row.literal][1]) is not None
        ]
        violating = self._build_violating(multipliers)
        if violating is None or not self._knowledge.entails(empty(violating)):
            # With facts that leave choices, or with many sets, all facts with choices are named.
            return tuple(dict.fromkeys([*from_counts, *self._knowledge.list_choices()]))
        explanation = self._knowledge.explain(empty(violating))
        return tuple(dict.fromkeys([*(explanation.facts if explanation else ()), *from_counts]))

    def _build_violating(self, multipliers: Multipliers) -> Term | None:
        """Return the regions whose objects would violate an inequality; None if there are too many regions to list.

        The sets are told apart by their terms: that two terms are the same set is a consequence of facts, too.
        """
        weights: dict[Term, Fraction] = {self._region: Fraction(-multipliers.sign)}
        for row, factor in multipliers.factors:
            region = self._find_count(row, factor).region
            weights[region] = weights.get(region, Fraction(0)) + factor
        weights = {region: weight for region, weight in weights.items() if weight}
        if len(weights) > _MOST_EXPLAINED:
            return None
        regions = [
            chain(Op.AND, tuple(region if inside else ~region for region, inside in zip(weights, cell, strict=True)))
            for cell in product((True, False), repeat=len(weights))
            if sum(weight for weight, inside in zip(weights.values(), cell, strict=True) if inside) > 0
        ]
        return chain(Op.OR, tuple(regions)) if regions else nothing


def _are_complete(resolved: Iterable[_Resolved]) -> bool:
    """Whether no stricter bound follows."""
    return all(part.low.is_complete and (part.high is None or part.high.is_complete) for part in resolved)


def _leave_proof(_problem: Problem, proof: SideProof) -> SideProof:
    return proof


def _make_rows(literal: int, low: int, high: int | None) -> list[Row]:
    """Return the row of a literal; two rows if its bounds contradict each other, as a row must have a solution."""
    if high is None or low <= high:
        return [Row(literal, low, high)]
    return [Row(literal, low, None), Row(literal, 0, high)]
