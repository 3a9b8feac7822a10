"""The HEALPix cells that contain positions, and the outlines of cells: the inverse of `provenn.sky.cells`."""

from __future__ import annotations

import numpy as np

from provenn.sky.cells import Integers, build_cells, locate_plane_points, number_cells
from provenn.sky.points import Flags, Numbers, Points

__all__ = ["find_cell_numbers", "find_places", "trace_cells"]


def find_places(ra: Numbers, dec: Numbers) -> Flags:
    """Return a flag per pair of coordinates in degrees: whether the pair is a position on the sky."""
    with np.errstate(invalid="ignore"):
        return np.isfinite(ra) & (np.abs(dec) <= 90)


def find_cell_numbers(order: int, ra: Numbers, dec: Numbers) -> Integers:
    """Return the number in the nested scheme of the cell that contains each position, in degrees.

    A position on the border of two cells, but for rounding, may be counted to either of them.

    >>> find_cell_numbers(3, np.array([45.0, 250.0]), np.array([0.5, -89.0]))
    array([  0, 640])
    """
    side = 1 << order
    turns = np.mod(ra, 360.0) / 90
    face = np.minimum(np.floor(turns), 3)
    height = np.sin(np.radians(dec))
    shrink = np.sqrt(6.0) * np.sin(np.radians(90 - np.abs(dec)) / 2)
    polar = shrink < 1
    x = np.where(polar, face + 0.5 + (turns - face - 0.5) * shrink, turns)
    y = np.where(polar, np.sign(height) * (1 - shrink / 2), 0.75 * height)
    i = np.floor((x + y + 0.5) * side).astype(np.int64)
    j = np.floor((x - y + 0.5) * side).astype(np.int64)
    # Rounding must not lead out of the square of order 0 on which a polar cap lies.
    first_i = ((face + (y > 0)) * side).astype(np.int64)
    first_j = ((face + (y < 0)) * side).astype(np.int64)
    i = np.where(polar, np.clip(i, first_i, first_i + side - 1), i)
    j = np.where(polar, np.clip(j, first_j, first_j + side - 1), j)
    return number_cells(order, i, j)


def trace_cells(order: int, numbers: Integers, pieces: int = 1) -> Points:
    """Return the outlines of cells: `4 * pieces` points along the border of each cell, one cell after the other.

    Parameters
    ----------
    order, numbers
        The cells.
    pieces
        Into how many pieces each side is divided: sides are not straight.
    """
    cells = build_cells(order, numbers)
    along = np.arange(pieces) / pieces
    zero, full = np.zeros(pieces), np.ones(pieces)
    steps_i = np.concatenate([along, full, 1 - along, zero])
    steps_j = np.concatenate([zero, along, full, 1 - along])
    side = 1 << order
    face = np.minimum(cells.i, cells.j) >> order
    return locate_plane_points(
        ((cells.i[:, None] + steps_i) / side).ravel(),
        ((cells.j[:, None] + steps_j) / side).ravel(),
        np.repeat(face, 4 * pieces),
    )
