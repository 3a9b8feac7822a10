"""Read separations on the sky that users give."""

from __future__ import annotations

import math
import re

from provenn.errors import DefinitionError

__all__ = ["parse_arcseconds", "read_arcseconds"]

_ARCSECONDS = {
    **dict.fromkeys(("", "arcsec", "arcsecond", "arcseconds", '"'), 1.0),
    **dict.fromkeys(("mas", "milliarcsecond", "milliarcseconds"), 0.001),
    **dict.fromkeys(("arcmin", "arcminute", "arcminutes", "'"), 60.0),
    **dict.fromkeys(("deg", "degree", "degrees", "°"), 3600.0),
    **dict.fromkeys(("rad", "radian", "radians"), 648000 / math.pi),
}
_ANGLE = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(\S*)\s*")


def read_arcseconds(radius: object) -> float:
    """Return a radius in arcseconds from a number of arcseconds, a text like "2 arcsec", or an astropy quantity.

    Raises
    ------
    DefinitionError
        If the radius is not an angle, or does not lie above 0 and within 180 degrees.

    >>> read_arcseconds(2), read_arcseconds("1.5 deg"), read_arcseconds("5 mas")
    (2.0, 5400.0, 0.005)
    """
    separation = parse_arcseconds(radius)
    if separation is None:
        raise DefinitionError(
            f"expected an angle, got {radius!r}", hint='pass a number of arcseconds, or text such as "2 arcsec"'
        )
    if not 0 < separation <= 648000:
        raise DefinitionError(f"expected a radius above 0 and up to 180 degrees, got {radius!s}")
    return separation


def parse_arcseconds(radius: object) -> float | None:
    """Return an angle in arcseconds from the same input; None if it is no angle."""
    if isinstance(radius, str):
        match = _ANGLE.fullmatch(radius)
        factor = None if match is None else _ARCSECONDS.get(match[2].lower())
        return None if match is None or factor is None else float(match[1]) * factor
    try:
        if hasattr(radius, "to_value"):
            return float(radius.to_value("arcsec"))
        return None if isinstance(radius, bool) or not hasattr(radius, "__float__") else float(radius)
    except (TypeError, ValueError, OverflowError):  # astropy's errors are subclasses of these
        return None
