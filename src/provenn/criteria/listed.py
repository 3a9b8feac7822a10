"""Interpret long lists of values as sets, without a separate set for each value.

A criterion like ``hip IN (…)`` with many values is a single set. A single walk over all ends of lists and cuts finds
how these sets relate to each other, and to the cuts ``hip < 5`` of other criteria. Nothing changes between two
neighbouring keys, so a source is described by a *place*: the cuts between which the source lies, and the lists that
contain the source. Places without values do not exist. The facts state which places exist, and do so list by list:
within each place formed by the earlier lists, a list contains all values, some, or none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from provenn.criteria.domains import Key
from provenn.criteria.ranges import Ranges
from provenn.logic import Statement, subset
from provenn.logic.hypercubes.masks import iterate_bits
from provenn.logic.terms import Op, Term, chain, nothing, term

__all__ = ["LONGEST_SPLIT", "Place", "choose_list_side", "derive_list_facts", "derive_place_facts"]

LONGEST_SPLIT = 400
"""The maximum number of cuts of a term that are separate sets; more cuts form a list."""

_MOST_PLACES = 2_000
"""The maximum number of places with complete facts; beyond it, facts relate lists only to cuts and in pairs."""

_everything = ~nothing


class Place(NamedTuple):
    """A place of values: the number of cuts below the values, and the containing lists, as a bit mask."""

    above: int
    lists: int


def choose_list_side(where: Ranges) -> Ranges:
    """Return a set of values or the complement, whichever is a list: NOT IN uses the list of IN."""
    return ~where if where.first else where


def derive_list_facts(
    cuts: Mapping[Key, str], lists: Mapping[str, Sequence[Key]], present: Term | None
) -> Iterator[Statement]:
    """Yield the facts about the lists of a term.

    Parameters
    ----------
    cuts
        The labels of the sets ``term < key``, by key.
    lists
        The keys at which a walk upwards, which starts outside the list, enters and leaves it, by the list's label.
    present
        The set where the term is not NULL; None if that set is not known.

    Notes
    -----
    The facts are sound, because every value lies in one of the places. They are complete if the places are few: any
    choice of sets that fulfils the facts puts each source in a place that has a value.
    """
    labels = sorted(lists)
    edges = sorted(cuts)
    if present is not None and present != _everything:
        yield from (subset(label, present) for label in labels)
    places = _find_places(edges, [lists[label] for label in labels])
    yield from derive_place_facts([cuts[edge] for edge in edges], labels, places, present)


def derive_place_facts(
    cuts: Sequence[str], labels: Sequence[str], places: Collection[Place], present: Term | None
) -> Iterator[Statement]:
    """Yield the facts relating sets of values to the cuts of a term, and to each other, from all places.

    Parameters
    ----------
    cuts
        The labels of the cuts, in ascending order.
    labels
        The labels of the sets. No set contains a source without a value.
    places
        The places that may have a value; the bits of a place are in the order of `labels`.
    present
        The set where the term is not NULL; None if that set is not known.
    """
    space = _Space(cuts, labels, present)
    if len(places) <= _MOST_PLACES:
        for number in range(len(labels)):
            yield from space.derive_facts(number, places, (1 << number) - 1)
    else:
        for number in range(len(labels)):
            yield from space.derive_facts(number, places, 0)
        yield from _compare_pairs(labels, places)


def _find_places(edges: Sequence[Key], lists: Sequence[Sequence[Key]]) -> set[Place]:
    """Return the places that have a value.

    Keys are discrete: the value at a key lies between this key and the next key.
    """
    steps = merge(*([(key, number) for key in keys] for number, keys in enumerate(lists)), [(key, -1) for key in edges])
    above = inside = 0
    places = {Place(0, 0)}  # no list contains the lowest value, and no cut lies at the lowest value
    for _, together in groupby(steps, key=itemgetter(0)):
        for _, number in together:
            if number < 0:
                above += 1
            else:
                inside ^= 1 << number
        places.add(Place(above, inside))
    return places


class _Space:
    """The sets of a term, and terms for places among the sets.

    Parameters
    ----------
    cuts
        The labels of the cuts, in ascending order.
    lists
        The labels of the lists, by number.
    present
        The set where the term is not NULL; None if that set is not known.
    """

    def __init__(self, cuts: Sequence[str], lists: Sequence[str], present: Term | None) -> None:
        self._cuts = cuts
        self._lists = lists
        self._present = present

    def derive_facts(self, number: int, places: Iterable[Place], among: int) -> Iterator[Statement]:
        """Yield the facts that relate a list to the cuts and to other lists, whose numbers are a bit mask."""
        reached: set[Place] = set()
        left_out: set[Place] = set()
        for place in places:
            (reached if place.lists >> number & 1 else left_out).add(Place(place.above, place.lists & among))
        whole = frozenset(reached | left_out)
        label = self._lists[number]
        if left_out - reached:
            yield subset(label, self._build_set(frozenset(reached), whole, among.bit_length() - 1))
        full = frozenset(reached - left_out)
        if full and self._present is not None:
            yield subset(self._intersect(self._present, self._build_set(full, whole, among.bit_length() - 1)), label)

    def _build_set(self, wanted: frozenset[Place], whole: frozenset[Place], bit: int) -> Term:
        """Return a set that, among all places, contains exactly the wanted places.

        The set is a choice between the lists from number `bit` down to 0. It is only meaningful for values: whether
        sources without a value are in the set does not matter.
        """
        if not wanted:
            return nothing
        if wanted == whole:
            return _everything
        if bit < 0:
            return self._build_intervals(
                sorted(place.above for place in wanted), sorted(place.above for place in whole)
            )
        held, missing = (frozenset(place for place in whole if place.lists >> bit & 1 == side) for side in (1, 0))
        inside = self._build_set(wanted & held, held, bit - 1)
        outside = self._build_set(wanted & missing, missing, bit - 1)
        if inside == outside or not missing:
            return inside
        if not held:
            return outside
        label = term(self._lists[bit])
        parts = [self._intersect(label, inside), self._intersect(~label, outside)]
        return _join_terms(Op.OR, [part for part in parts if part != nothing])

    def _build_intervals(self, wanted: Sequence[int], whole: Sequence[int]) -> Term:
        """Return the intervals between cuts that contain the wanted places, and none of the other places."""
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
            parts.append(self._intersect(upper, lower))
        return _join_terms(Op.OR, parts)

    def _intersect(self, left: Term, right: Term) -> Term:
        """Return the intersection of two terms, simplified."""
        if nothing in (left, right):
            return nothing
        if _everything in (left, right):
            return right if left == _everything else left
        return left - Term(right.postfix[:-1]) if right.postfix[-1] is Op.NOT else left & right


def _compare_pairs(labels: Sequence[str], places: Iterable[Place]) -> Iterator[Statement]:
    """Yield which lists are subsets of other lists, and which lists are disjoint."""
    meeting = [0] * len(labels)
    around = [-1] * len(labels)
    for lists in {place.lists for place in places}:
        for number in iterate_bits(lists):
            meeting[number] |= lists
            around[number] &= lists
    for number, label in enumerate(labels):
        larger = [other for other in iterate_bits(around[number]) if other != number]
        yield from (subset(label, labels[other]) for other in larger)
        apart = [term(labels[other]) for other in range(number) if not meeting[number] >> other & 1]
        if apart:
            yield subset(label, ~_join_terms(Op.OR, apart))


def _join_terms(op: Op, parts: Sequence[Term]) -> Term:
    return chain(op, tuple(parts)) if parts else nothing
