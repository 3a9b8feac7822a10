"""Facts about periodic functions of a term: remainders, single bits, months, weekdays, hours and the like.

A periodic function repeats itself after a number of values of the term: ``id % 10`` after 10, ``month(seen)`` after the
400 years of the calendar. Between two cuts of the term lie either fewer values than a period, looked at individually,
or all values of a period. So the existing combinations of the functions' values are known: *places* in the words of
`provenn.criteria.listed`, which states as facts that no other combinations exist.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import gcd, lcm

import numpy as np
import numpy.typing as npt

from provenn import deadline
from provenn.criteria.atoms import Atom, ConditionSets
from provenn.criteria.domains import MICROSECONDS_A_DAY, get_domain
from provenn.criteria.folding import evaluate
from provenn.criteria.listed import Place, derive_place_facts
from provenn.criteria.nodes import Call, Node
from provenn.criteria.reductions.bits import peel_widening
from provenn.criteria.reductions.remainders import read_remainder
from provenn.criteria.types import DATE, TIMESTAMP, TIMESTAMP_NTZ
from provenn.criteria.writing import CANONICAL, write
from provenn.logic import Statement, disjoint, subset

__all__ = ["Period", "ReadTerm", "periodic_facts", "read_period"]

ReadTerm = Callable[[Atom], Node | None]
"""Returns the term of an atom, or None if the term cannot be read."""

_Keys = npt.NDArray[np.int64]
_MOST_STEPS = 150_000
"""The maximum number of values in a period."""
_MOST_SETS = 60
"""The maximum number of sets that are related to each other: each is a bit of a 64-bit number."""
_MOST_TERMS = 30
"""The maximum number of functions of a term that are related in pairs."""
_MOST_PLACES = 10_000
"""The maximum number of places."""
_MOST_VALUES = 3_000_000
"""The maximum number of values, between all cuts together, that are looked at."""

_DAYS_PER_CYCLE = 146_097
_ANY_PERIOD = re.compile(r"[%&]|\b(?:pmod|month|quarter|day|dayof\w+|weekday|weekofyear|hour|minute|second)\(")


@dataclass(frozen=True, slots=True)
class Period:
    """A periodic function of a term whose keys are integers.

    Parameters
    ----------
    inner
        The term.
    compute
        Returns the function's values for some keys of the term.
    length
        The number of keys after which the function repeats itself.
    step
        A number of keys: the function changes only at its multiples.
    is_signed
        Whether negative keys have other values than the keys from zero upwards.
    """

    inner: Node
    compute: Callable[[_Keys], _Keys]
    length: int
    step: int = 1
    is_signed: bool = False


@dataclass(frozen=True, slots=True)
class _Member:
    """An atom on a periodic function: its label, its term, and the key below which the function's value lies."""

    label: str
    term: str
    cut: int
    period: Period


def periodic_facts(atoms: Iterable[Atom], read_term: ReadTerm) -> Iterator[Statement]:
    """Yield the facts about the atoms on periodic functions, for the atoms of any number of criteria.

    Sound, because every value of the term lies in one of the places: a value's place depends on the cuts it lies
    between and on its remainder by the common period, and all of these are looked at. The functions are NULL exactly
    where the term is.

    Parameters
    ----------
    atoms
        The atoms, with those on the terms inside them.
    read_term
        Returns the term of an atom.
    """
    known = {atom.label: atom for atom in atoms}
    by_inner: dict[str, list[_Member]] = {}
    for atom in known.values():
        if isinstance(atom.cut, int) and _ANY_PERIOD.search(atom.term):
            node = read_term(atom)
            period = None if node is None else read_period(node)
            if period is not None:
                by_inner.setdefault(write(period.inner, CANONICAL), []).append(
                    _Member(atom.label, atom.term, atom.cut, period)
                )
    edges: dict[str, dict[int, str]] = {text: {} for text in by_inner}
    lists: dict[str, list[Atom]] = {text: [] for text in by_inner}
    for atom in known.values():
        if atom.term in edges and isinstance(atom.cut, int):
            edges[atom.term][atom.cut] = atom.label
        elif atom.term in lists and isinstance(atom.cut, tuple):
            lists[atom.term].append(atom)
    for text, members in by_inner.items():
        yield from _relate_members(members, edges[text], known.keys())
        for atom in lists[text]:
            yield from _relate_list(members, atom)


