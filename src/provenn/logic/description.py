"""From hypercubes to a statement: the inverse of enumeration."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from provenn.logic.hypercubes import Labelled
from provenn.logic.hypercubes.masks import ones
from provenn.logic.statements import And, Or, Statement, empty, equal, nonempty
from provenn.logic.terms import Op, Term, chain, nothing, term

__all__ = ["described"]

_MANY_SETS = 8  # from here on the regions that are possible are listed, not those that are not


def described(p: Labelled) -> Statement:
    """A statement that holds in the hypercubes of `p` and in no others.

    It says which sets are equal, which regions are empty and which are inhabited; where that differs, case by case.
    """
    if not len(p):
        return nonempty(nothing)
    groups = p.equal_sets()
    facts = [equal(group[0], other) for group in groups for other in group[1:]]
    p = p.on(tuple(group[0] for group in groups))
    facts.extend(_emptiness(p))
    facts.extend(_habitation(p))
    return And.of(*facts) if len(facts) > 1 else facts[0] if facts else equal(nothing, nothing)


def _emptiness(p: Labelled) -> Iterator[Statement]:
    """That every object lies in one of the regions."""
    if len(p.labels) > _MANY_SETS:
        yield empty(~chain(Op.OR, tuple(_cube(p, region, (1 << len(p.labels)) - 1) for region in p.regions)))
    else:
        yield from map(empty, _cubes(p, set(range(1 << len(p.labels))) - set(p.regions), p.regions))


def _habitation(p: Labelled) -> Iterator[Statement]:
    """Which of the regions hold any object, given that no others do."""
    everything = (1 << len(p.regions)) - 1

    def cubes(inside: int) -> tuple[Term, ...]:
        chosen, others = ([p.regions[place] for place in ones(bits)] for bits in (inside, everything ^ inside))
        return tuple(_cubes(p, chosen, others))

    cases = [
        [empty(cube) for cube in cubes(everything ^ top)]
        + [nonempty(chain(Op.OR, cubes(needed))) for needed in _transversals(_least(part))]
        for top, part in _parts(set(p.hypercubes))
    ]
    if len(cases) == 1:
        yield from cases[0]
    else:
        yield Or(tuple(And(tuple(case)) for case in cases))


def _parts(left: set[int]) -> Iterator[tuple[int, set[int]]]:
    """Divide hypercubes into parts: some of those inside a largest one, with all that lies between them and it."""
    known = frozenset(left)
    while left:
        top = max(left, key=lambda one: (one.bit_count(), one))
        part, level = set[int](), {top}
        while level:
            part |= level
            below = {one ^ 1 << place for one in level for place in ones(one)} & known
            level = {one for one in below if all(one | 1 << place in level for place in ones(top ^ one))}
        yield top, part
        left = left - part


def _least(part: Collection[int]) -> list[int]:
    """The hypercubes that no other one of them lies inside of, by one region."""
    return [one for one in part if not any(one ^ 1 << place in part for place in ones(one))]


def _transversals(masks: Iterable[int]) -> list[int]:
    """The least masks that meet all the given ones (C. Berge's algorithm)."""
    found = [0]
    for mask in masks:
        meeting = [one for one in found if one & mask]
        widened = (one | 1 << place for one in found if not one & mask for place in ones(mask))
        found = meeting + [one for one in widened if not any(other & one == other for other in meeting)]
    return sorted(found)


def _cubes(p: Labelled, inside: Collection[int], outside: Collection[int]) -> Iterator[Term]:
    """Terms that together cover the regions `inside` and none of those `outside`; of other regions they are free."""
    left = sorted(inside)
    while left:
        region, cared = left[0], (1 << len(p.labels)) - 1
        for place in range(len(p.labels)):
            fewer = cared & ~(1 << place)
            if all((region ^ other) & fewer for other in outside):
                cared = fewer
        yield _cube(p, region, cared)
        left = [other for other in left if (region ^ other) & cared]


def _cube(p: Labelled, region: int, cared: int) -> Term:
    """The term for what agrees with a region on the sets that are cared for."""
    inside = tuple(term(label) for place, label in enumerate(p.labels) if cared & region & 1 << place)
    outside = tuple(term(label) for place, label in enumerate(p.labels) if cared & ~region & 1 << place)
    if not inside:
        return ~chain(Op.OR, outside or (nothing,))
    return chain(Op.MINUS, (chain(Op.AND, inside), *outside))
