"""Units: numbers that have one are converted to the unit of what they meet, and what is calculated gets its own.

Only numbers that were written with a unit are ever converted, while they are read. Attributes and plain numbers mean
what they always did. So astropy is imported for a text with a unit in it, and to find the unit of an expression, but
not to read again what was once read: the canonical text has plain numbers.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal, Inexact, localcontext
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

from provenn.criteria.domains import double_key, number
from provenn.criteria.folding import evaluate, read_number
from provenn.criteria.nodes import Call, Column, Constant, Node, Test, walk
from provenn.criteria.refusal import Refusal
from provenn.criteria.types import DOUBLE, FLOAT
from provenn.criteria.writing import PEOPLE, shown, write
from provenn.errors import did_you_mean

__all__ = ["alike", "beside", "measured", "quantity", "same_unit", "unit_of"]

_LONGEST = 100
_MOST_DIGITS = 15  # of a converted number that is still exact; with more it is a double
_MOST_PARTS = 1_000_000
_FORMS = ("cds", "vounit", "generic")  # the first one is read by all that read units: mas.yr-1
_KEPT = frozenset(["coerce", "abs", "round", "bround", "floor", "ceil", "rint"])
_ALIKE = frozenset(["+", "-", "%", "pmod", "coalesce", "greatest", "least", "nanvl", "hypot"])
_ROOTS = {"sqrt": Fraction(1, 2), "cbrt": Fraction(1, 3)}
_OF_ANGLES = frozenset(["sin", "cos", "tan", "cot", "sec", "csc"])
_NUMBERS = _OF_ANGLES | {"sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "signum", "factorial"}
_NUMBERS |= {"exp", "expm1", "ln", "log", "log10", "log2", "log1p"}
_GIVEN = {  # the unit of what a function gives, whatever it takes
    **dict.fromkeys(["asin", "acos", "atan", "atan2", "radians"], "rad"),
    **dict.fromkeys(["datediff", "unix_date"], "d"),
    "degrees": "deg",
    "unix_seconds": "s",
    "unix_millis": "ms",
    "unix_micros": "us",
}
_TAKEN = {**dict.fromkeys([*_OF_ANGLES, "degrees"], "rad"), "radians": "deg"}
_ANY = frozenset(["rint", "signum", "sqrt", "cbrt"])  # functions that take any unit


class _Plain(Enum):
    """What has no unit of its own: added to something, it is in the unit of that; multiplied, it is a number."""

    NUMBER = "a number without a unit"


_Unit: TypeAlias = Any  # a unit of astropy, or a plain number's, or None where it is not known


def quantity(constant: Constant, unit: str) -> Constant:
    """Return a number that is followed by a unit.

    Raises
    ------
    Refusal
        If there is no such unit.
    """
    if len(unit) > _LONGEST:
        raise Refusal(f"{unit[:20]}… is too long for a unit")
    if _read(unit) is None:
        raise Refusal(f"there is no unit {unit}", _near(unit))
    return replace(constant, written=f"{constant.written} {shown(unit)}", unit=unit)


def alike(nodes: Sequence[Node]) -> list[Node]:
    """Return values that are compared, added, or chosen from, with each quantity in the unit of the others.

    Raises
    ------
    Refusal
        If a quantity does not go with the others.
    """
    if not any(map(_has_quantity, nodes)):
        return list(nodes)
    known = [(node, _unit(node)) for node in nodes if not _is_null(node)]
    attributes = [(node, unit) for node, unit in known if _reads(node) and unit is not _Plain.NUMBER]
    quantities = [(node, unit) for node, unit in known if not _reads(node) and unit is not _Plain.NUMBER]
    plain = [node for node, unit in known if unit is _Plain.NUMBER]
    if quantities and plain and not attributes:
        problem = f"{_people(quantities[0][0])} does not go with {_which(plain[0], _Plain.NUMBER)}"
        raise Refusal(problem, "give both a unit, or none")
    if not attributes + quantities:
        return list(nodes)
    target, unit = (attributes + quantities)[0]
    for node, other in attributes[1:]:
        if not _same(other, unit):
            raise Refusal(
                f"{_which(target, unit)}, stands beside {_which(node, other)}: only numbers are converted",
                "leave the unit out, and multiply one of them by hand",
            )
    return [_converted(node, unit, _which(target, unit)) if _is_quantity(node) else node for node in nodes]


def beside(operator: str, left: Node, right: Node) -> tuple[Node, Node]:
    """Return the operands of ``+ - * / %``, with a quantity in the unit of the other one where it can be."""
    if operator in "+-%":
        left, right = alike([left, right])
    elif operator == "/" and (_is_quantity(left) or _is_quantity(right)):
        one, other = _unit(left), _unit(right)
        if not isinstance(one, _Plain) and not isinstance(other, _Plain) and _factor(other, one) is not None:
            if _is_quantity(right):
                right = _converted(right, one, _which(left, one))
            else:
                left = _converted(left, other, _which(right, other))
    return left, right


def measured(name: str, arguments: Sequence[Node]) -> list[Node]:
    """Return the arguments of a function, with quantities in the unit that it takes.

    Functions of angles take radians, regions of the sky degrees; what takes a number, such as an exponent, takes no
    other unit.
    """
    if name in ("atan2", "hypot", "nanvl"):
        return alike(arguments)
    if name in _ANY or not any(map(_has_quantity, arguments)):
        return list(arguments)
    text = _TAKEN.get(name, "deg" if name.startswith("in_") else "")
    taken = _read(text)
    wanted = f"{name}(), which takes {text or 'a number without a unit'}"
    free = 1 if name == "pow" else 0  # what is raised to a power may have any unit
    fitted = list(arguments[:free])
    for node in arguments[free:]:
        unit = _unit(node)
        if _reads(node) and _has_quantity(node) and not _same(unit, taken):
            problem = f"{_which(node, unit)}, does not go with {wanted}"
            raise Refusal(problem, "convert it with radians() or degrees()")
        fitted.append(_converted(node, taken, wanted) if _is_quantity(node) else node)
    return fitted


def unit_of(node: Node) -> str:
    """Return the unit of the values of a node, so that FITS and VOTable know it; empty if it has none or none is known.

    A sum or a choice of values in different units has none, because they are not converted.
    """
    texts = [one.unit for one in walk(node) if isinstance(one, Column | Constant) and one.unit]
    given = any(isinstance(one, Call) and one.operator in _GIVEN for one in walk(node))
    if not node.type.numeric or not (texts or given):
        return ""
    unit = _unit(node)
    if unit is None or unit is _Plain.NUMBER:
        return ""
    return next((text for text in texts if _same(_read(text), unit)), _text(unit))


def same_unit(one: str, other: str) -> bool:
    """Tell whether two texts mean one unit, as km/s and km.s-1 do.

    >>> same_unit("km/s", "km.s-1"), same_unit("mas", "arcsec")
    (True, False)
    """
    return one == other or _same(_read(one), _read(other))


def _has_quantity(node: Node) -> bool:
    return any(isinstance(one, Constant) and one.unit for one in _parts(node))


def _reads(node: Node) -> bool:
    return any(isinstance(one, Column | Test) for one in _parts(node))


def _is_quantity(node: Node) -> bool:
    return _has_quantity(node) and not _reads(node) and _unit(node) is not _Plain.NUMBER


def _is_null(node: Node) -> bool:
    return isinstance(node, Constant) and node.key is None


def _parts(node: Node) -> Iterable[Node]:
    """Yield a node and what it is made of, but not what is inside a condition."""
    stack = [node]
    while stack:
        one = stack.pop()
        yield one
        if isinstance(one, Call):
            stack.extend(one.arguments)


def _people(node: Node) -> str:
    return write(node, PEOPLE)


def _which(node: Node, unit: _Unit) -> str:
    """Return a node, and what it is in, in words."""
    if unit is _Plain.NUMBER or _same(unit, _read("")):
        return f"{_people(node)}, a number without a unit"
    text = _text(unit)
    return f"{_people(node)}, which is in {text}" if text else f"{_people(node)}, of which no unit is known"


# --- what astropy knows ---


def _failures() -> tuple[type[Exception], ...]:
    """Return what astropy raises where there is no such unit."""
    from astropy.units import UnitsError  # noqa: PLC0415 - slow to import, and seldom needed

    return (UnitsError, ValueError, TypeError, ArithmeticError, AttributeError)


@lru_cache(maxsize=1000)
def _read(text: str) -> _Unit:
    from astropy import units  # noqa: PLC0415 - as above

    for form in ("generic", "vounit", "cds", "fits"):
        try:
            with warnings.catch_warnings(action="ignore"):
                found = units.Unit(text, format=form)
        except _failures():
            continue
        return found if math.isfinite(getattr(found, "scale", 1)) else None
    return None


def _near(text: str) -> str:
    """Return a hint for a unit that there is not: a word of it that is nearly one."""
    from astropy import units  # noqa: PLC0415 - as above

    known = list(units.get_current_unit_registry().registry)
    words = "".join(one if one.isalpha() or one == "_" else " " for one in text).split()
    wrong = next((word for word in words if word not in known), text)
    other_case = [one for one in known if one.lower() == wrong.lower()]
    if other_case:
        return f"did you mean {' or '.join(other_case)}?"
    return did_you_mean(wrong, known) or "a unit is written as in FITS and VOTable: mas, deg, `km/s`"


def _text(unit: _Unit) -> str:
    for form in _FORMS:
        try:
            text: str = unit.to_string(form).replace("+", "")  # mas+2 is mas2
        except _failures():
            continue
        if _same(_read(text), unit):
            return "" if _same(unit, _read("")) else text
    return ""


def _same(one: _Unit, other: _Unit) -> bool:
    try:
        return one is not None and other is not None and bool(one == other)
    except _failures():
        return False


def _unit(node: Node) -> _Unit:
    match node:
        case Column(unit=text):
            return _read(text) if text else None
        case Constant(unit=text):
            return _read(text) if text else _Plain.NUMBER
        case Call():
            try:
                unit = _calculated(node)
            except _failures():
                return None
            return _Plain.NUMBER if _same(unit, _read("")) and not _reads(node) else unit
    return None


def _calculated(call: Call) -> _Unit:
    """Return the unit of a call; fail where the units of its arguments have no such one."""
    operator = call.operator
    if operator == "case":
        return _shared(map(_unit, (*call.arguments[1::2], call.arguments[-1])))
    units = [_unit(argument) for argument in call.arguments]
    if all(unit is _Plain.NUMBER for unit in units):
        return _Plain.NUMBER
    if operator in _GIVEN:
        return _read(_GIVEN[operator])
    if operator in _NUMBERS:
        return _read("")
    if operator in _ALIKE:
        return _shared(units)
    if operator in _KEPT or (operator == "cast" and call.type.numeric and call.arguments[0].type.numeric):
        return units[0]
    if operator in _ROOTS:
        return units[0] ** _ROOTS[operator]
    if operator == "pow":
        return units[0] ** _exponent(call.arguments[1])
    if operator in "*/":
        one, other = (_read("") if unit is _Plain.NUMBER else unit for unit in units)
        return one * other if operator == "*" else one / other
    return None


def _shared(units: Iterable[_Unit]) -> _Unit:
    known = [unit for unit in units if unit is not _Plain.NUMBER]
    if not known:
        return _Plain.NUMBER
    return known[0] if all(_same(unit, known[0]) for unit in known) else None


def _exponent(node: Node) -> Fraction:
    constant = evaluate(node)
    if constant is None or not isinstance(constant.key, int):
        raise ValueError("the exponent is not a constant")
    return Fraction(number(constant.type, constant.key)).limit_denominator(100)


def _converted(node: Node, unit: _Unit, there: str) -> Node:
    """Return a quantity in another unit: as the number that one would have written `there`."""
    own = _unit(node)
    if _same(own, unit):
        return node
    known = _text(unit) or _same(unit, _read(""))
    factor = _factor(own, unit) if known else None
    if factor is None:
        hint = "leave the unit out: a number alone is in the unit of what it meets"
        hint = f"{_text(own)} cannot be converted to that" if known else hint
        raise Refusal(f"{_people(node)} does not go with {there}", hint)
    constant = evaluate(node)
    value = number(constant.type, constant.key) if constant and isinstance(constant.key, int) else math.nan
    if constant is None or not math.isfinite(value):
        raise Refusal(f"{_people(node)} cannot be converted to {_text(unit)}", f"write it in {_text(unit)}")
    written = node.written if isinstance(node, Constant) else ""
    exact = Fraction(value) * factor
    text = None if constant.type in (FLOAT, DOUBLE) else _digits(exact)
    if text is not None:
        return replace(read_number(text.lstrip("-"), "-" * (exact < 0)), written=written, unit=_text(unit))
    try:
        return Constant(DOUBLE, double_key(float(exact)), written, _text(unit))
    except OverflowError:
        raise Refusal(f"{_people(node)} is too large a number in {_text(unit)}") from None


def _digits(value: Fraction) -> str | None:
    """Return a number as one writes it, if it has few digits."""
    with localcontext(prec=_MOST_DIGITS) as context:
        context.traps[Inexact] = True
        try:
            text = f"{Decimal(value.numerator) / Decimal(value.denominator):f}"
        except Inexact:
            return None
    return text if len(text) <= 2 * _MOST_DIGITS else None


def _factor(own: _Unit, to: _Unit) -> Fraction | None:
    """Return by what a value is multiplied to be in another unit; None where there is no such number.

    Most are ratios of whole numbers, such as 1/3600, of which astropy knows the nearest double.
    """
    try:
        scale = float(own.to(to)) if own.is_equivalent(to) else 0.0
    except _failures():
        return None
    if not scale or not math.isfinite(scale) or _bends(own) or _bends(to):
        return None
    exact = Fraction(scale)
    small = abs(exact) < 1
    ratio = (1 / exact if small else exact).limit_denominator(_MOST_PARTS)
    ratio = 1 / ratio if small else ratio
    if abs(ratio - exact) <= abs(exact) / 2**51:
        return ratio
    return Fraction(repr(scale))


def _bends(unit: _Unit) -> bool:
    """Tell whether values are converted by more than a factor: magnitudes of something, decibels of something."""
    return hasattr(unit, "function_unit")
