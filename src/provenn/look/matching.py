"""A match without Spark: the rows of the left side, file by file, with the rows of the right side that are near.

The files of both sides say in which box of the sky their rows lie. For each file of the left side, only the files of
the right side are read whose box is near; in HATS, these are the pixels around. So no more than a few files of each
side are in memory, for each thread. Files that say nothing, or whose rows lie everywhere, are matched in bands of
declination instead, and read once for each band.

Sound: a left row and all right rows within the radius come together, because boxes and bands are widened by more than
the radius. A row of the left side is in exactly one file and one band, so no pair comes twice.
"""

from __future__ import annotations

import contextvars
import os
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Any, Final, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from provenn.catalogs.match_rule import MatchRule
from provenn.criteria import AttributeIdentity
from provenn.look.located_rows import EVERYWHERE, LocatedRows, SkyBox, join_rows
from provenn.look.near_pairs import (
    NearPairs,
    PairLimits,
    Places,
    RankKeys,
    SkyIndex,
    SkyRows,
    count_first_pairs,
    find_near_pairs,
    order_pairs,
)
from provenn.look.refusal import NeedsSpark
from provenn.look.sky_grid import SkyGrid

__all__ = ["MatchedSide", "SideFile", "count_pairs", "read_pairs"]

T = TypeVar("T")

_MOST_THREADS: Final = 8
_MOST_KEPT: Final = 256 * 2**20
"""The bytes of rows of the right side that are kept in memory, because the next file of the left side may need them."""

_MOST_INDEXED: Final = 16_000_000
"""The most rows that are sorted together; the rows of a side with more are matched in bands, if they lie everywhere."""

_MOST_JOINED: Final = 64_000_000
"""The most rows of the left side that are matched at once, where a pair must be the nearest of both sides."""


@dataclass(frozen=True, slots=True, eq=False)
class SideFile:
    """Some of the rows of a side, in a file or several.

    Parameters
    ----------
    read
        Reads the rows that have a position.
    box
        Where the positions of these rows are.
    rows
        How many rows there are, roughly; 0 if it is not known.
    """

    read: Callable[[], LocatedRows]
    box: SkyBox = EVERYWHERE
    rows: int = 0
    lock: Lock = field(default_factory=Lock)


@dataclass(frozen=True, slots=True)
class MatchedSide:
    """A side of a match.

    Parameters
    ----------
    files
        All rows.
    columns
        The columns that pairs take: the name on this side by the name in the pairs.
    key
        The columns that identify a source on this side, in order.
    """

    files: Sequence[SideFile]
    columns: Mapping[AttributeIdentity, AttributeIdentity]
    key: Sequence[AttributeIdentity]


def count_pairs(left: MatchedSide, right: MatchedSide, rule: MatchRule) -> int:
    """Return how many pairs a rule keeps, other than a mutual one.

    Which of its candidates a row keeps does not matter to their number, so neither keys nor equal separations do.

    Raises
    ------
    NeedsSpark
        If rounding decides about a pair, or the match is too large.
    """

    def count(left_rows: LocatedRows, near: _NearRows) -> int:
        return sum(count_first_pairs(pairs, rule.most) for pairs in near.find_pairs(left_rows, rule))

    return sum(_match_files(left, right, rule, count))


def read_pairs(left: MatchedSide, right: MatchedSide, rule: MatchRule) -> Iterator[pa.Table]:
    """Yield the pairs that a rule keeps, with the columns of both sides.

    Raises
    ------
    NeedsSpark
        If rounding decides about a pair or its order, or the match is too large.
    """

    def take(left_rows: LocatedRows, near: _NearRows) -> list[pa.Table]:
        parts = list(near.find_pairs(left_rows, rule))
        if rule.is_mutual and parts:
            parts = [NearPairs.join(parts)]
        rank_left = partial(_rank_keys, left_rows.table, left.key)
        rank_right = partial(_rank_keys, near.rows.table, right.key)
        tables = []
        for pairs in parts:
            kept = pairs.take(_choose_pairs(pairs, rule, rank_left, rank_right))
            columns = _take_columns(left, left_rows, kept.left) | _take_columns(right, near.rows, kept.right)
            tables.append(pa.table(columns))
        return tables

    for tables in _match_files(left, right, rule, take):
        yield from tables


