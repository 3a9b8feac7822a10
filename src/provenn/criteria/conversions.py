"""Convert values to a common unit: quantities and attributes adopt the unit of their counterpart, or are refused.

Conversions happen while a text is read. The canonical text has plain numbers and explicit conversions, so canonical
text means the same without any unit. Canonical text is read with columns of unit None; nothing is converted or refused
then. The module imports astropy only where units meet.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal, Inexact, localcontext
from fractions import Fraction

from provenn.criteria.domains import decode_number, encode_double
from provenn.criteria.folding import evaluate, read_number
from provenn.criteria.known_units import Unit, are_same_unit, find_factor, read_unit, suggest_units, write_unit
from provenn.criteria.nodes import Call, ColumnNode, Constant, Node, Nulls, walk
from provenn.criteria.refusal import Refusal
from provenn.criteria.types import DOUBLE, FLOAT
from provenn.criteria.units import (
    OF_ANGLES,
    PlainUnit,
    find_unit,
    has_quantity,
    has_unit,
    is_angle,
    is_dimensional,
    is_quantity,
    is_scaled,
    reads_attributes,
    walk_values,
)
from provenn.criteria.writing import CANONICAL, PEOPLE, quote_name, write

__all__ = [
    "attach_unit",
    "check_node_unit",
    "convert_arguments",
    "convert_operands",
    "convert_to_common_unit",
    "require_unit",
]

_LONGEST_UNIT = 100
_MOST_DIGITS = 15  # the maximum of a converted number that stays exact; beyond that it becomes a double
_ARGUMENT_UNITS = {**dict.fromkeys([*OF_ANGLES, "degrees"], "rad"), "radians": "deg", "healpix_index": "deg"}
_UNIT_AGNOSTIC = frozenset(["rint", "signum", "sqrt", "cbrt"])  # functions that take any unit


def attach_unit(constant: Constant, unit: str) -> Constant:
    """Return a number with the following unit.

    Raises
    ------
    Refusal
        If the unit is not known.
    """
    require_unit(unit)
    return replace(constant, source_text=f"{constant.source_text} {quote_name(unit)}", unit=unit)


def require_unit(text: str) -> Unit:
    """Return the unit named by a text.

    Raises
    ------
    Refusal
        If the unit is not known.
    """
    if len(text) > _LONGEST_UNIT:
        raise Refusal(f"{text[:20]}… is too long for a unit")
    unit = read_unit(text) if text.strip() else None
    if unit is None:
        raise Refusal(f"unknown unit {text}", suggest_units(text))
    return unit


def convert_to_common_unit(nodes: Sequence[Node], *, finest: bool = False) -> list[Node]:
    """Return compared, added or alternative values in a common unit.

    Attributes are converted to the unit of the first attribute, or to the finest unit of the attributes. Quantities are
    converted to the unit of the attributes.

    Raises
    ------
    Refusal
        If the units of the values do not fit together.
    """
    if _is_canonical(nodes) or not _has_several_units(nodes):
        return list(nodes)
    nodes = _rescale_attributes(nodes, finest=finest)
    if not any(map(has_quantity, nodes)):
        return nodes
    known = [(node, find_unit(node)) for node in nodes if not _is_null(node)]
    attributes = [(node, unit) for node, unit in known if reads_attributes(node) and unit is not PlainUnit.NUMBER]
    quantities = [(node, unit) for node, unit in known if not reads_attributes(node) and unit is not PlainUnit.NUMBER]
    plain = [node for node, unit in known if unit is PlainUnit.NUMBER]
    if quantities and plain and not attributes:
        problem = (
            f"{_write_for_people(quantities[0][0])} cannot be combined with "
            f"{_describe_unit(plain[0], PlainUnit.NUMBER)}"
        )
        raise Refusal(problem, "give both a unit, or neither")
    if not attributes + quantities:
        return nodes
    target, unit = (attributes + quantities)[0]
    for node, other_unit in attributes[1:]:
        if not are_same_unit(other_unit, unit):
            raise Refusal(
                f"{_describe_unit(target, unit)}, is combined with {_describe_unit(node, other_unit)}",
                "omit the unit of the number, or state the missing unit where the attribute is derived",
            )
    return [
        _convert_quantity(node, unit, _describe_unit(target, unit)) if is_quantity(node) else node for node in nodes
    ]


def convert_operands(operator: str, left: Node, right: Node) -> tuple[Node, Node]:
    """Return the operands of ``+ - * / %``, with a quantity in the unit of the other operand where possible."""
    if operator in "+-%":
        left, right = convert_to_common_unit([left, right])
    elif operator == "/" and (is_quantity(left) or is_quantity(right)):
        left_unit, right_unit = find_unit(left), find_unit(right)
        if (
            not isinstance(left_unit, PlainUnit)
            and not isinstance(right_unit, PlainUnit)
            and find_factor(right_unit, left_unit) is not None
        ):
            if is_quantity(right):
                right = _convert_quantity(right, left_unit, _describe_unit(left, left_unit))
            else:
                left = _convert_quantity(left, right_unit, _describe_unit(right, right_unit))
    return left, right


def convert_arguments(name: str, arguments: Sequence[Node]) -> list[Node]:
    """Return the arguments of a function, with quantities in the unit expected by the function.

    Functions of angles expect radians, regions of the sky degrees. An argument that must be a number, such as an
    exponent, accepts no other unit. An attribute known to be an angle in another unit is refused, and not converted: in
    ``cos(dec * pi() / 180)`` only the author knows that a number already converts the attribute. The factors of
    positions in regions are trusted, because a position is multiplied for no other reason. A value in another unit than
    an angle's, such as a right ascension in hours, is refused where degrees are taken, unless a number multiplies it.
    """
    if name in ("atan2", "hypot", "nanvl"):
        return convert_to_common_unit(arguments)
    of_angles = name in _ARGUMENT_UNITS or name.startswith("in_")
    checked = any(map(has_quantity, arguments)) or (of_angles and any(map(has_unit, arguments)))
    if name in _UNIT_AGNOSTIC or _is_canonical(arguments) or not checked:
        return list(arguments)
    text = _ARGUMENT_UNITS.get(name, "deg" if of_angles else "")
    expected_unit = read_unit(text)
    wanted = f"{name}(), which takes {text or 'a number without a unit'}"
    free = 1 if name == "pow" else 0  # the base of a power may have any unit
    fitted = list(arguments[:free])
    for node in arguments[free:]:
        unit = find_unit(node)
        if (
            reads_attributes(node)
            and not are_same_unit(unit, expected_unit)
            and not _is_number_of_units(node, unit, text)
        ):
            trusted = name.startswith("in_") and is_scaled(node)
            is_other_angle = of_angles and is_angle(unit) and not trusted
            is_no_angle = text == "deg" and is_dimensional(unit) and not is_angle(unit) and not is_scaled(node)
            if has_quantity(node) or is_other_angle or is_no_angle:
                raise Refusal(
                    f"{_describe_unit(node, unit)}, does not fit {wanted}", _suggest_angle(name, node, unit, text)
                )
        fitted.append(_convert_quantity(node, expected_unit, wanted) if is_quantity(node) else node)
    return fitted


def _is_number_of_units(node: Node, unit: Unit, counted: str) -> bool:
    """Tell whether a node is a number of units, as ``plx / 1 rad`` is a number of radians."""
    quantities = [value for value in walk_values(node) if isinstance(value, Constant) and value.unit]
    has_counted_unit = all(constant.source_text.endswith(f" {counted}") for constant in quantities)
    return bool(counted) and has_counted_unit and are_same_unit(unit, read_unit(""))


def _suggest_angle(name: str, node: Node, unit: Unit, expected: str) -> str:
    """Return a hint about how to write the argument of a function of angles."""
    if expected == "deg" and find_factor(unit, read_unit("h")) is not None:
        return "multiply hours of right ascension by 15"
    if not (expected and is_angle(unit)):
        return f"divide it by a unit, as in: x / 1 {expected or 'mas'}"
    if is_scaled(node):
        return f"{_suggest_division(node, expected)} is in {expected} without any factor"
    if expected == "rad" and are_same_unit(unit, read_unit("deg")):
        return f"write {name}(radians({_write_for_people(node)}))"
    return (
        f"write {name}({_write_operand(node)} / 1 {expected})"
        if name in _ARGUMENT_UNITS
        else f"write {_write_operand(node)} / 1 {expected}"
    )


def check_node_unit(node: Node, text: str) -> None:
    """Check that an expression may be in the unit stated by the user.

    The statement is believed where nothing else is known: for attributes without a unit, for plain numbers, and where a
    plain number multiplies, because the number may have any unit: ``1000 / plx`` is in pc if 1000 is in mas.pc.

    Raises
    ------
    Refusal
        If the unit is not known, or the expression is known to be in another unit.
    """
    unit = require_unit(text)
    if not node.type.numeric:
        raise Refusal(f"{_write_for_people(node)} is a {node.type}, which has no unit", "only numbers have units")
    own = find_unit(node)
    free = own is None or own is PlainUnit.NUMBER or are_same_unit(own, read_unit("")) or is_scaled(node)
    if not free and not are_same_unit(own, unit):
        known = write_unit(own) or "another unit"
        convertible = find_factor(own, unit) is not None
        hint = (
            f"write {_write_operand(node)} / 1 {quote_name(text)} to convert it"
            if convertible
            else "leave the unit out"
        )
        raise Refusal(f"{_write_for_people(node)} is in {known}, not in {text}", hint)


def _is_canonical(nodes: Sequence[Node]) -> bool:
    """Tell whether nodes come from canonical text; units are ignored then."""
    return any(isinstance(value, ColumnNode) and value.unit is None for node in nodes for value in walk_values(node))


def _has_several_units(nodes: Sequence[Node]) -> bool:
    """Tell whether the nodes include a quantity, or two values with possibly different known units."""
    if any(map(has_quantity, nodes)):
        return True
    known = [node for node in nodes if has_unit(node)]
    return len({node.unit if isinstance(node, ColumnNode) else node for node in known}) > 1


def _rescale_attributes(nodes: Sequence[Node], *, finest: bool) -> list[Node]:
    """Return nodes, with all readers of attributes converted to a common unit.

    The common unit is the unit of the first of these nodes, or the finest unit. Plain numbers, nodes without a known
    unit, and magnitudes of something, beyond any factor, are left unchanged.
    """
    units = {place: find_unit(node) for place, node in enumerate(nodes) if node.type.numeric and reads_attributes(node)}
    units = {place: unit for place, unit in units.items() if is_dimensional(unit)}
    if len(units) < 2:
        return list(nodes)
    target = next(iter(units))
    if finest:
        for place, unit in units.items():
            ratio = find_factor(unit, units[target])
            target = place if ratio is not None and ratio < 1 else target
    return [
        _rescale_node(node, units[place], nodes[target], units[target]) if place in units else node
        for place, node in enumerate(nodes)
    ]


def _rescale_node(node: Node, unit: Unit, target: Node, to: Unit) -> Node:
    """Return a node over attributes, converted to another unit, as a double.

    The node is multiplied or divided by a number of at least 1. Both operations are correctly rounded, and most of
    these numbers are whole: so a value in mas equals a value in deg exactly where that double is the nearest one. Where
    a plain number multiplies the node, only the author knows whether the number converts. Then values of the same
    dimension are refused, and values of other dimensions are left unchanged, because the number may have any unit.
    """
    if are_same_unit(unit, to):
        return node
    ratio = find_factor(unit, to)
    text = write_unit(to)
    scaled = next((operand for operand in (node, target) if is_scaled(operand)), None)
    if ratio is None and scaled is not None:
        return node
    problem = f"{_describe_unit(target, to)}, is combined with {_describe_unit(node, unit)}"
    if ratio is None or not text:
        own = write_unit(unit)
        hint = f"{own} cannot be converted to {text}; {_suggest_division(node, own)} is a plain number"
        raise Refusal(problem, hint)
    if scaled is not None:
        divisor = text if scaled is node else write_unit(unit)
        hint = f"omit the conversion factor; or write {_suggest_division(scaled, divisor)}, which is a plain number"
        raise Refusal(f"{problem}, and a number multiplies {_write_for_people(scaled)}", hint)
    multiple = float(max(ratio, 1 / ratio))
    number = Constant(DOUBLE, encode_double(multiple), repr(multiple).removesuffix(".0"))
    value = node if node.type == DOUBLE else Call("coerce", (node,), DOUBLE, Nulls.ANY)
    if ratio < 1:
        return Call("/", (value, number), DOUBLE, Nulls.ANY_OR_FAILED, text)
    operands = sorted((value, number), key=lambda operand: write(operand, CANONICAL))
    return Call("*", tuple(operands), DOUBLE, Nulls.ANY, text)


def _suggest_division(node: Node, unit: str) -> str:
    """Return how to write the first attribute of a node that has a unit, divided by a unit."""
    columns = [part for part in walk(node) if isinstance(part, ColumnNode)]
    column = next((column for column in columns if column.unit), columns[0] if columns else node)
    return f"{_write_for_people(column)} / 1 {quote_name(unit)}"


def _is_null(node: Node) -> bool:
    return isinstance(node, Constant) and node.key is None


def _write_for_people(node: Node) -> str:
    return write(node, PEOPLE)


def _write_operand(node: Node) -> str:
    """Return the text of a node as the dividend of a division."""
    alone = isinstance(node, ColumnNode) or (isinstance(node, Call) and node.operator.isidentifier())
    return _write_for_people(node) if alone else f"({_write_for_people(node)})"


def _describe_unit(node: Node, unit: Unit) -> str:
    """Return a node and its unit in words."""
    if unit is PlainUnit.NUMBER or are_same_unit(unit, read_unit("")):
        return f"{_write_for_people(node)}, a number without a unit"
    text = write_unit(unit)
    return (
        f"{_write_for_people(node)}, which is in {text}"
        if text
        else f"{_write_for_people(node)}, whose unit is unknown"
    )


def _convert_quantity(node: Node, unit: Unit, there: str) -> Node:
    """Return a quantity in another unit.

    The result is the number that the user would have written without a unit. `there` describes the place of the
    quantity in error messages.
    """
    own = find_unit(node)
    if are_same_unit(own, unit):
        return node
    known = write_unit(unit) or are_same_unit(unit, read_unit(""))
    ratio = find_factor(own, unit) if known else None
    if ratio is None:
        hint = "omit the unit: a plain number takes the unit of the attribute"
        hint = f"{write_unit(own)} cannot be converted to that" if known else hint
        raise Refusal(f"{_write_for_people(node)} does not fit {there}", hint)
    constant = evaluate(node)
    value = decode_number(constant.type, constant.key) if constant and isinstance(constant.key, int) else math.nan
    if constant is None or not math.isfinite(value):
        raise Refusal(
            f"{_write_for_people(node)} cannot be converted to {write_unit(unit)}", f"write it in {write_unit(unit)}"
        )
    source_text = node.source_text if isinstance(node, Constant) else ""
    exact = Fraction(value) * ratio
    text = None if constant.type in (FLOAT, DOUBLE) else _write_digits(exact)
    if text is not None:
        return replace(read_number(text.lstrip("-"), "-" * (exact < 0)), source_text=source_text, unit=write_unit(unit))
    try:
        return Constant(DOUBLE, encode_double(float(exact)), source_text, write_unit(unit))
    except OverflowError:
        raise Refusal(f"{_write_for_people(node)} is too large in {write_unit(unit)}") from None


def _write_digits(value: Fraction) -> str | None:
    """Return the decimal text of a number, or None if the number has too many digits."""
    with localcontext(prec=_MOST_DIGITS) as context:
        context.traps[Inexact] = True
        try:
            text = f"{Decimal(value.numerator) / Decimal(value.denominator):f}"
        except Inexact:
            return None
    return text if len(text) <= 2 * _MOST_DIGITS else None
