"""Pairs of near positions: which rows of two sides a match may pair, found by sorting, and decided as Spark decides.

The positions of one side are sorted by zone of declination and, inside a zone, by right ascension. A circle around a
position of the other side is then one range of the sorted rows, or a few: in two zones near their border, and on both
sides of right ascension 0. The height of zones adapts to the density of the positions, so that ranges are short.

Ranges only limit the comparisons, and are a little too wide. The same formula as in Spark decides about a pair
(`provenn.spark.crossmatch`). Differences of coordinates have the same bits everywhere; sines and their inverse do not.
So a separation here differs from Spark's by a few last places, and the decision is the same unless the separation lies
within `DOUBT` of a limit, relative to it. Such a pair is left to Spark, and so is a choice between two separations that
are so near to each other, unless both are computed from the same numbers: then they are equal in Spark, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from provenn import deadline
from provenn.look.refusal import NeedsSpark

__all__ = [
    "DOUBT",
    "LARGEST_RADIUS",
    "Flags",
    "NearPairs",
    "Numbers",
    "PairLimits",
    "Places",
    "RankKeys",
    "SkyIndex",
    "SkyRows",
    "compute_reach",
    "count_first_pairs",
    "find_near_pairs",
    "order_pairs",
]

Numbers = NDArray[np.float64]
Places = NDArray[np.int64]
Flags = NDArray[np.bool_]

DOUBT: Final = 1e-12
"""The most, relative to a separation, by which Spark's separation may differ: each of a dozen steps errs by 2e-16."""

LARGEST_RADIUS: Final = 30 * 3600.0
"""The largest radius in arcseconds: below, the inverse of the sine loses no digits, and one formula is enough."""

_PAD: Final = 1e-6
"""Degrees by which ranges are too wide: more than the rounding of the numbers by which rows are sorted."""

_TURN: Final = 1024.0
"""The distance of zones in these numbers: more than a circle."""

_VANISHING: Final = 1e-280
"""Below this, a square may have lost its digits."""

_NUMBER_AT_ONCE: Final = 1 << 21
"""The pairs that are compared at once."""

_MOST_COMPARED: Final = 1000
"""The most pairs that are compared for each row, on average."""

_SAMPLE: Final = 1000


@dataclass(frozen=True, slots=True)
class SkyRows:
    """Positions in degrees: right ascensions from 0 to 360, declinations from -90 to 90, none of them NaN."""

    ra: Numbers
    dec: Numbers

    def __len__(self) -> int:
        return len(self.ra)