def _choose_pairs(pairs: NearPairs, rule: MatchRule, rank_left: RankKeys, rank_right: RankKeys) -> Any:  # noqa: ANN401 - places or a slice
    """Return the places of the pairs that a rule keeps; the functions order rows of a side by key."""
    if rule.most is None:
        return slice(None)
    chosen = order_pairs(pairs, pairs.left, lambda places: rank_right(pairs.right[places]), rule.most)
    if not rule.is_mutual:
        return chosen
    return np.intersect1d(chosen, order_pairs(pairs, pairs.right, lambda places: rank_left(pairs.left[places]), 1))


def _rank_keys(table: pa.Table | None, key: Sequence[AttributeIdentity], rows: Places) -> Places:
    """Return numbers in the order of the keys of rows; equal keys are the same row."""
    if table is None:
        raise NeedsSpark("keys decide between sources at the same separation")
    kinds = [table.column(name).type for name in key]
    if not all(pa.types.is_integer(kind) or pa.types.is_date(kind) or pa.types.is_string(kind) for kind in kinds):
        raise NeedsSpark("keys decide between sources at the same separation, and only Spark orders keys of this type")
    unique, places = np.unique(rows, return_inverse=True)
    keys = table.select(list(key)).take(_make_places(unique))
    sorted_places = pc.sort_indices(keys, sort_keys=[(name, "ascending") for name in key])
    order = np.frombuffer(sorted_places.buffers()[1], np.uint64, len(sorted_places), sorted_places.offset * 8)
    ranks = np.empty(len(unique), dtype=np.int64)
    ranks[order] = np.arange(len(unique))
    return ranks[places]


def _take_columns(side: MatchedSide, rows: LocatedRows, places: Places) -> dict[AttributeIdentity, Any]:
    """Return the columns that pairs take from a side, for the row of each pair."""
    if rows.table is None:
        return {}
    taken = rows.table.select(list(dict.fromkeys(side.columns.values()))).take(_make_places(places))
    return {new: taken.column(old) for new, old in side.columns.items()}


