"""Frames of coordinates, and the rotations that turn directions into ICRS.

All frames here are fixed rotations of ICRS:

- FK5 with equinox J2000: the frame bias of USNO Circular 179 (Kaplan 2005), section 3.5, with eta0 = -19.9 mas,
  xi0 = 9.1 mas and da0 = -22.9 mas. FK5 proper motions are taken as they are: the slow spin of FK5 is not removed.
- Galactic coordinates of the IAU (1958), by the pole in FK5 J2000 at right ascension 192.8594812065348 and declination
  27.12825118085622 degrees, and the position angle 122.9319185680026 degrees of the centre. These are the angles of
  astropy, from the definition in FK4 B1950. The matrix of the Hipparcos catalogue, by which Gaia gives galactic
  coordinates, applies the angles to ICRS itself: both differ by the frame bias, some 0.02 arcseconds.
"""

from __future__ import annotations

from math import cos, radians, sin

from provenn.errors import DefinitionError

__all__ = ["FRAMES", "Matrix", "read_frame"]

Matrix = tuple[tuple[float, ...], ...]
"""The rows of a matrix."""


def _rotate(degrees: float, axis: int) -> Matrix:
    """Return the matrix that turns the axes about one of them (0 to 2), counterclockwise."""
    angle, rows = radians(degrees), [[0.0] * 3 for _ in range(3)]
    second, third = (axis + 1) % 3, (axis + 2) % 3
    rows[axis][axis] = 1.0
    rows[second][second] = rows[third][third] = cos(angle)
    rows[second][third], rows[third][second] = sin(angle), -sin(angle)
    return tuple(map(tuple, rows))


def _multiply(first: Matrix, *others: Matrix) -> Matrix:
    for other in others:
        columns = list(zip(*other, strict=True))
        first = tuple(
            tuple(sum(a * b for a, b in zip(row, column, strict=True)) for column in columns) for row in first
        )
    return first


def _transpose(matrix: Matrix) -> Matrix:
    return tuple(zip(*matrix, strict=True))


_MAS = 1 / 3_600_000
_ICRS_TO_FK5 = _multiply(_rotate(19.9 * _MAS, 0), _rotate(9.1 * _MAS, 1), _rotate(-22.9 * _MAS, 2))
_FK5_TO_GALACTIC = _multiply(
    _rotate(180 - 122.9319185680026, 2), _rotate(90 - 27.12825118085622, 1), _rotate(192.8594812065348, 2)
)

FRAMES: dict[str, Matrix | None] = {
    "icrs": None,
    "fk5": _transpose(_ICRS_TO_FK5),
    "galactic": _transpose(_multiply(_FK5_TO_GALACTIC, _ICRS_TO_FK5)),
}
"""The frames, each with the matrix that turns a direction into ICRS; None for ICRS itself."""


def read_frame(frame: object) -> str:
    """Return the name of a frame from user input.

    Raises
    ------
    DefinitionError
        If the frame is unknown.

    >>> read_frame("FK5")
    'fk5'
    """
    name = frame.lower() if isinstance(frame, str) else None
    if name not in FRAMES:
        raise DefinitionError(
            f"expected a frame of coordinates, got {frame!r}", hint=f"use one of {', '.join(FRAMES)}; FK5 is of J2000"
        )
    return name
