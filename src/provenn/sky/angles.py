"""Read angles that users give: numbers in degrees, or quantities and positions of astropy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from provenn.errors import RegionError
from provenn.hints import Hint

__all__ = ["read_declination", "read_degrees", "read_position_names", "read_right_ascension", "read_width"]


def read_degrees(value: Any, label: str) -> float:  # noqa: ANN401 - a number, or anything that knows its value in degrees
    """Return an angle in degrees; `label` names the angle in error messages.

    Raises
    ------
    RegionError
        If the value is not a finite number, or its unit is not an angle.
    """
    try:
        degrees = float(value.to_value("deg") if hasattr(value, "to_value") else value)
    except (TypeError, ValueError):  # a UnitConversionError is both
        raise RegionError(f"expected an angle for {label}, got {value!r}", hint="give degrees as a number") from None
    if not math.isfinite(degrees):
        raise RegionError(f"{label} is {degrees}", hint="give degrees as a finite number")
    return degrees + 0.0  # -0.0 is 0.0


def read_right_ascension(value: Any, label: str = "the right ascension") -> float:  # noqa: ANN401 - as above
    """Return a right ascension in degrees, from 0 up to and including 360."""
    degrees = read_degrees(value, label)
    if not 0 <= degrees <= 360:
        raise RegionError(f"{label} is {degrees:g}, not between 0 and 360 degrees", hint="add or subtract 360")
    return degrees


def read_declination(value: Any, label: str = "the declination") -> float:  # noqa: ANN401 - as above
    """Return a declination in degrees, from -90 to 90."""
    degrees = read_degrees(value, label)
    if not -90 <= degrees <= 90:
        raise RegionError(f"{label} is {degrees:g}, not between -90 and 90 degrees", hint="is it the right ascension?")
    return degrees


def read_width(value: Any, label: str) -> float:  # noqa: ANN401 - as above
    """Return an angle in degrees, above 0 and up to 180."""
    degrees = read_degrees(value, label)
    if not 0 < degrees <= 180:
        hint = "give it in degrees: 1 arcsec is 1/3600"
        raise RegionError(f"{label} is {degrees:g}, not above 0 and up to 180 degrees", hint=hint)
    return degrees


def read_position_names(on: Sequence[str] | None) -> tuple[str, str] | None:
    """Return the names of the two attributes of a position, or None if the caller names none."""
    if on is None:
        return None
    names = tuple(on)
    if isinstance(on, str) or len(names) != 2 or not all(isinstance(name, str) for name in names):
        hint = Hint('name two attributes: on=("ra", "dec")', command="name two attributes: --on ra dec")
        raise RegionError(f"expected the two attributes of a position, got {on!r}", hint=hint)
    return names[0], names[1]