def _make_places(places: Places) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return places as an array of Arrow; pa.array() would import pandas."""
    numbers = np.ascontiguousarray(places, dtype=np.int64)
    return pa.Array.from_buffers(pa.int64(), len(numbers), [None, pa.py_buffer(numbers)])


# -- files -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _NearRows:
    """The rows of the right side near some rows of the left side, with an index."""

    rows: LocatedRows
    index: SkyIndex

    def find_pairs(self, left: LocatedRows, rule: MatchRule) -> Iterator[NearPairs]:
        return find_near_pairs(left.sky, self.index, PairLimits(rule.radius, rule.min_radius, left.radius))


class _RightRows:
    """Reads the rows of the right side near some rows; several threads may do so.

    Parameters
    ----------
    files
        All rows of the right side.
    radius
        The radius of the match in arcseconds.
    """

    def __init__(self, files: Sequence[SideFile], radius: float) -> None:
        self.files = files
        self.radius = radius
        self.reach = radius / 3600 * (1 + 1e-9) + 2e-6
        self.kept: OrderedDict[SideFile, LocatedRows] = OrderedDict()
        self.lock = Lock()
        self.band_lock = Lock()
        self.band: tuple[SkyBox, _NearRows] | None = None

    def read_near(self, left: SkyRows, box: SkyBox, band: SkyBox) -> _NearRows | None:
        """Return all rows within the radius of rows in a box in a band, and some others; None if there are none."""
        if box.is_most_of(band):  # the same rows for all files
            with self.band_lock:
                if self.band is None or self.band[0] != band:
                    self.band = None
                    near = self._index(band.widen(self.reach), None)
                    if near is None:
                        return None
                    self.band = band, near
                return self.band[1]
        return self._index(box.widen(self.reach), left)

    def _index(self, box: SkyBox, left: SkyRows | None) -> _NearRows | None:
        """Return the rows in a box; only those near the left rows, if there are any."""
        parts, number = [], 0
        grid = None if left is None else SkyGrid.around(left, self.reach)
        for file in self.files:
            if file.box.meets(box):
                cut = (file.read() if left is None else self._recall(file)).cut(box)
                cut = cut if grid is None else cut.filter(grid.find_near(cut.sky))
                number += len(cut.sky)
                if number > 2 * _MOST_INDEXED:
                    raise NeedsSpark("very many sources are matched in a small part of the sky")
                parts += [cut] if len(cut.sky) else []
        if not parts:
            return None
        rows = join_rows(parts)
        return _NearRows(rows, SkyIndex.of(rows.sky, self.radius))

    def _recall(self, file: SideFile) -> LocatedRows:
        """Return the rows of a file, and keep them for a while."""
        with file.lock:
            with self.lock:
                rows = self.kept.get(file)
                if rows is not None:
                    self.kept.move_to_end(file)
                    return rows
            rows = file.read()
            with self.lock:
                self.kept[file] = rows
                while len(self.kept) > 1 and sum(kept.nbytes for kept in self.kept.values()) > _MOST_KEPT:
                    self.kept.popitem(last=False)
            return rows


def _match_files(
    left: MatchedSide, right: MatchedSide, rule: MatchRule, take: Callable[[LocatedRows, _NearRows], T]
) -> Iterator[T]:
    """Yield what a function makes of the rows of each file of the left side and the right rows near them."""
    near = _RightRows(right.files, rule.radius)

    def match(files: Sequence[SideFile], band: SkyBox) -> T | None:
        parts = [file.read().cut(band) for file in files]
        parts = [part for part in parts if len(part.sky)]
        if not parts:
            return None
        rows = join_rows(parts)
        box = rows.find_box()
        near_rows = None if box is None else near.read_near(rows.sky, box, band)
        return None if near_rows is None else take(rows, near_rows)

    groups: list[list[SideFile]] = [[file] for file in left.files]
    if rule.is_mutual and len(groups) > 1:
        if sum(file.rows for file in left.files) > _MOST_JOINED:
            raise NeedsSpark("very many sources are matched that must be the nearest of each other")
        groups = [list(left.files)]
    bands = [EVERYWHERE] if rule.is_mutual else _divide_sky(left.files, right.files)
    for band in bands:
        work = [(group, band) for group in groups if any(file.box.meets(band) for file in group)]
        yield from _run_all(lambda task: match(*task), work)


def _divide_sky(left: Sequence[SideFile], right: Sequence[SideFile]) -> list[SkyBox]:
    """Return the bands of declination that are matched one after another."""
    rows = sum(file.rows for file in right)
    number = -(-rows // _MOST_INDEXED)
    if number < 2 or not any(file.box.is_most_of(EVERYWHERE) for file in left):
        return [EVERYWHERE]
    edges = np.degrees(np.arcsin(np.linspace(-1, 1, number + 1))).tolist()
    edges[0], edges[-1] = -90.0, 90.0
    # Ends are included, and a row on an edge belongs to one band.
    souths = [-90.0, *(float(np.nextafter(edge, 90.0)) for edge in edges[1:-1])]
    return [SkyBox(0.0, 360.0, south, north) for south, north in zip(souths, edges[1:], strict=True)]


def _run_all(run: Callable[[Any], T | None], work: Sequence[Any]) -> Iterator[T]:
    """Yield the results of some work in order, without None; threads are a little ahead, in the caller's context."""
    threads = min(os.cpu_count() or 1, _MOST_THREADS, len(work))
    if threads < 2:
        yield from (result for task in work if (result := run(task)) is not None)
        return
    with ThreadPoolExecutor(threads, "match") as pool:
        waiting: deque[Future[T | None]] = deque()
        try:
            for task in work:
                waiting.append(pool.submit(contextvars.copy_context().run, run, task))
                if len(waiting) > threads:
                    result = waiting.popleft().result()
                    if result is not None:
                        yield result
            while waiting:
                result = waiting.popleft().result()
                if result is not None:
                    yield result
        finally:
            for future in waiting:
                future.cancel()
