"""The unit of a value, as far as it follows from the units of attributes, quantities and functions."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from fractions import Fraction

from provenn.criteria.domains import number
from provenn.criteria.folding import evaluate
from provenn.criteria.known_units import Unit, factor, failures, is_function_unit, read_unit, same, unit_text
from provenn.criteria.nodes import Call, Column, Constant, Node, Test, walk

__all__ = [
    "OF_ANGLES",
    "Plain",
    "has_quantity",
    "has_unit",
    "is_angle",
    "is_dimensional",
    "is_quantity",
    "is_scaled",
    "parts",
    "reads",
    "same_unit",
    "unit_in",
    "unit_of",
]

_KEPT = frozenset(["coerce", "abs", "round", "bround", "floor", "ceil", "rint"])
_ALIKE = frozenset(["+", "-", "%", "pmod", "coalesce", "greatest", "least", "nanvl", "hypot"])
_ROOTS = {"sqrt": Fraction(1, 2), "cbrt": Fraction(1, 3)}
OF_ANGLES = frozenset(["sin", "cos", "tan", "cot", "sec", "csc"])
_NUMBERS = OF_ANGLES | {"sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "signum", "factorial"}
_NUMBERS |= {"exp", "expm1", "ln", "log", "log10", "log2", "log1p"}
_GIVEN = {  # the unit of what a function gives, whatever it takes
    **dict.fromkeys(["asin", "acos", "atan", "atan2", "radians"], "rad"),
    **dict.fromkeys(["datediff", "unix_date"], "d"),
    "degrees": "deg",
    "unix_seconds": "s",
    "unix_millis": "ms",
    "unix_micros": "us",
}


class Plain(Enum):
    """What has no unit of its own: added to something, it is in the unit of that; multiplied, it is a number."""

    NUMBER = "a number without a unit"


def unit_of(node: Node) -> str:
    """Return the unit of the values of a node, so that FITS and VOTable know it; empty if it has none or none is known.

    A sum or a choice of values in units that cannot be converted has none.
    """
    texts = [one.unit for one in walk(node) if isinstance(one, Column | Constant) and one.unit]
    given = any(isinstance(one, Call) and one.operator in _GIVEN for one in walk(node))
    if not node.type.numeric or not (texts or given):
        return ""
    unit = unit_in(node)
    if unit is None or unit is Plain.NUMBER:
        return ""
    return next((text for text in texts if same(read_unit(text), unit)), unit_text(unit))


def same_unit(one: str, other: str) -> bool:
    """Tell whether two texts mean one unit, as km/s and km.s-1 do.

    >>> same_unit("km/s", "km.s-1"), same_unit("mas", "arcsec")
    (True, False)
    """
    return one == other or same(read_unit(one), read_unit(other))


def unit_in(node: Node) -> Unit:
    """Return the unit of a node: one of astropy, `Plain.NUMBER`, or None where it is not known."""
    match node:
        case Column(unit=text):
            return read_unit(text) if text else None
        case Constant(unit=text):
            return read_unit(text) if text else Plain.NUMBER
        case Call(unit=text) if text:
            return read_unit(text)
        case Call():
            try:
                unit = _calculated(node)
            except failures():
                return None
            return Plain.NUMBER if same(unit, read_unit("")) and not reads(node) else unit
    return None


def _calculated(call: Call) -> Unit:
    """Return the unit of a call; fail where the units of its arguments have no such one."""
    operator = call.operator
    if operator == "case":
        return _shared(map(unit_in, (*call.arguments[1::2], call.arguments[-1])))
    units = [unit_in(argument) for argument in call.arguments]
    if all(unit is Plain.NUMBER for unit in units):
        return Plain.NUMBER
    if operator in _GIVEN:
        return read_unit(_GIVEN[operator])
    if operator in _NUMBERS:
        return read_unit("")
    if operator in _ALIKE:
        return _shared(units)
    if operator in _KEPT or (operator == "cast" and call.type.numeric and call.arguments[0].type.numeric):
        return units[0]
    if operator in _ROOTS:
        return units[0] ** _ROOTS[operator]
    if operator == "pow":
        return units[0] ** _exponent(call.arguments[1])
    if operator in "*/":
        one, other = (read_unit("") if unit is Plain.NUMBER else unit for unit in units)
        return one * other if operator == "*" else one / other
    return None


def _shared(units: Iterable[Unit]) -> Unit:
    known = [unit for unit in units if unit is not Plain.NUMBER]
    if not known:
        return Plain.NUMBER
    return known[0] if all(same(unit, known[0]) for unit in known) else None


def _exponent(node: Node) -> Fraction:
    constant = evaluate(node)
    if constant is None or not isinstance(constant.key, int):
        raise ValueError("the exponent is not a constant")
    return Fraction(number(constant.type, constant.key)).limit_denominator(100)


def is_scaled(node: Node) -> bool:
    """Tell whether a plain number multiplies or divides what has a unit, so that its unit is not certain."""
    if not isinstance(node, Call) or node.unit or node.operator in _GIVEN or node.operator in _NUMBERS:
        return False
    if unit_in(node) is Plain.NUMBER:
        return False
    plain = node.operator in ("*", "/") and any(unit_in(one) is Plain.NUMBER for one in node.arguments)
    return plain or any(map(is_scaled, node.arguments))


def is_dimensional(unit: Unit) -> bool:
    """Tell whether a unit is known, is not that of a number, and is converted by a factor."""
    return not (unit is None or unit is Plain.NUMBER or is_function_unit(unit) or same(unit, read_unit("")))


def is_angle(unit: Unit) -> bool:
    """Tell whether a unit is known to be that of an angle."""
    return is_dimensional(unit) and factor(unit, read_unit("rad")) is not None


def has_unit(node: Node) -> bool:
    """Tell whether the unit of a node may be known; astropy is not needed to tell."""
    return any(
        bool(one.unit) if isinstance(one, Column | Constant) else isinstance(one, Call) and one.operator in _GIVEN
        for one in parts(node)
    )


def has_quantity(node: Node) -> bool:
    """Tell whether a number with a unit is part of a node."""
    return any(isinstance(one, Constant) and one.unit for one in parts(node))


def reads(node: Node) -> bool:
    """Tell whether the value of a node differs by source."""
    return any(isinstance(one, Column | Test) for one in parts(node))


def is_quantity(node: Node) -> bool:
    """Tell whether a node is a number with a unit, written or calculated from such."""
    return has_quantity(node) and not reads(node) and unit_in(node) is not Plain.NUMBER


def parts(node: Node) -> Iterable[Node]:
    """Yield a node and what it is made of, but not what is inside a condition."""
    stack = [node]
    while stack:
        one = stack.pop()
        yield one
        if isinstance(one, Call):
            stack.extend(one.arguments)
