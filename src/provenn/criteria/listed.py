"""Long lists of values as sets: what is known of them, without a set for each value.

A criterion such as ``hip IN (…)`` with many values is one set, not one for each value. How such sets lie to one
another, and to the cuts ``hip < 5`` of other criteria, is found by walking once over all the keys at which something
begins or ends. Between two neighbouring keys nothing changes, so that a source is described by the *place* it is in:
the cuts between which it lies, and the lists that hold it. Places that have no value do not exist. To say which do is
all there is to say, and it is said list by list: in the places that the lists before it make, a list holds all values,
some, or none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from provenn.criteria.domains import Key
from provenn.criteria.ranges import Ranges
from provenn.logic import Statement, subset
from provenn.logic.terms import Op, Term, chain, nothing, term

__all__ = ["LONGEST_SPLIT", "list_facts", "listed_side"]

LONGEST_SPLIT = 400
"""How many cuts of one term are sets of their own; with more, they are a list."""

_MOST_PLACES = 2_000
"""Of how many places all is said. Of more, only how each list lies to the cuts, and to every other list."""

_everything = ~nothing


class _Place(NamedTuple):
    """Where values lie: above how many cuts, and in which lists, as the bits of a number."""

    above: int
    lists: int


def listed_side(where: Ranges) -> Ranges:
    """Return a set of values or its complement: the one that is a list, so that NOT IN speaks of the list of IN."""
    return ~where if where.first else where


def list_facts(
    cuts: Mapping[Key, str], lists: Mapping[str, Sequence[Key]], present: Term | None
) -> Iterator[Statement]:
    """Yield what is known of the lists of one term.

    Parameters
    ----------
    cuts
        The labels of sets ``term < key``, by key.
    lists
        The keys at which one enters and leaves a list, walking upwards from outside, by the label of the list.
    present
        Where the term is not NULL; None if that is not known here.

    Notes
    -----
    The facts are sound because every value lies in one of the places, and complete as long as there are few places:
    any choice of sets that fulfils them puts each source in a place that has a value.
    """
    labels = sorted(lists)
    edges = sorted(cuts)
    if present is not None and present != _everything:
        yield from (subset(label, present) for label in labels)
    places = _places(edges, [lists[label] for label in labels])
    space = _Space([cuts[edge] for edge in edges], labels, present)
    if len(places) <= _MOST_PLACES:
        for number in range(len(labels)):
            yield from space.facts(number, places, (1 << number) - 1)
    else:
        for number in range(len(labels)):
            yield from space.facts(number, places, 0)
        yield from _pairwise(labels, places)


def _places(edges: Sequence[Key], lists: Sequence[Sequence[Key]]) -> set[_Place]:
    """Return the places that have a value: of one type, the value at a key itself lies between it and the next one."""
    steps = merge(*([(key, number) for key in keys] for number, keys in enumerate(lists)), [(key, -1) for key in edges])
    above = inside = 0
    found = {_Place(0, 0)}  # no list holds the lowest value, and no cut is at it
    for _, together in groupby(steps, key=itemgetter(0)):
        for _, number in together:
            if number < 0:
                above += 1
            else:
                inside ^= 1 << number
        found.add(_Place(above, inside))
    return found


class _Space:
    """The sets of one term, and terms that name places among them.

    Parameters
    ----------
    cuts
        The labels of the cuts, upwards.
    lists
        The labels of the lists, by number.
    present
        Where the term is not NULL; None if that is not known here.
    """

    def __init__(self, cuts: Sequence[str], lists: Sequence[str], present: Term | None) -> None:
        self._cuts = cuts
        self._lists = lists
        self._present = present

    def facts(self, number: int, places: Iterable[_Place], among: int) -> Iterator[Statement]:
        """Yield how a list lies to the cuts and to some other lists, given as the bits of a number."""
        reached: set[_Place] = set()
        left_out: set[_Place] = set()
        for place in places:
            (reached if place.lists >> number & 1 else left_out).add(_Place(place.above, place.lists & among))
        whole = frozenset(reached | left_out)
        label = self._lists[number]
        if left_out - reached:
            yield subset(label, self._within(frozenset(reached), whole, among.bit_length() - 1))
        full = frozenset(reached - left_out)
        if full and self._present is not None:
            yield subset(self._meeting(self._present, self._within(full, whole, among.bit_length() - 1)), label)

    def _within(self, wanted: frozenset[_Place], whole: frozenset[_Place], bit: int) -> Term:
        """Return a set that holds, of the places there are, just those that are wanted; other lists go from a bit down.

        Among values: what it says of sources without a value does not matter.
        """
        if not wanted:
            return nothing
        if wanted == whole:
            return _everything
        if bit < 0:
            return self._between(sorted(place.above for place in wanted), sorted(place.above for place in whole))
        held, missing = (frozenset(place for place in whole if place.lists >> bit & 1 == side) for side in (1, 0))
        inside = self._within(wanted & held, held, bit - 1)
        outside = self._within(wanted & missing, missing, bit - 1)
        if inside == outside or not missing:
            return inside
        if not held:
            return outside
        label = term(self._lists[bit])
        parts = [self._meeting(label, inside), self._meeting(~label, outside)]
        return _chained(Op.OR, [part for part in parts if part != nothing])

    def _between(self, wanted: Sequence[int], whole: Sequence[int]) -> Term:
        """Return the intervals between cuts that are wanted, of those that there are."""
        runs: list[list[int]] = []
        chosen = set(wanted)
        for place, number in enumerate(whole):
            if number in chosen and runs and place and whole[place - 1] in chosen:
                runs[-1][1] = number
            elif number in chosen:
                runs.append([number, number])
        parts = []
        for first, last in runs:
            lower = _everything if first == whole[0] else ~term(self._cuts[first - 1])
            upper = _everything if last == whole[-1] else term(self._cuts[last])
            parts.append(self._meeting(upper, lower))
        return _chained(Op.OR, parts)

    def _meeting(self, one: Term, other: Term) -> Term:
        if nothing in (one, other):
            return nothing
        if _everything in (one, other):
            return other if one == _everything else one
        return one - Term(other.postfix[:-1]) if other.postfix[-1] is Op.NOT else one & other


def _pairwise(labels: Sequence[str], places: Iterable[_Place]) -> Iterator[Statement]:
    """Yield which lists lie in others, and which have no value in common."""
    meeting = [0] * len(labels)
    around = [-1] * len(labels)
    for lists in {place.lists for place in places}:
        for number in _bits(lists):
            meeting[number] |= lists
            around[number] &= lists
    for number, label in enumerate(labels):
        larger = [other for other in _bits(around[number]) if other != number]
        yield from (subset(label, labels[other]) for other in larger)
        apart = [term(labels[other]) for other in range(number) if not meeting[number] >> other & 1]
        if apart:
            yield subset(label, ~_chained(Op.OR, apart))


def _bits(value: int) -> Iterator[int]:
    while value:
        lowest = value & -value
        yield lowest.bit_length() - 1
        value ^= lowest


def _chained(op: Op, parts: Sequence[Term]) -> Term:
    return chain(op, tuple(parts)) if parts else nothing
