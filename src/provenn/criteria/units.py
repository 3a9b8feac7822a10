"""Find the unit of a value from the units of attributes, quantities and functions."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from fractions import Fraction

from provenn.criteria.domains import decode_number
from provenn.criteria.folding import evaluate
from provenn.criteria.known_units import (
    Unit,
    are_same_unit,
    find_factor,
    get_unit_errors,
    is_function_unit,
    read_unit,
    write_unit,
)
from provenn.criteria.nodes import Call, ColumnNode, Constant, Node, Test, walk

__all__ = [
    "OF_ANGLES",
    "PlainUnit",
    "find_unit",
    "has_quantity",
    "has_unit",
    "is_angle",
    "is_dimensional",
    "is_quantity",
    "is_scaled",
    "reads_attributes",
    "same_unit",
    "unit_of",
    "walk_values",
]

_KEEP_UNIT = frozenset(["coerce", "abs", "round", "bround", "floor", "ceil", "rint", "get", "try_element_at"])
_SHARE_UNIT = frozenset(["+", "-", "%", "pmod", "coalesce", "greatest", "least", "nanvl", "hypot"])
_ROOTS = {"sqrt": Fraction(1, 2), "cbrt": Fraction(1, 3)}
OF_ANGLES = frozenset(["sin", "cos", "tan", "cot", "sec", "csc"])
_UNITLESS = OF_ANGLES | {"sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "signum", "factorial"}
_UNITLESS |= {"exp", "expm1", "ln", "log", "log10", "log2", "log1p"}
_RESULT_UNITS = {  # the unit of a function's result, independent of its arguments
    **dict.fromkeys(["asin", "acos", "atan", "atan2", "radians"], "rad"),
    **dict.fromkeys(["datediff", "unix_date"], "d"),
    "degrees": "deg",
    "unix_seconds": "s",
    "unix_millis": "ms",
    "unix_micros": "us",
}


class PlainUnit(Enum):
    """The unit of plain numbers.

    In a sum, a plain number adopts the unit of the other operand; in a product, it is a factor.
    """

    NUMBER = "a number without a unit"


def unit_of(node: Node) -> str:
    """Return the unit of the values of a node, in a spelling for FITS and VOTable; empty if none is known.

    A sum or a choice of values in units that cannot be converted has no unit.
    """
    texts = [part.unit for part in walk(node) if isinstance(part, ColumnNode | Constant) and part.unit]
    has_result_unit = any(isinstance(part, Call) and part.operator in _RESULT_UNITS for part in walk(node))
    if not node.type.numeric or not (texts or has_result_unit):
        return ""
    unit = find_unit(node)
    if unit is None or unit is PlainUnit.NUMBER:
        return ""
    return next((text for text in texts if are_same_unit(read_unit(text), unit)), write_unit(unit))


def same_unit(left: str, right: str) -> bool:
    """Tell whether two texts name the same unit, as km/s and km.s-1 do.

    >>> same_unit("km/s", "km.s-1"), same_unit("mas", "arcsec")
    (True, False)
    """
    return left == right or are_same_unit(read_unit(left), read_unit(right))


def find_unit(node: Node) -> Unit:
    """Return the unit of a node: a unit of astropy, `PlainUnit.NUMBER`, or None if unknown."""
    match node:
        case ColumnNode(unit=text):
            return read_unit(text) if text else None
        case Constant(unit=text):
            return read_unit(text) if text else PlainUnit.NUMBER
        case Call(unit=text) if text:
            return read_unit(text)
        case Call():
            try:
                unit = _calculate_unit(node)
            except get_unit_errors():
                return None
            return PlainUnit.NUMBER if are_same_unit(unit, read_unit("")) and not reads_attributes(node) else unit
    return None


def _calculate_unit(call: Call) -> Unit:
    """Return the unit of a call; raise an error of astropy if the units of the arguments do not fit."""
    operator = call.operator
    if operator == "case":
        return _find_shared_unit(map(find_unit, (*call.arguments[1::2], call.arguments[-1])))
    units = [find_unit(argument) for argument in call.arguments]
    if all(unit is PlainUnit.NUMBER for unit in units):
        return PlainUnit.NUMBER
    if operator in _RESULT_UNITS:
        return read_unit(_RESULT_UNITS[operator])
    if operator in _UNITLESS:
        return read_unit("")
    if operator in _SHARE_UNIT:
        return _find_shared_unit(units)
    if operator in _KEEP_UNIT or (operator == "cast" and call.type.numeric and call.arguments[0].type.numeric):
        return units[0]
    if operator in _ROOTS:
        return units[0] ** _ROOTS[operator]
    if operator == "pow":
        return units[0] ** _read_exponent(call.arguments[1])
    if operator in "*/":
        left, right = (read_unit("") if unit is PlainUnit.NUMBER else unit for unit in units)
        return left * right if operator == "*" else left / right
    return None


def _find_shared_unit(units: Iterable[Unit]) -> Unit:
    """Return the common unit of all units, without plain numbers; None if the units differ."""
    known = [unit for unit in units if unit is not PlainUnit.NUMBER]
    if not known:
        return PlainUnit.NUMBER
    return known[0] if all(are_same_unit(unit, known[0]) for unit in known) else None


def _read_exponent(node: Node) -> Fraction:
    """Return the value of a constant exponent."""
    constant = evaluate(node)
    if constant is None or not isinstance(constant.key, int):
        raise ValueError("the exponent is not a constant")
    return Fraction(decode_number(constant.type, constant.key)).limit_denominator(100)


def is_scaled(node: Node) -> bool:
    """Tell whether a plain number multiplies or divides a value with a unit, so that the unit is uncertain."""
    if not isinstance(node, Call) or node.unit or node.operator in _RESULT_UNITS or node.operator in _UNITLESS:
        return False
    if find_unit(node) is PlainUnit.NUMBER:
        return False
    plain = node.operator in ("*", "/") and any(find_unit(argument) is PlainUnit.NUMBER for argument in node.arguments)
    return plain or any(map(is_scaled, node.arguments))


def is_dimensional(unit: Unit) -> bool:
    """Tell whether a unit is known, is not the unit of plain numbers, and is converted by a factor."""
    return not (
        unit is None or unit is PlainUnit.NUMBER or is_function_unit(unit) or are_same_unit(unit, read_unit(""))
    )


def is_angle(unit: Unit) -> bool:
    """Tell whether a unit is known to be an angle."""
    return is_dimensional(unit) and find_factor(unit, read_unit("rad")) is not None


def has_unit(node: Node) -> bool:
    """Tell whether the unit of a node may be known, without astropy."""
    return any(
        bool(value.unit)
        if isinstance(value, ColumnNode | Constant)
        else isinstance(value, Call) and value.operator in _RESULT_UNITS
        for value in walk_values(node)
    )


def has_quantity(node: Node) -> bool:
    """Tell whether a node contains a number with a unit."""
    return any(isinstance(value, Constant) and value.unit for value in walk_values(node))


def reads_attributes(node: Node) -> bool:
    """Tell whether the value of a node differs by source."""
    return any(isinstance(value, ColumnNode | Test) for value in walk_values(node))


def is_quantity(node: Node) -> bool:
    """Tell whether a node is a number with a unit, or calculated from numbers with units only."""
    return has_quantity(node) and not reads_attributes(node) and find_unit(node) is not PlainUnit.NUMBER


def walk_values(node: Node) -> Iterable[Node]:
    """Yield a node and its parts, without the parts of conditions."""
    stack = [node]
    while stack:
        value = stack.pop()
        yield value
        if isinstance(value, Call):
            stack.extend(value.arguments)
