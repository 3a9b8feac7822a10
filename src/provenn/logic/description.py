"""Describe hypercubes by a statement: the inverse of enumeration."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from provenn.logic.hypercubes import LabelledHypercubes
from provenn.logic.hypercubes.masks import iterate_bits
from provenn.logic.statements import And, Or, Statement, empty, equal, nonempty
from provenn.logic.terms import Op, Term, chain, nothing, term

__all__ = ["describe_hypercubes"]

_MANY_SETS = 8  # beyond this number, the statement lists the possible regions instead of the impossible regions


def describe_hypercubes(p: LabelledHypercubes) -> Statement:
    """Return a statement that holds in the hypercubes of `p` and in no other hypercubes.

    The statement names the equal sets, the empty regions and the inhabited regions, and splits into cases where
    hypercubes differ.
    """
    if not len(p):
        return nonempty(nothing)
    groups = p.equal_sets()
    facts = [equal(group[0], other) for group in groups for other in group[1:]]
    p = p.on(tuple(group[0] for group in groups))
    facts.extend(_state_emptiness(p))
    facts.extend(_state_habitation(p))
    return And.of(*facts) if len(facts) > 1 else facts[0] if facts else equal(nothing, nothing)


def _state_emptiness(p: LabelledHypercubes) -> Iterator[Statement]:
    """Yield statements that every object lies in a region of `p`."""
    if len(p.labels) > _MANY_SETS:
        yield empty(~chain(Op.OR, tuple(_build_cube(p, region, (1 << len(p.labels)) - 1) for region in p.regions)))
    else:
        yield from map(empty, _cover_regions(p, set(range(1 << len(p.labels))) - set(p.regions), p.regions))


def _state_habitation(p: LabelledHypercubes) -> Iterator[Statement]:
    """Yield statements about which regions of `p` hold an object, given that no object lies elsewhere."""
    everything = (1 << len(p.regions)) - 1

    def cover(inside: int) -> tuple[Term, ...]:
        chosen, others = ([p.regions[place] for place in iterate_bits(bits)] for bits in (inside, everything ^ inside))
        return tuple(_cover_regions(p, chosen, others))

    cases = [
        [empty(cube) for cube in cover(everything ^ top)]
        + [nonempty(chain(Op.OR, cover(needed))) for needed in _find_transversals(_find_least(part))]
        for top, part in _divide_hypercubes(set(p.hypercubes))
    ]
    if len(cases) == 1:
        yield from cases[0]
    else:
        yield Or(tuple(And(tuple(case)) for case in cases))


def _divide_hypercubes(remaining: set[int]) -> Iterator[tuple[int, set[int]]]:
    """Divide hypercubes into parts: each part has a largest hypercube, and is closed upwards below it.

    A hypercube joins a part only if all hypercubes between it and the largest hypercube are in the part.
    """
    known = frozenset(remaining)
    while remaining:
        top = max(remaining, key=lambda hypercube: (hypercube.bit_count(), hypercube))
        part, level = set[int](), {top}
        while level:
            part |= level
            below = {hypercube ^ 1 << place for hypercube in level for place in iterate_bits(hypercube)} & known
            level = {
                hypercube
                for hypercube in below
                if all(hypercube | 1 << place in level for place in iterate_bits(top ^ hypercube))
            }
        yield top, part
        remaining = remaining - part


def _find_least(part: Collection[int]) -> list[int]:
    """Return the hypercubes of a part from which no single region can be removed within the part."""
    return [
        hypercube for hypercube in part if not any(hypercube ^ 1 << place in part for place in iterate_bits(hypercube))
    ]


def _find_transversals(masks: Iterable[int]) -> list[int]:
    """Return the least masks that meet all given masks (C. Berge's algorithm)."""
    transversals = [0]
    for mask in masks:
        meeting = [transversal for transversal in transversals if transversal & mask]
        widened = (
            transversal | 1 << place
            for transversal in transversals
            if not transversal & mask
            for place in iterate_bits(mask)
        )
        transversals = meeting + [
            transversal for transversal in widened if not any(smaller & transversal == smaller for smaller in meeting)
        ]
    return sorted(transversals)


def _cover_regions(p: LabelledHypercubes, inside: Collection[int], outside: Collection[int]) -> Iterator[Term]:
    """Yield terms that together cover the regions `inside` and no region `outside`; any other region is optional."""
    remaining = sorted(inside)
    while remaining:
        region, cared = remaining[0], (1 << len(p.labels)) - 1
        for place in range(len(p.labels)):
            fewer = cared & ~(1 << place)
            if all((region ^ other) & fewer for other in outside):
                cared = fewer
        yield _build_cube(p, region, cared)
        remaining = [other for other in remaining if (region ^ other) & cared]


def _build_cube(p: LabelledHypercubes, region: int, cared: int) -> Term:
    """Return the term of all points that agree with a region on the sets in the mask `cared`."""
    inside = tuple(term(label) for place, label in enumerate(p.labels) if cared & region & 1 << place)
    outside = tuple(term(label) for place, label in enumerate(p.labels) if cared & ~region & 1 << place)
    if not inside:
        return ~chain(Op.OR, outside or (nothing,))
    return chain(Op.MINUS, (chain(Op.AND, inside), *outside))
