"""Estimate the share of a base's rows kept by conditions on a single column, from the statistics of the files.

Values are taken to spread evenly between the lowest and the highest. Real values seldom do, so the odds are moved half
way, as a ratio, to the odds of a fixed share: an error by a factor of 10,000 becomes an error by a factor of about 100.
The estimate serves files without a sample of rows. A guess, never a proof.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from math import inf, isinf, isnan, sqrt
from typing import Any

from provenn.catalogs import Extent
from provenn.criteria import Atom, Type
from provenn.criteria.domains import INFINITY, decode_number
from provenn.files.column_statistics import ColumnStatistics
from provenn.targets.scene import DescribedColumn

__all__ = ["KEPT_SHARE", "NULL_SHARE", "estimate_column_share", "moderate_share"]

KEPT_SHARE = 1 / 3
"""The share of rows that a condition keeps, if nothing is known."""

NULL_SHARE = 0.05
"""The share of rows without a value, if nothing is known."""


def estimate_column_share(column: DescribedColumn, extent: Extent, atoms: Mapping[str, Atom]) -> float | None:
    """Return the estimated share of rows in a set; None without a basis for an estimate.

    The cuts of the atoms divide the values of the column into intervals. Each interval lies in the set or outside, and
    so do the rows without a value. A set that reaches between the lowest and the highest value keeps a row at least.

    Parameters
    ----------
    column
        The column.
    extent
        The set; all its leaves are atoms of this column.
    atoms
        The atoms, by label.
    """
    statistics, used = column.statistics, {label: atoms[label] for label in extent.labels}
    cuts = sorted({cut for atom in used.values() for cut in _list_cuts(atom)})
    if not statistics.rows or (cuts and statistics.low is None and not statistics.is_without_values):
        return None
    null_share = NULL_SHARE if statistics.nulls is None else statistics.nulls / statistics.rows
    share = null_share if extent.evaluate(lambda _: False, everything=True) else 0.0
    spread = 0.0
    for start, end in pairwise([None, *cuts, None]):
        holds = partial(_holds_interval, used, start)
        if null_share < 1 and extent.evaluate(holds, everything=True):
            spread += _measure_interval(column.type, statistics, start, end)
    return min(share + moderate_share(spread) * (1 - null_share), 1.0)


def moderate_share(share: float) -> float:
    """Return a share between an even spread and the fixed share: the geometric mean of the odds.

    >>> [round(moderate_share(share), 3) for share in (0, 0.0001, 0.02, 1 / 3, 0.98, 1)]
    [0.0, 0.007, 0.092, 0.333, 0.832, 1.0]
    """
    if share >= 1:
        return 1.0
    odds = sqrt(share / (1 - share) * KEPT_SHARE / (1 - KEPT_SHARE))
    return odds / (1 + odds)


def _list_cuts(atom: Atom) -> tuple[Any, ...]:
    """Return the keys at which membership in an atom changes; the keys of a term have a single type."""
    if atom.cut is None:
        return ()
    return atom.cut if isinstance(atom.cut, tuple) else (atom.cut,)


def _holds_interval(atoms: Mapping[str, Atom], start: Any, label: str) -> bool:  # noqa: ANN401 - see above
    """Return whether an atom holds the interval that begins at a cut; None begins at the lowest value."""
    atom = atoms[label]
    passed = 0 if start is None else bisect_right(_list_cuts(atom), start)
    return passed % 2 == (1 if isinstance(atom.cut, tuple) else 0)


def _measure_interval(kind: Type, statistics: ColumnStatistics, start: int | None, end: int | None) -> float:
    """Return the share of an interval among the values: from `start` (inclusive) to `end`, each the key of a value."""
    if statistics.low is None or statistics.high is None:
        return 1.0
    low, high = statistics.low, statistics.high
    below, above = (-inf if start is None else _decode(kind, start)), (inf if end is None else _decode(kind, end))
    if below > high or above <= low:
        return 0.0
    if isinf(high - low):  # the doubles span more than the largest double
        below, above, low, high = below / 2, above / 2, low / 2, high / 2
    length = high - low + (0 if kind in INFINITY else 1)  # whole numbers fill the interval up to the next number
    if not length:
        return 1.0
    inner_share = (min(above, low + length) - max(below, low)) / length
    return max(inner_share, 1 / statistics.rows)


def _decode(kind: Type, key: int) -> float:
    """Return the number that a key represents; NaN lies above all numbers."""
    number = float(decode_number(kind, key)) if kind in INFINITY else key
    return inf if isnan(number) else number
