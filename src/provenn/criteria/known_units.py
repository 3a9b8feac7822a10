"""Units as astropy knows them: read, written, compared and converted. astropy is imported when a unit is first read."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

from provenn.errors import did_you_mean

__all__ = ["Unit", "factor", "failures", "is_function_unit", "read_unit", "same", "similar_units", "unit_text"]

Unit: TypeAlias = Any  # a unit of astropy; None where a text is not one

_MOST_PARTS = 1_000_000
_FORMS = ("cds", "vounit", "generic")  # the first one is read by all that read units: mas.yr-1


def failures() -> tuple[type[Exception], ...]:
    """Return what astropy raises where there is no such unit."""
    from astropy.units import UnitsError  # noqa: PLC0415 - slow to import, and seldom needed

    return (UnitsError, ValueError, TypeError, ArithmeticError, AttributeError)


@lru_cache(maxsize=1000)
def read_unit(text: str) -> Unit:
    """Return the unit that a text means, in the spelling of astropy, VOUnit, the CDS or FITS; None if it means none."""
    from astropy import units  # noqa: PLC0415 - as above

    for form in ("generic", "vounit", "cds", "fits"):
        try:
            with warnings.catch_warnings(action="ignore"):
                found = units.Unit(text, format=form)
        except failures():
            continue
        return found if math.isfinite(getattr(found, "scale", 1)) else None
    return None


def similar_units(text: str) -> str:
    """Return a hint for a unit that there is not: a word of it that is nearly one."""
    from astropy import units  # noqa: PLC0415 - as above

    known = list(units.get_current_unit_registry().registry)
    words = "".join(one if one.isalpha() or one == "_" else " " for one in text).split()
    wrong = next((word for word in words if word not in known), text)
    other_case = [one for one in known if one.lower() == wrong.lower()]
    if other_case:
        return f"did you mean {' or '.join(other_case)}?"
    return did_you_mean(wrong, known) or "a unit is written as in FITS and VOTable: mas, deg, `km/s`"


def unit_text(unit: Unit) -> str:
    """Return the text of a unit that `read_unit` reads back; empty for plain numbers, or if there is none."""
    for form in _FORMS:
        try:
            text: str = unit.to_string(form).replace("+", "")  # mas+2 is mas2
        except failures():
            continue
        if same(read_unit(text), unit):
            return "" if same(unit, read_unit("")) else text
    return ""


def same(one: Unit, other: Unit) -> bool:
    """Tell whether two units are known, and are one."""
    try:
        return one is not None and other is not None and bool(one == other)
    except failures():
        return False


def factor(own: Unit, to: Unit) -> Fraction | None:
    """Return by what a value is multiplied to be in another unit; None where there is no such number.

    Most are ratios of whole numbers, such as 1/3600, of which astropy knows the nearest double.
    """
    try:
        scale = float(own.to(to)) if own.is_equivalent(to) else 0.0
    except failures():
        return None
    if not scale or not math.isfinite(scale) or is_function_unit(own) or is_function_unit(to):
        return None
    exact = Fraction(scale)
    small = abs(exact) < 1
    ratio = (1 / exact if small else exact).limit_denominator(_MOST_PARTS)
    ratio = 1 / ratio if small else ratio
    if abs(ratio - exact) <= abs(exact) / 2**51:
        return ratio
    return Fraction(repr(scale))


def is_function_unit(unit: Unit) -> bool:
    """Tell whether values are converted by more than a factor: magnitudes of something, decibels of something."""
    return hasattr(unit, "function_unit")
