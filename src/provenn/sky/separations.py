"""Separations on the sky, as people give them."""

from __future__ import annotations

import math
import re

from provenn.errors import DefinitionError

__all__ = ["arcseconds"]

_ARCSECONDS = {
    **dict.fromkeys(("", "arcsec", "arcsecond", "arcseconds", '"'), 1.0),
    **dict.fromkeys(("mas", "milliarcsecond", "milliarcseconds"), 0.001),
    **dict.fromkeys(("arcmin", "arcminute", "arcminutes", "'"), 60.0),
    **dict.fromkeys(("deg", "degree", "degrees", "°"), 3600.0),
    **dict.fromkeys(("rad", "radian", "radians"), 648000 / math.pi),
}
_ANGLE = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(\S*)\s*")


def arcseconds(radius: object) -> float:
    """Return a radius on the sky in arcseconds: a number of them, a text such as "2 arcsec", or a quantity of astropy.

    Raises
    ------
    DefinitionError
        If it is none, or does not lie above 0 and within 180 degrees.

    >>> arcseconds(2), arcseconds("1.5 deg"), arcseconds("5 mas")
    (2.0, 5400.0, 0.005)
    """
    found = _number(radius)
    if found is None:
        raise DefinitionError(f"{radius!r} is no angle", hint='a number of arcseconds, or text such as "2 arcsec"')
    if not 0 < found <= 648000:
        raise DefinitionError(f"a radius lies above 0 and within 180 degrees, {radius!s} does not")
    return found


def _number(radius: object) -> float | None:
    if isinstance(radius, str):
        read = _ANGLE.fullmatch(radius)
        factor = None if read is None else _ARCSECONDS.get(read[2].lower())
        return None if read is None or factor is None else float(read[1]) * factor
    try:
        if hasattr(radius, "to_value"):
            return float(radius.to_value("arcsec"))
        return None if isinstance(radius, bool) or not hasattr(radius, "__float__") else float(radius)
    except (TypeError, ValueError, OverflowError):  # the errors of astropy are such, too
        return None
