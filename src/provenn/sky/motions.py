"""Motions of sources in space: where a source is at another epoch, as SQL.

A source moves uniformly along a straight line (Hipparcos catalogue, volume 1, section 1.5.5; Butkevich & Lindegren
2014, A&A 570, A62). With the unit vectors r to the source, p to the east and q to the north of it at the first epoch,
and the time t to the second epoch in Julian years, its direction then is

    r (1 + z t) + (p m + q n) t

where m is the proper motion in right ascension, multiplied by the cosine of the declination, n that in declination,
and z the relative change of the distance in a year: the radial velocity times the parallax. The formula is exact for
this motion, at the poles too. The travel time of light is neglected: for the fastest stars (Barnard's, Kapteyn's), this
is 0.2 milliarcseconds in 25 years and 2 in a century.

What is not known does not move a source:

- If a proper motion is NULL or not finite, or the epoch is, the source stays where it is.
- If the parallax is NULL, not finite or not above 0, or the radial velocity is NULL or not finite, z is 0.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import pi

__all__ = ["MOTION_UNITS", "find_motion_unit", "write_motion", "write_turn"]

_ARCSECOND = pi / 648000
_AU_PER_YEAR = 149597870.7 / 31557600
"""An astronomical unit in a Julian year, in km/s."""

MOTION_UNITS: dict[str, dict[str, float]] = {
    "proper motion": {
        "mas/yr": _ARCSECOND / 1000,
        "arcsec/yr": _ARCSECOND,
        "deg/yr": _ARCSECOND * 3600,
        "rad/yr": 1.0,
    },
    "parallax": {"mas": _ARCSECOND / 1000, "arcsec": _ARCSECOND},
    "radial velocity": {"km/s": 1 / _AU_PER_YEAR, "m/s": 0.001 / _AU_PER_YEAR},
    "epoch": {"yr": 1.0},
}
"""The units of each quantity, the usual one first: in radians, years, and astronomical units in a year."""

_PER = re.compile(r"[.*\s]*\b(yr|s)(?:\*\*|\^)?-1$")


def find_motion_unit(quantity: str, unit: str) -> str | None:
    """Return a unit of a quantity as in `MOTION_UNITS`; without a unit the usual one, None if it does not fit.

    >>> find_motion_unit("proper motion", "mas.yr-1"), find_motion_unit("parallax", ""), find_motion_unit("epoch", "d")
    ('mas/yr', 'mas', None)
    """
    units = MOTION_UNITS[quantity]
    text = unit.strip().lower().replace("year", "yr")
    text = re.sub(r"/\s*a$", "/yr", "yr" if text in ("a", "yrs") else text)
    text = _PER.sub(r"/\1", text).replace(" ", "")
    return next(iter(units)) if not text else text if text in units else None


def write_motion(ra: str, dec: str, speeds: Sequence[str], years: str) -> tuple[dict[str, str], ...]:
    """Return stages of SQL for the direction of a source at another epoch, as columns ``x``, ``y`` and ``z``.

    Each stage has expressions by the names of columns; it may use the columns of the stages before.

    Parameters
    ----------
    ra, dec
        SQL for the position in degrees.
    speeds
        SQL for the proper motions in right ascension and declination, in radians a year; then, if there are more, for
        the parallax in radians and the radial velocity in astronomical units a year.
    years
        SQL for the time between the epochs, in Julian years.
    """
    known = " AND ".join(f"abs({number}) < double('Infinity')" for number in (*speeds[:2], years))
    moves = {"moved": f"coalesce({known}, false)", "alpha": f"radians({ra})", "delta": f"radians({dec})"}
    radial = "0D"
    if len(speeds) == 4:
        parallax, velocity = speeds[2:]
        is_known = f"{parallax} > 0D AND {parallax} < double('Infinity') AND abs({velocity}) < double('Infinity')"
        radial = f"IF(coalesce({is_known}, false), {parallax} * {velocity}, 0D)"
    shifts = {
        "east": f"IF(moved, ({speeds[0]}) * ({years}), 0D)",
        "north": f"IF(moved, ({speeds[1]}) * ({years}), 0D)",
        "away": f"IF(moved, 1D + {radial} * ({years}), 1D)",
    }
    direction = {
        "x": "cos(delta) * cos(alpha) * away - sin(alpha) * east - sin(delta) * cos(alpha) * north",
        "y": "cos(delta) * sin(alpha) * away + cos(alpha) * east - sin(delta) * sin(alpha) * north",
        "z": "sin(delta) * away + cos(delta) * north",
    }
    return moves, shifts, direction


def write_turn(matrix: Sequence[Sequence[float]]) -> dict[str, str]:
    """Return SQL for a direction after a rotation, by the names of its columns ``x``, ``y`` and ``z``."""
    return {
        name: " + ".join(f"{factor!r}D * {part}" for factor, part in zip(row, "xyz", strict=True))
        for name, row in zip("xyz", matrix, strict=True)
    }
