"""Read, write, compare and convert units with astropy, which is imported when a unit is first read."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

from provenn.errors import did_you_mean

__all__ = [
    "Unit",
    "are_same_unit",
    "find_factor",
    "get_unit_errors",
    "is_function_unit",
    "read_unit",
    "suggest_units",
    "write_unit",
]

Unit: TypeAlias = Any  # a unit of astropy; None where a text is not a unit

_MOST_PARTS = 1_000_000
_FORMS = ("cds", "vounit", "generic")  # all software that reads units reads the first form: mas.yr-1


def get_unit_errors() -> tuple[type[Exception], ...]:
    """Return the exceptions that astropy raises for an unknown unit."""
    from astropy.units import UnitsError  # noqa: PLC0415 - slow to import, and seldom needed

    return (UnitsError, ValueError, TypeError, ArithmeticError, AttributeError)


@lru_cache(maxsize=1000)
def read_unit(text: str) -> Unit:
    """Return the unit that a text names in the spelling of astropy, VOUnit, the CDS or FITS; otherwise None."""
    from astropy import units  # noqa: PLC0415 - as above

    for form in ("generic", "vounit", "cds", "fits"):
        try:
            with warnings.catch_warnings(action="ignore"):
                unit = units.Unit(text, format=form)
        except get_unit_errors():
            continue
        return unit if math.isfinite(getattr(unit, "scale", 1)) else None
    return None


def suggest_units(text: str) -> str:
    """Return a hint for an unknown unit: known units that resemble its first unknown word."""
    from astropy import units  # noqa: PLC0415 - as above

    known = list(units.get_current_unit_registry().registry)
    words = "".join(character if character.isalpha() or character == "_" else " " for character in text).split()
    wrong = next((word for word in words if word not in known), text)
    other_case = [unit for unit in known if unit.lower() == wrong.lower()]
    if other_case:
        return f"did you mean {' or '.join(other_case)}?"
    return did_you_mean(wrong, known) or "write units as in FITS and VOTable: mas, deg, `km/s`"


def write_unit(unit: Unit) -> str:
    """Return a text of a unit that `read_unit` can read.

    The text is empty for plain numbers, and for units without a readable text.
    """
    for form in _FORMS:
        try:
            text: str = unit.to_string(form).replace("+", "")  # mas+2 is mas2
        except get_unit_errors():
            continue
        if are_same_unit(read_unit(text), unit):
            return "" if are_same_unit(unit, read_unit("")) else text
    return ""


def are_same_unit(left: Unit, right: Unit) -> bool:
    """Tell whether two units are known and equal."""
    try:
        return left is not None and right is not None and bool(left == right)
    except get_unit_errors():
        return False


def find_factor(own: Unit, to: Unit) -> Fraction | None:
    """Return the factor for converting values to another unit; None without a factor.

    Most factors are ratios of whole numbers, like 1/3600, known to astropy only as the nearest double.
    """
    try:
        scale = float(own.to(to)) if own.is_equivalent(to) else 0.0
    except get_unit_errors():
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
    """Tell whether conversion takes more than a factor, as for magnitudes or decibels of a unit."""
    return hasattr(unit, "function_unit")
