"""Angles as people give them: numbers in degrees, or quantities and positions of astropy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from provenn.errors import RegionError

__all__ = ["declination", "degrees", "position_names", "right_ascension", "width"]


def degrees(given: Any, what: str) -> float:  # noqa: ANN401 - a number, or anything that knows its value in degrees
    """Return an angle in degrees.

    Raises
    ------
    RegionError
        If it is not a finite number, or has a unit that is no angle.
    """
    try:
        value = float(given.to_value("deg") if hasattr(given, "to_value") else given)
    except (TypeError, ValueError):  # a UnitConversionError is both
        raise RegionError(f"{given!r} is not an angle, for {what}", hint="give degrees as a number") from None
    if not math.isfinite(value):
        raise RegionError(f"{what} is {value}", hint="give degrees as a finite number")
    return value + 0.0  # -0.0 is 0.0


def right_ascension(given: Any, what: str = "the right ascension") -> float:  # noqa: ANN401 - as above
    """Return a right ascension, from 0 up to and including 360."""
    value = degrees(given, what)
    if not 0 <= value <= 360:
        raise RegionError(f"{what} is {value:g}, not between 0 and 360 degrees", hint="add or take away 360")
    return value


def declination(given: Any, what: str = "the declination") -> float:  # noqa: ANN401 - as above
    """Return a declination."""
    value = degrees(given, what)
    if not -90 <= value <= 90:
        raise RegionError(f"{what} is {value:g}, not between -90 and 90 degrees", hint="is it the right ascension?")
    return value


def width(given: Any, what: str) -> float:  # noqa: ANN401 - as above
    """Return an angle above 0 and up to 180 degrees."""
    value = degrees(given, what)
    if not 0 < value <= 180:
        hint = "give it in degrees: 1 arcsec is 1/3600"
        raise RegionError(f"{what} is {value:g}, not above 0 and up to 180 degrees", hint=hint)
    return value


def position_names(on: Sequence[str] | None) -> tuple[str, str] | None:
    """Return the two names of attributes that a position is read from, or None if they are to be found."""
    if on is None:
        return None
    names = tuple(on)
    if isinstance(on, str) or len(names) != 2 or not all(isinstance(one, str) for one in names):
        raise RegionError(f"{on!r} does not name a position", hint='give two attributes: on=("ra", "dec")')
    return names[0], names[1]
