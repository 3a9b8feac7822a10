"""Sets of values of a term: unions of intervals between cuts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from heapq import merge

from provenn.criteria.domains import Domain, Key, successor

__all__ = ["Ranges", "build_comparison_ranges", "build_point_ranges"]


@dataclass(frozen=True, slots=True)
class Ranges:
    """A set of values, as the cuts at which a walk upwards from the lowest value enters or leaves the set.

    Parameters
    ----------
    first
        Whether the lowest value is in the set.
    cuts
        The keys at which membership changes, in ascending order; never the lowest key, never a key beyond the highest.
        Two sets are equal exactly if their fields are equal.
    """

    first: bool
    cuts: tuple[Key, ...] = ()

    def __contains__(self, key: Key) -> bool:
        return self.first != (bisect_right(self.cuts, key) % 2 == 1)

    def __invert__(self) -> Ranges:
        return Ranges(not self.first, self.cuts)

    def __or__(self, other: Ranges) -> Ranges:
        return Ranges.union([self, other])

    def __and__(self, other: Ranges) -> Ranges:
        return ~(~self | ~other)

    @staticmethod
    def union(parts: Iterable[Ranges]) -> Ranges:
        """Return the union of the sets, in a single sweep."""
        sets = list(parts)
        level = sum(part.first for part in sets)
        first = level > 0
        cuts: list[Key] = []
        steps = ([(key, 1 if part.first == (n % 2 == 1) else -1) for n, key in enumerate(part.cuts)] for part in sets)
        for key, step in merge(*steps):
            was_inside, level = level > 0, level + step
            if was_inside != (level > 0):
                # Where a set ends and another begins at the same key, no cut remains.
                cuts.pop() if cuts and cuts[-1] == key else cuts.append(key)
        return Ranges(first, tuple(cuts))

    def move_cuts(self, move: Callable[[Key], Key], to: Domain) -> Ranges:
        """Return the set with its cuts mapped, in the same order, into another domain."""
        first = self.first
        cuts: list[Key] = []
        for cut in map(move, self.cuts):
            if cut == to.lowest:
                first = not first
            elif cuts and cuts[-1] == cut:
                cuts.pop()
            elif to.highest is None or not isinstance(cut, int) or cut <= to.highest:
                cuts.append(cut)
        return Ranges(first, tuple(cuts))

    def intervals(self) -> Iterator[tuple[Key | None, Key | None]]:
        """Yield the intervals from a key (inclusive) to another key (exclusive); None is the end of the domain."""
        ends: list[Key | None] = [None, *self.cuts] if self.first else [*self.cuts]
        if len(ends) % 2:
            ends.append(None)
        return zip(ends[::2], ends[1::2], strict=True)


def build_comparison_ranges(operator: str, key: Key, within: Domain) -> Ranges:
    """Return the values v for which ``v operator key`` holds, for ``< <= = <> >= >``."""
    match operator:
        case "<":
            return _build_lower_range(key, within)
        case "<=":
            return _build_lower_range(successor(key), within)
        case "=":
            return build_point_ranges([key], within)
        case "<>":
            return ~build_point_ranges([key], within)
        case ">=":
            return ~_build_lower_range(key, within)
        case _:
            return ~_build_lower_range(successor(key), within)


def build_point_ranges(keys: Iterable[Key], within: Domain) -> Ranges:
    """Return the set of some values."""
    cuts: list[Key] = []
    for key in sorted(set(keys)):
        if cuts and cuts[-1] == key:
            cuts.pop()
        else:
            cuts.append(key)
        cuts.append(successor(key))
    first = bool(cuts) and cuts[0] == within.lowest
    beyond = bool(cuts) and within.highest is not None and cuts[-1] == within.highest + 1
    return Ranges(first, tuple(cuts[first : len(cuts) - beyond]))


def _build_lower_range(key: Key, within: Domain) -> Ranges:
    """Return the values below a key."""
    if key == within.lowest:
        return Ranges(first=False)
    if within.highest is not None and isinstance(key, int) and key > within.highest:
        return Ranges(first=True)
    return Ranges(True, (key,))
