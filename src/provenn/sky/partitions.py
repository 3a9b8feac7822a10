"""Partitions of a catalog on the sky: pixels of HEALPix that hold about as many sources each, and their margins.

A pixel with too many sources is divided into its four pixels of the next order, as HATS does. A source belongs to the
margin of a pixel if it lies outside the pixel, and no farther from it than the width of the margin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from provenn.sky.cells import DEEPEST, Integers, build_cells, locate_plane_points
from provenn.sky.points import Flags, Numbers, Points, measure_separation

__all__ = ["Partitions", "choose_margin_order", "divide_sky", "find_near_sources", "map_margin_cells"]

_NARROWEST = 45.0
"""A little less than the narrowest cell of order 0, in degrees from side to side; each order halves it."""

_FIRST_STEPS, _REFINEMENTS = 32, 45
"""Into how many steps a side is divided first, and how often the step around the nearest point is narrowed."""


@dataclass(frozen=True, slots=True, eq=False)
class Partitions:
    """Pixels that hold all sources of a catalog, in the order of the sky.

    Parameters
    ----------
    orders, numbers
        The order of each pixel, and its number in the nested scheme.
    rows
        The number of sources in each pixel; at least one.
    """

    orders: Integers
    numbers: Integers
    rows: Integers

    def __len__(self) -> int:
        return len(self.orders)

    @property
    def highest_order(self) -> int:
        """The highest order of the pixels; 0 if there are none."""
        return int(self.orders.max(initial=0))

    @property
    def starts(self) -> Integers:
        """The first cell of the last order in each pixel."""
        return self.numbers << (2 * (DEEPEST - self.orders))

    @property
    def sky_fraction(self) -> float:
        """The part of the sky that the pixels cover."""
        return float(np.sum(1 / (12 * 4.0**self.orders)))

    def find_pixels(self, order: int, cells: Integers) -> Integers:
        """Return the place of the pixel that contains each cell of an order, which is at least the highest order."""
        return np.asarray(np.searchsorted(self.starts, cells << (2 * (DEEPEST - order)), side="right") - 1)


def divide_sky(order: int, cells: Integers, counts: Integers, most: int) -> Partitions:
    """Return the partitions for the numbers of sources in cells.

    Parameters
    ----------
    order
        The order of the cells, which is the highest order of a pixel.
    cells, counts
        The cells with sources, sorted, and the number of sources in each.
    most
        The most sources of a pixel. Only a pixel of the highest order may hold more.

    >>> partitions = divide_sky(2, np.array([0, 1, 5, 160]), np.array([6, 5, 3, 1]), most=10)
    >>> list(zip(partitions.orders.tolist(), partitions.numbers.tolist(), partitions.rows.tolist()))
    [(2, 0, 6), (2, 1, 5), (1, 1, 3), (0, 10, 1)]
    """
    pixels: list[Integers] = []
    for level in range(order + 1):
        numbers, places = np.unique(cells >> (2 * (order - level)), return_inverse=True)
        rows = np.bincount(places, counts, len(numbers)).astype(np.int64)
        whole = (rows <= most) | (level == order)
        pixels.append(np.stack([np.full(int(whole.sum()), level), numbers[whole], rows[whole]]))
        cells, counts = cells[~whole[places]], counts[~whole[places]]
    orders, numbers, rows = np.concatenate(pixels, axis=1)
    in_sequence = np.argsort(numbers << (2 * (DEEPEST - orders)), kind="stable")
    return Partitions(orders[in_sequence], numbers[in_sequence], rows[in_sequence])


def choose_margin_order(partitions: Partitions, width: float) -> int:
    """Return the order of the cells with which sources near a pixel are found first.

    The cells are wider than the margin, so that the margin of a pixel lies in the cells that touch the pixel. Beyond
    that, smaller cells hold fewer sources that are compared in vain, but there are more of them.

    Parameters
    ----------
    partitions
        The pixels.
    width
        The width of the margin, in degrees.
    """
    narrow_enough = int(np.floor(np.log2(_NARROWEST / width)))
    return max(0, min(narrow_enough, partitions.highest_order + 4, DEEPEST))


def map_margin_cells(partitions: Partitions, order: int) -> tuple[Integers, Integers]:
    """Return the cells of an order that touch a pixel from outside or contain it, and the place of that pixel.

    Parameters
    ----------
    partitions
        The pixels.
    order
        The order of the cells, from `choose_margin_order`. A pixel of a higher order counts as the cell around it.
    """
    cells: list[Integers] = [np.empty(0, np.int64)]
    places: list[Integers] = [np.empty(0, np.int64)]
    for place, (level, number) in enumerate(zip(partitions.orders.tolist(), partitions.numbers.tolist(), strict=True)):
        is_smaller = level > order
        around = _make_moc(order, *((order, number >> (2 * (level - order))) if is_smaller else (level, number)))
        around.add_neighbours()
        touching = around if is_smaller else around.difference(_make_moc(order, level, number))
        cells.append(np.asarray(touching.flatten(), np.int64))
        places.append(np.full(len(cells[-1]), place))
    return np.concatenate(cells), np.concatenate(places)


def _make_moc(depth: int, order: int, number: int) -> Any:  # noqa: ANN401 - mocpy has no types
    """Return the MOC of a cell, which lists cells of the order `depth`."""
    from mocpy import MOC  # type: ignore[import-untyped]  # noqa: PLC0415 - it takes a while to import, and only margins need it

    return MOC.from_healpix_cells(np.array([number], np.uint64), np.array([order], np.uint8), np.uint8(depth))


def find_near_sources(order: int, number: int, positions: Points, width: float) -> Flags:
    """Return which positions outside a pixel lie within a distance of it.

    Parameters
    ----------
    order, number
        The pixel.
    positions
        The positions; none lies inside the pixel.
    width
        The distance, in degrees.
    """
    near = np.zeros(len(positions.ra), bool)
    for side in range(4):
        near |= _measure_side_distance(order, number, side, positions) <= width
    return near


def _measure_side_distance(order: int, number: int, side: int, positions: Points) -> Numbers:
    """Return the distance of positions from a side of a pixel, in degrees.

    The sides are curves. The nearest of some points of the side comes first; then the steps beside it are narrowed by
    the golden section, in which the distance has a single minimum.
    """
    steps = np.linspace(0, 1, _FIRST_STEPS + 1)
    points = _find_side_points(order, number, side, steps)
    nearest = np.argmax(positions.vectors @ points.vectors.T, axis=1)
    low, high = steps[np.maximum(nearest - 1, 0)], steps[np.minimum(nearest + 1, _FIRST_STEPS)]
    golden = (np.sqrt(5) - 1) / 2

    def measure(place: Numbers) -> Numbers:
        return measure_separation(positions.vectors, _find_side_points(order, number, side, place).vectors)

    for _ in range(_REFINEMENTS):
        left, right = high - golden * (high - low), low + golden * (high - low)
        is_left = measure(left) < measure(right)
        low, high = np.where(is_left, low, left), np.where(is_left, right, high)
    ends = np.minimum(measure(np.zeros(len(low))), measure(np.ones(len(low))))
    return np.minimum(measure((low + high) / 2), ends)


def _find_side_points(order: int, number: int, side: int, place: Numbers) -> Points:
    """Return points of a side of a pixel, from 0 at one corner to 1 at the next."""
    pixel = build_cells(order, np.array([number], np.int64))
    i, j = float(pixel.i[0]), float(pixel.j[0])
    across = np.full(len(place), side % 2)
    i_add, j_add = (place, across) if side < 2 else (across, place)
    face = int(min(pixel.i[0], pixel.j[0])) >> order
    return locate_plane_points((i + i_add) / (1 << order), (j + j_add) / (1 << order), np.full(len(place), face))
