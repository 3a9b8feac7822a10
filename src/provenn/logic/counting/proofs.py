"""Proved bounds as people read them: an inequality between counts, and the facts behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm
from typing import Literal

from provenn.logic.counting.counts import Count
from provenn.logic.statements import Statement
from provenn.logic.terms import Term

__all__ = ["BoundProof", "CountBounds", "CountConflict", "Inequality"]


@dataclass(frozen=True, slots=True)
class Inequality:
    """A sum of counts that bounds the number of objects in a set, whatever the sets hold.

    Parameters
    ----------
    terms
        The counts, each with its factor.
    facts
        The facts without which the inequality need not hold; no fact can be left out.
    suppositions
        Bounds that are supposed in this case: all cases of a proof together are everything that can be.
    value
        The bound that follows for the set; None if this case is impossible.
    """

    terms: tuple[tuple[Fraction, Count], ...]
    facts: tuple[Statement, ...] = ()
    suppositions: tuple[Count, ...] = ()
    value: int | None = None

    def write(self, region: Term | None, relation: str) -> str:
        """Return the inequality with its numbers; without a region, as a sum that is at least and at most something."""
        scale = lcm(*(factor.denominator for factor, _ in self.terms))
        terms = [(int(factor * scale), known) for factor, known in self.terms]
        mentioned = region.labels if region is not None else ()
        terms.sort(key=lambda term: (term[0] < 0, *_find_place(term[1], mentioned)))
        numbers = [_find_used_bound(factor, known, relation) for factor, known in terms]
        total = sum(factor * number for (factor, _), number in zip(terms, numbers, strict=True))
        left = "0" if region is None else f"{'' if scale == 1 else f'{scale} * '}|{region}|"
        if not terms:
            return f"{left} = 0"
        if len(terms) == 1 and terms[0][0] == scale and terms[0][1].region == region:
            return f"|{region}| {'=' if terms[0][1].is_exact else relation} {numbers[0]:,}"
        sizes = _join_signed((factor, f"|{known.region}|") for factor, known in terms)
        equals = "=" if all(known.is_exact for _, known in terms) else relation
        sums = _join_signed((factor, f"{number:,}") for (factor, _), number in zip(terms, numbers, strict=True))
        steps = [f"{left} {relation} {sizes} {equals} {sums}"]
        if len(terms) > 1 or abs(terms[0][0]) != 1:
            steps.append(f"= {total:,}")
        if scale != 1 and region is not None and self.value is not None:
            steps.append(f", so |{region}| {relation} {self.value:,}")
        return " ".join(steps).replace(" , so", ", so")

    def relabelled(self, name: Callable[[str], str]) -> Inequality:
        """Return the inequality with other labels."""
        return Inequality(
            tuple((factor, _relabel_count(known, name)) for factor, known in self.terms),
            tuple(fact.relabelled(name) for fact in self.facts),
            tuple(_relabel_count(known, name) for known in self.suppositions),
            self.value,
        )


@dataclass(frozen=True, slots=True)
class BoundProof:
    """The proof of one bound.

    Parameters
    ----------
    side
        Which bound it is.
    region
        The set.
    value
        The number; None if nothing bounds the set from above.
    cases
        The inequalities: one, unless several cases together prove the bound. None for "at least 0".
    """

    side: Literal["low", "high"]
    region: Term
    value: int | None
    cases: tuple[Inequality, ...] = ()

    @property
    def facts(self) -> tuple[Statement, ...]:
        """The facts in the proof, without repeats."""
        return tuple(dict.fromkeys(fact for case in self.cases for fact in case.facts))

    @property
    def counts(self) -> tuple[Count, ...]:
        """The known counts in the proof, without repeats."""
        return tuple(dict.fromkeys(known for known in _iterate_counts(self.cases)))

    @property
    def sentence(self) -> str:
        """The bound with the inequality that proves it, without the facts."""
        if self.value is None:
            return "no upper bound: nothing bounds the set"
        start = f"{'at least' if self.side == 'low' else 'at most'} {self.value:,}"
        relation = ">=" if self.side == "low" else "<="
        if not self.cases or (self.side == "low" and not self.value):
            return start
        if len(self.cases) == 1 and not self.cases[0].suppositions:
            return f"{start}: {self.cases[0].write(self.region, relation)}"
        return f"{start}: in each of {len(self.cases)} cases, " + "; ".join(self._write_cases(relation))

    def _write_cases(self, relation: str) -> Iterator[str]:
        for case in self.cases:
            premise = " and ".join(map(str, case.suppositions))
            conclusion = (
                f"impossible, since {case.write(None, '>=')}"
                if case.value is None
                else case.write(self.region, relation)
            )
            yield f"if {premise}: {conclusion}" if premise else conclusion

    def relabelled(self, name: Callable[[str], str]) -> BoundProof:
        """Return the proof with other labels."""
        return replace(
            self, region=self.region.relabelled(name), cases=tuple(case.relabelled(name) for case in self.cases)
        )


@dataclass(frozen=True, slots=True)
class CountBounds:
    """The least and the most objects of a set, with proofs.

    Parameters
    ----------
    low_proof, high_proof
        The two proofs.
    is_complete
        Whether no better bounds follow from the facts and counts. If not, the search stopped at a limit.
    """

    low_proof: BoundProof
    high_proof: BoundProof
    is_complete: bool = True

    @property
    def low(self) -> int:
        """The least number of objects."""
        return self.low_proof.value or 0

    @property
    def high(self) -> int | None:
        """The greatest number of objects; None if nothing bounds it."""
        return self.high_proof.value

    def __str__(self) -> str:
        return "\n".join(proof.sentence for proof in (self.low_proof, self.high_proof))


@dataclass(frozen=True, slots=True)
class CountConflict:
    """Counts and facts that cannot all be true; none can be left out.

    Parameters
    ----------
    cases
        The inequalities, each a contradiction in its case.
    """

    cases: tuple[Inequality, ...]

    @property
    def facts(self) -> tuple[Statement, ...]:
        """The facts of the conflict, without repeats."""
        return tuple(dict.fromkeys(fact for case in self.cases for fact in case.facts))

    @property
    def counts(self) -> tuple[Count, ...]:
        """The counts of the conflict, without repeats."""
        return tuple(dict.fromkeys(_iterate_counts(self.cases)))

    @property
    def open_universe(self) -> bool:
        """Whether the conflict needs an object outside all sets: such an object is one of the counts."""
        return False

    def relabelled(self, name: Callable[[str], str]) -> CountConflict:
        """Return the conflict with other labels."""
        return CountConflict(tuple(case.relabelled(name) for case in self.cases))

    def __str__(self) -> str:
        lines = [*(f"  {fact}" for fact in self.facts), *(f"  {known}" for known in self.counts)]
        return "\n".join(lines)


def _find_place(known: Count, mentioned: tuple[str, ...]) -> tuple[int, str]:
    """Return the place of a count in a sum: first the sets that the question mentions, in its order."""
    places = [mentioned.index(label) for label in known.region.labels if label in mentioned]
    return min(places, default=len(mentioned)), str(known.region)


def _find_used_bound(factor: int, known: Count, relation: str) -> int:
    """Return the bound of a count that an inequality uses."""
    low_is_used = (factor > 0) == (relation == ">=")
    return known.low if low_is_used else known.high or 0


def _join_signed(terms: Iterator[tuple[int, str]]) -> str:
    """Return terms with their factors, joined by signs.

    >>> _join_signed(iter([(1, "|A|"), (2, "|B|"), (-1, "|C|")]))
    '|A| + 2 * |B| - |C|'
    """
    pieces: list[str] = []
    for factor, text in terms:
        sign = ("-" if factor < 0 else "") if not pieces else (" - " if factor < 0 else " + ")
        pieces.append(f"{sign}{'' if abs(factor) == 1 else f'{abs(factor)} * '}{text}")
    return "".join(pieces)


def _iterate_counts(cases: tuple[Inequality, ...]) -> Iterator[Count]:
    for case in cases:
        suppositions = set(case.suppositions)
        yield from (known for _, known in case.terms if known not in suppositions)


def _relabel_count(known: Count, name: Callable[[str], str]) -> Count:
    return replace(known, region=known.region.relabelled(name))