def _relate_members(members: Sequence[_Member], edges: dict[int, str], known: Container[str]) -> Iterator[Statement]:
    """Yield the facts about atoms on functions of a term, and about the cuts of the term.

    All atoms are related together if their common places are few; otherwise those of each term, and of each two.
    """
    by_term: dict[str, list[_Member]] = {}
    for member in sorted(members, key=lambda member: member.label):
        by_term.setdefault(member.term, []).append(member)
    groups = list(by_term.values())
    together = _relate_group([member for group in groups for member in group], edges, known)
    if together is not None:
        yield from together
        return
    pairs = combinations(groups, 2) if len(groups) <= _MOST_TERMS else ()
    for group in (*groups, *([*first, *second] for first, second in pairs)):
        deadline.check()
        yield from _relate_group(group, edges, known) or ()


def _is_feasible(members: Sequence[_Member]) -> bool:
    """Tell whether members are few, with few values in their common period."""
    length, step = _find_common_period(members)
    return len(members) <= _MOST_SETS and length // step <= _MOST_STEPS


def _find_common_period(members: Sequence[_Member]) -> tuple[int, int]:
    """Return the common period of some members, and the step at whose multiples they change."""
    return lcm(*(member.period.length for member in members)), gcd(*(member.period.step for member in members))


def _relate_group(
    members: Sequence[_Member], edges: dict[int, str], known: Container[str]
) -> Iterator[Statement] | None:
    """Return the facts about some atoms, or None if the atoms, their values or their places are too many."""
    cuts = sorted(edges)
    places = _find_places(members, cuts) if _is_feasible(members) else None
    if places is None:
        return None
    present = ConditionSets(0).build_present_set(members[0].period.inner)
    within = present if all(label in known for label in present.labels) else None
    labels = [member.label for member in members]
    return derive_place_facts([edges[cut] for cut in cuts], labels, places, within)


def _relate_list(members: Sequence[_Member], atom: Atom) -> Iterator[Statement]:
    """Yield the members that contain all values of a long list, and the members that contain none."""
    cuts = [cut for cut in atom.cut if isinstance(cut, int)] if isinstance(atom.cut, tuple) else []
    ranges = list(zip(cuts[::2], cuts[1::2], strict=False))
    if len(cuts) % 2 or len(members) > _MOST_SETS or sum(beyond - first for first, beyond in ranges) > _MOST_STEPS:
        return  # the last range has no end, or there are too many values
    signatures = _compute_signatures(members, np.concatenate([np.arange(*ends, dtype=np.int64) for ends in ranges]))
    for number, member in enumerate(members):
        bits = {signature >> number & 1 for signature in signatures}
        if len(bits) == 1:
            yield subset(atom.label, member.label) if bits == {1} else disjoint(atom.label, member.label)


def _find_places(members: Sequence[_Member], cuts: Sequence[int]) -> set[Place] | None:
    """Return the places that have a value, or None if there are too many places, or values to look at."""
    within = get_domain(members[0].period.inner.type)
    if within is None or within.highest is None or not isinstance(within.lowest, int):
        raise TypeError(f"{members[0].period.inner.type} has no integers as keys")
    length, step = _find_common_period(members)
    zero = [0] if any(member.period.is_signed for member in members) else []
    places: set[Place] = set()
    whole: dict[bool, frozenset[int]] = {}  # the signatures of a whole period, by whether its keys are negative
    count = 0
    for above, (low, high) in enumerate(pairwise([within.lowest, *cuts, within.highest + 1])):
        for first, beyond in pairwise([low, *(key for key in zero if low < key < high), high]):
            if beyond - first >= length and (first < 0) in whole:
                signatures = whole[first < 0]
            else:
                keys = _list_keys(first, min(beyond, first + length), step)
                signatures = _compute_signatures(members, keys)
                count += len(keys)
                if beyond - first >= length:
                    whole[first < 0] = signatures
            places.update(Place(above, signature) for signature in signatures)
            if count > _MOST_VALUES or len(places) > _MOST_PLACES:
                return None
    return places