@dataclass(frozen=True, slots=True)
class SkyIndex:
    """Positions in the order of zones and right ascensions, for circles of a radius.

    Parameters
    ----------
    rows
        The positions, in order.
    places
        The place of each position before it was sorted.
    keys
        The increasing numbers by which positions are sorted.
    radius
        The radius of circles in degrees, a little too large.
    height
        The height of a zone in degrees: at least the diameter of a circle.
    """

    rows: SkyRows
    places: Places
    keys: Numbers
    radius: float
    height: float

    @classmethod
    def of(cls, rows: SkyRows, radius: float) -> SkyIndex:
        """Return the index of positions, for circles with a radius in arcseconds."""
        reach = radius / 3600 * (1 + 1e-9) + _PAD
        smallest = max(4 * reach, 0.01)
        height = 180.0
        if len(rows):
            width = max(float(np.ptp(rows.ra)), 1.0)
            band = np.sin(np.radians([rows.dec.min(), rows.dec.max()]))
            area = max(width * math.degrees(float(band[1] - band[0])), 1e-6)
            height = area / (len(rows) * 4 * reach)
        height = min(max(height, smallest), 180.0)
        while True:
            index = cls._sort(rows, reach, height)
            if height <= smallest or index.count_in_sample() <= 8:
                return index
            height = max(height / 16, smallest)

    @classmethod
    def _sort(cls, rows: SkyRows, reach: float, height: float) -> SkyIndex:
        keys = np.floor((rows.dec + 90) / height) * _TURN + rows.ra
        places = np.argsort(keys)
        return cls(SkyRows(rows.ra[places], rows.dec[places]), places, keys[places], reach, height)

    def count_in_sample(self) -> float:
        """Return how many positions a circle around one of them is compared with, on average in a sample."""
        step = max(1, len(self.rows) // _SAMPLE)
        sample = SkyRows(self.rows.ra[::step], self.rows.dec[::step])
        _, first, last = self.find_ranges(sample)
        return float((last - first).sum()) / max(1, len(sample))

    def find_ranges(self, rows: SkyRows) -> tuple[Places, Places, Places]:
        """Return ranges of sorted places that hold all positions in the circles around some rows.

        Returns
        -------
        The row of each range, and the first place of the range and the one after the last. Ranges of a row have no
        place in common, and none is empty.
        """
        reach = compute_reach(rows.dec, self.radius)
        low, high = rows.ra - reach, rows.ra + reach
        is_whole = reach >= 179
        low[is_whole], high[is_whole] = 0, 360
        zones = [np.floor((rows.dec + sign * self.radius + 90) / self.height) for sign in (-1, 1)]
        numbers = np.arange(len(rows))
        ranges = [(numbers, zones[0], low, high)]
        (split,) = np.nonzero(zones[0] != zones[1])
        ranges.append((split, zones[1][split], low[split], high[split]))
        for owner, zone, *_ in tuple(ranges):
            for sign, crosses in ((1, low[owner] < 0), (-1, high[owner] >= 360)):
                (place,) = np.nonzero(crosses & ~is_whole[owner])
                crossing = owner[place]
                ranges.append((crossing, zone[place], low[crossing] + sign * 360, high[crossing] + sign * 360))
        owners, zone_numbers, starts, ends = (np.concatenate(parts) for parts in zip(*ranges, strict=True))
        base = zone_numbers * _TURN
        start, end = base + np.maximum(starts, -_PAD), base + np.minimum(ends, 360 + _PAD)
        first = np.searchsorted(self.keys, start, "left")
        # Most ranges are empty: the first position from their start lies beyond their end.
        is_used = first < len(self.keys)
        is_used[is_used] = self.keys[first[is_used]] <= end[is_used]
        first = first[is_used]
        return owners[is_used], first, np.searchsorted(self.keys, end[is_used], "right")


def compute_reach(dec: Numbers, radius: float) -> Numbers:
    """Return how far circles of a radius in degrees reach in right ascension; around a pole, everywhere."""
    near_pole = np.abs(dec) + radius >= 89.9999
    ratio = math.sin(math.radians(min(radius, 90.0))) / np.where(near_pole, 1.0, np.cos(np.radians(dec)))
    return np.where(near_pole, 360.0, np.degrees(np.arcsin(np.minimum(ratio, 1.0))) + _PAD)


@dataclass(frozen=True, slots=True)
class NearPairs:
    """Pairs of rows that a rule keeps as candidates.

    Parameters
    ----------
    left, right
        The place of the row on each side.
    separations
        The separations in arcseconds, without the last digits.
    heights, widths
        The differences in declination and right ascension, without sign, to the last bit.
    distances
        How far the right row is from the equator, and the left row from the nearest pole; to the last bit.
    """

    left: Places
    right: Places
    separations: Numbers
    heights: Numbers
    widths: Numbers
    distances: tuple[Numbers, Numbers]

    def take(self, places: Any) -> NearPairs:  # noqa: ANN401 - an array of places, or a mask
        """Return some of the pairs."""
        distances, poles = self.distances
        return NearPairs(
            self.left[places],
            self.right[places],
            self.separations[places],
            self.heights[places],
            self.widths[places],
            (distances[places], poles[places]),
        )

    @classmethod
    def join(cls, parts: list[NearPairs]) -> NearPairs:
        """Return the pairs of several parts."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            np.concatenate([part.left for part in parts]),
            np.concatenate([part.right for part in parts]),
            np.concatenate([part.separations for part in parts]),
            np.concatenate([part.heights for part in parts]),
            np.concatenate([part.widths for part in parts]),
            (
                np.concatenate([part.distances[0] for part in parts]),
                np.concatenate([part.distances[1] for part in parts]),
            ),
        )


@dataclass(frozen=True, slots=True)
class PairLimits:
    """How far the positions of a pair are from each other.

    Parameters
    ----------
    radius, smallest
        The largest and the smallest separation in arcseconds, both included.
    own_radius
        The largest separation of each row of the left side; not NaN, not negative. None without one.
    """

    radius: float
    smallest: float = 0.0
    own_radius: Numbers | None = None

    def list_for(self, own: Places) -> Iterator[tuple[Any, bool]]:
        """Yield the limits of pairs with some rows of the left side, and whether each is the largest separation."""
        yield self.radius, True
        if self.smallest:
            yield self.smallest, False
        if self.own_radius is not None:
            yield self.own_radius[own], True


def find_near_pairs(left: SkyRows, index: SkyIndex, limits: PairLimits) -> Iterator[NearPairs]:
    """Yield the pairs of positions within limits. The pairs of a row of the left side are yielded together.

    Parameters
    ----------
    left
        The positions of the left side.
    index
        The positions of the right side, with an index for the radius.
    limits
        How far the positions are from each other.

    Raises
    ------
    NeedsSpark
        If rounding decides about a pair, or very many pairs are compared.
    """
    owners, first, last = index.find_ranges(left)
    order = np.argsort(owners, kind="stable")
    owners, first, sizes = owners[order], first[order], (last - first)[order]
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    if total > _MOST_COMPARED * (len(left) + 10_000):
        raise NeedsSpark("very many pairs of positions are compared")
    start = 0
    while start < len(owners):
        deadline.check()
        done = int(ends[start - 1]) if start else 0
        stop = max(int(np.searchsorted(ends, done + _NUMBER_AT_ONCE, "right")), start + 1)
        while stop < len(owners) and owners[stop] == owners[stop - 1]:
            stop += 1
        counts = sizes[start:stop]
        offsets = np.cumsum(counts) - counts
        places = np.arange(int(counts.sum())) - np.repeat(offsets - first[start:stop], counts)
        yield _keep_near(left, index, (np.repeat(owners[start:stop], counts), places), limits)
        start = stop


def _keep_near(left: SkyRows, index: SkyIndex, compared: tuple[Places, Places], limits: PairLimits) -> NearPairs:
    """Return those of some pairs that are within limits."""
    own, other = compared
    heights = np.abs(left.dec[own] - index.rows.dec[other])
    (near,) = np.nonzero(heights <= index.radius)
    own, other, heights = own[near], other[near], heights[near]
    turns = np.abs(left.ra[own] - index.rows.ra[other])
    widths = np.minimum(turns, 360.0 - turns)
    poles, distances = 90.0 - np.abs(left.dec[own]), np.abs(index.rows.dec[other])
    scales = np.sin(np.radians(poles)) * np.sin(np.radians(90.0 - distances))
    up, across = (np.square(np.sin(np.radians(difference) / 2)) for difference in (heights, widths))
    squares = up + scales * across
    if ((squares < _VANISHING) & ((heights > 0) | ((widths > 0) & (scales > 0)))).any():
        raise NeedsSpark("two positions differ by less than numbers can hold")
    separations = 648000 / math.pi * 2 * np.arcsin(np.sqrt(np.minimum(squares, 1.0)))
    kept = np.ones(len(own), dtype=bool)
    for limit, is_largest in limits.list_for(own):
        with np.errstate(invalid="ignore"):  # infinite radii
            is_unclear = (np.abs(separations - limit) <= DOUBT * limit) & (separations > 0)
        if is_unclear.any():
            raise NeedsSpark("rounding decides whether two sources are within the radius")
        kept &= separations <= limit if is_largest else separations >= limit
    return NearPairs(own, index.places[other], separations, heights, widths, (distances, poles)).take(kept)


def count_first_pairs(pairs: NearPairs, most: int | None) -> int:
    """Return how many pairs remain if each left row keeps its nearest, at most `most`; all if it is None."""
    if most is None:
        return len(pairs.left)
    counts = np.unique(pairs.left, return_counts=True)[1]
    return int(np.minimum(counts, most).sum())


RankKeys = Callable[[Places], Places]
"""Returns numbers in the order of the keys of the partners in some pairs, given the places of these pairs."""


def order_pairs(pairs: NearPairs, own: Places, rank_keys: RankKeys, most: int) -> Places:
    """Return the places of the nearest pairs of each row, at most `most`: by separation, then by the partner's key.

    Parameters
    ----------
    pairs
        All pairs of the rows that the rule may keep.
    own
        The rows whose pairs are ordered: `left` of the pairs, or `right`.
    rank_keys
        Puts the partners of a row in the order of their keys.
    most
        How many pairs a row keeps.

    Raises
    ------
    NeedsSpark
        If rounding decides which of two sources is nearer.
    """
    order = np.lexsort((pairs.separations, own))
    if not len(order):
        return order
    rows, angles = own[order], pairs.separations[order]
    is_close = np.zeros(len(order), dtype=bool)
    is_close[1:] = (rows[1:] == rows[:-1]) & (angles[1:] - angles[:-1] <= 2 * DOUBT * angles[1:])
    ranks = _rank_in_row(rows)
    if is_close.any():
        order = _order_ties(pairs, order, is_close, rank_keys, ranks < most)
    return order[ranks < most]


def _rank_in_row(rows: Places) -> Places:
    """Return the place of each pair among the pairs of its row, given the rows of pairs in order."""
    is_first = np.concatenate(([True], rows[1:] != rows[:-1]))
    starts: Places = np.nonzero(is_first)[0][np.cumsum(is_first) - 1]
    ranks: Places = np.arange(len(rows)) - starts
    return ranks


def _order_ties(pairs: NearPairs, order: Places, is_close: Flags, rank_keys: RankKeys, is_kept: Flags) -> Places:
    """Return an order in which pairs with the same separation are in the order of keys.

    Parameters
    ----------
    pairs, order
        The pairs, and their places in the order of rows and separations.
    is_close
        Which pairs in this order have about the separation of the pair before, in the same row.
    rank_keys
        Puts the partners of a row in the order of their keys.
    is_kept
        Which places in this order are kept.
    """
    chains = np.cumsum(~is_close)
    # A chain of close separations matters if some of its pairs are kept, and others are not.
    divided = np.isin(chains, np.intersect1d(chains[is_kept], chains[~is_kept]))
    is_unequal = is_close & divided
    is_unequal[1:] &= ~_are_equal(pairs, order[1:], order[:-1])
    if is_unequal.any():
        raise NeedsSpark("rounding decides which of two sources is nearer")
    (tied,) = np.nonzero(divided)
    result = order.copy()
    if len(tied):
        result[tied] = order[tied][np.lexsort((rank_keys(order[tied]), chains[tied]))]
    return result


def _are_equal(pairs: NearPairs, first: Places, second: Places) -> Flags:
    """Return for which two pairs of the same row the separation is computed from the same numbers.

    One of the rows of both pairs is the same. At a pole, right ascensions do not matter: their factor is exactly 0.
    """
    distances, poles = pairs.distances
    is_same_height = pairs.heights[first] == pairs.heights[second]
    is_same_factor = (distances[first] == distances[second]) & (poles[first] == poles[second])
    is_pole = ((poles[first] == 0) & (poles[second] == 0)) | ((distances[first] == 90) & (distances[second] == 90))
    is_equal: Flags = is_same_height & (is_pole | (is_same_factor & (pairs.widths[first] == pairs.widths[second])))
    return is_equal