def _list_keys(first: int, beyond: int, step: int) -> _Keys:
    """Return a key, and all multiples of a step between this key and another key."""
    multiple = first + step - first % step
    others = multiple + step * np.arange(max(0, -((multiple - beyond) // step)), dtype=np.int64)
    return np.concatenate([np.array([first], dtype=np.int64), others])


def _compute_signatures(members: Sequence[_Member], keys: _Keys) -> frozenset[int]:
    """Return the sets of members that contain any of the keys, as bit masks."""
    values: dict[str, _Keys] = {}
    signatures = np.zeros(len(keys), dtype=np.int64)
    for number, member in enumerate(members):
        if member.term not in values:
            values[member.term] = member.period.compute(keys)
        signatures |= (values[member.term] < member.cut).astype(np.int64) << number
    return frozenset(np.unique(signatures).tolist())


def read_period(node: Node) -> Period | None:
    """Return the periodic function that a node is, or None."""
    remainder = read_remainder(node)
    if remainder is not None:
        modulus = remainder.modulus
        if not 0 < modulus <= _MOST_STEPS:
            return None
        inner = peel_widening(remainder.inner)
        if remainder.positive:
            return Period(inner, lambda keys: keys % modulus, modulus)
        return Period(inner, lambda keys: np.fmod(keys, modulus), modulus, is_signed=True)
    match node:
        case Call("&", (left, right)):
            return _read_bit(left, right) or _read_bit(right, left)
        case Call(function, (argument,)) if function in _OF_DAYS and argument.type == DATE:
            return _read_day_function(argument, *_OF_DAYS[function])
        case Call(function, (argument,)) if function in _OF_TIMES and argument.type == TIMESTAMP:
            step, count = _OF_TIMES[function]
            return Period(argument, lambda keys: keys // step % count, step * count, step)
    return None


def _read_bit(inner: Node, mask: Node) -> Period | None:
    """Return the function of a single bit."""
    constant = evaluate(mask)
    if evaluate(inner) is not None or constant is None or not isinstance(constant.key, int):
        return None
    bit, kind = constant.key, peel_widening(inner).type
    within = get_domain(kind)
    if within is None or within.highest is None or not 0 < bit <= within.highest or bit & (bit - 1):
        return None
    return Period(peel_widening(inner), lambda keys: keys & bit, 2 * bit, bit)


def _read_day_function(argument: Node, compute: Callable[[_Keys], _Keys], length: int) -> Period:
    """Return a function of a date, or of the time whose date it is."""
    match argument:
        case Call("cast" | "coerce", (inner,)) if inner.type in (TIMESTAMP, TIMESTAMP_NTZ):
            day = MICROSECONDS_A_DAY
            return Period(inner, lambda keys: compute(keys // day), length * day, day)
    return Period(argument, compute, length)


def _get_months(days: _Keys) -> _Keys:
    return days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12 + 1


def _get_quarters(days: _Keys) -> _Keys:
    return (_get_months(days) + 2) // 3


def _get_days_of_month(days: _Keys) -> _Keys:
    return days - days.astype("datetime64[D]").astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) + 1


def _get_days_of_year(days: _Keys) -> _Keys:
    return days - days.astype("datetime64[D]").astype("datetime64[Y]").astype("datetime64[D]").astype(np.int64) + 1


def _get_weeks_of_year(days: _Keys) -> _Keys:
    """Return the numbers of weeks by ISO 8601: a week belongs to the year of its Thursday."""
    return (_get_days_of_year(days - (days + 3) % 7 + 3) + 6) // 7


_OF_DAYS: dict[str, tuple[Callable[[_Keys], _Keys], int]] = {
    "month": (_get_months, _DAYS_PER_CYCLE),
    "quarter": (_get_quarters, _DAYS_PER_CYCLE),
    "day": (_get_days_of_month, _DAYS_PER_CYCLE),
    "dayofyear": (_get_days_of_year, _DAYS_PER_CYCLE),
    "weekofyear": (_get_weeks_of_year, _DAYS_PER_CYCLE),
    "dayofweek": (lambda days: (days + 4) % 7 + 1, 7),
    "weekday": (lambda days: (days + 3) % 7, 7),
}
_OF_TIMES = {"hour": (3_600_000_000, 24), "minute": (60_000_000, 60), "second": (1_000_000, 60)}
"""The microseconds in a unit of time, and how many units follow each other until the next larger one."""
