"""Values brought to one unit: quantities and attributes are converted to the unit of what they meet, or refused.

Conversions are made while a text is read. The canonical text has plain numbers and the conversions themselves, so
that it means the same without any unit: canonical text is read with columns whose unit is None, and nothing is
converted or refused then. astropy is imported only where units meet.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal, Inexact, localcontext
from fractions import Fraction

from provenn.criteria.domains import double_key, number
from provenn.criteria.folding import evaluate, read_number
from provenn.criteria.known_units import Unit, factor, read_unit, same, similar_units, unit_text
from provenn.criteria.nodes import Call, Column, Constant, Node, Nulls, walk
from provenn.criteria.refusal import Refusal
from provenn.criteria.types import DOUBLE, FLOAT
from provenn.criteria.units import (
    OF_ANGLES,
    Plain,
    has_quantity,
    has_unit,
    is_angle,
    is_dimensional,
    is_quantity,
    is_scaled,
    parts,
    reads,
    unit_in,
)
from provenn.criteria.writing import CANONICAL, PEOPLE, shown, write

__all__ = ["alike", "beside", "check_stated", "checked_unit", "measured", "quantity"]

_LONGEST = 100
_MOST_DIGITS = 15  # of a converted number that is still exact; with more it is a double
_TAKEN = {**dict.fromkeys([*OF_ANGLES, "degrees"], "rad"), "radians": "deg"}
_ANY = frozenset(["rint", "signum", "sqrt", "cbrt"])  # functions that take any unit


def quantity(constant: Constant, unit: str) -> Constant:
    """Return a number that is followed by a unit.

    Raises
    ------
    Refusal
        If there is no such unit.
    """
    checked_unit(unit)
    return replace(constant, written=f"{constant.written} {shown(unit)}", unit=unit)


def checked_unit(text: str) -> Unit:
    """Return the unit that a text means.

    Raises
    ------
    Refusal
        If there is no such unit.
    """
    if len(text) > _LONGEST:
        raise Refusal(f"{text[:20]}… is too long for a unit")
    unit = read_unit(text) if text.strip() else None
    if unit is None:
        raise Refusal(f"there is no unit {text}", similar_units(text))
    return unit


def alike(nodes: Sequence[Node], *, finest: bool = False) -> list[Node]:
    """Return values that are compared, added, or chosen from, in one unit.

    Attributes are converted to the unit of the first one, or to the finest unit among them; quantities to theirs.

    Raises
    ------
    Refusal
        If one value does not go with the others.
    """
    if _is_canonical(nodes) or not _units_meet(nodes):
        return list(nodes)
    nodes = _in_one_unit(nodes, finest=finest)
    if not any(map(has_quantity, nodes)):
        return nodes
    known = [(node, unit_in(node)) for node in nodes if not _is_null(node)]
    attributes = [(node, unit) for node, unit in known if reads(node) and unit is not Plain.NUMBER]
    quantities = [(node, unit) for node, unit in known if not reads(node) and unit is not Plain.NUMBER]
    plain = [node for node, unit in known if unit is Plain.NUMBER]
    if quantities and plain and not attributes:
        problem = f"{_people(quantities[0][0])} does not go with {_which(plain[0], Plain.NUMBER)}"
        raise Refusal(problem, "give both a unit, or none")
    if not attributes + quantities:
        return nodes
    target, unit = (attributes + quantities)[0]
    for node, other in attributes[1:]:
        if not same(other, unit):
            raise Refusal(
                f"{_which(target, unit)}, stands beside {_which(node, other)}",
                "leave the unit of the number out, or state the unit of what has none where it is derived",
            )
    return [_converted(node, unit, _which(target, unit)) if is_quantity(node) else node for node in nodes]


def beside(operator: str, left: Node, right: Node) -> tuple[Node, Node]:
    """Return the operands of ``+ - * / %``, with a quantity in the unit of the other one where it can be."""
    if operator in "+-%":
        left, right = alike([left, right])
    elif operator == "/" and (is_quantity(left) or is_quantity(right)):
        one, other = unit_in(left), unit_in(right)
        if not isinstance(one, Plain) and not isinstance(other, Plain) and factor(other, one) is not None:
            if is_quantity(right):
                right = _converted(right, one, _which(left, one))
            else:
                left = _converted(left, other, _which(right, other))
    return left, right


def measured(name: str, arguments: Sequence[Node]) -> list[Node]:
    """Return the arguments of a function, with quantities in the unit that it takes.

    Functions of angles take radians, regions of the sky degrees; what takes a number, such as an exponent, takes no
    other unit. An attribute that is known to be an angle in another unit is refused, and not converted: in
    ``cos(dec * pi() / 180)`` nobody but the writer knows that a number converts it already. The factors of positions
    in regions are trusted, because a position is multiplied for no other reason.
    """
    if name in ("atan2", "hypot", "nanvl"):
        return alike(arguments)
    of_angles = name in _TAKEN or name.startswith("in_")
    checked = any(map(has_quantity, arguments)) or (of_angles and any(map(has_unit, arguments)))
    if name in _ANY or _is_canonical(arguments) or not checked:
        return list(arguments)
    text = _TAKEN.get(name, "deg" if of_angles else "")
    taken = read_unit(text)
    wanted = f"{name}(), which takes {text or 'a number without a unit'}"
    free = 1 if name == "pow" else 0  # what is raised to a power may have any unit
    fitted = list(arguments[:free])
    for node in arguments[free:]:
        unit = unit_in(node)
        if reads(node) and not same(unit, taken) and not _counts(node, unit, text):
            trusted = name.startswith("in_") and is_scaled(node)
            if has_quantity(node) or (of_angles and is_angle(unit) and not trusted):
                raise Refusal(f"{_which(node, unit)}, does not go with {wanted}", _angle_hint(name, node, unit, text))
        fitted.append(_converted(node, taken, wanted) if is_quantity(node) else node)
    return fitted


def _counts(node: Node, unit: Unit, counted: str) -> bool:
    """Tell whether a node is the number of some units, as ``plx / 1 rad`` is that of radians."""
    quantities = [one for one in parts(node) if isinstance(one, Constant) and one.unit]
    written = all(one.written.endswith(f" {counted}") for one in quantities)
    return bool(counted) and written and same(unit, read_unit(""))


def _angle_hint(name: str, node: Node, unit: Unit, taken: str) -> str:
    """Return how to write the argument of a function of angles."""
    if not (taken and is_angle(unit)):
        return f"divide it by a unit, as in: x / 1 {taken or 'mas'}"
    if is_scaled(node):
        return f"{_divided(node, taken)} is in {taken} without any factor"
    if taken == "rad" and same(unit, read_unit("deg")):
        return f"write {name}(radians({_people(node)}))"
    return f"write {name}({_operand(node)} / 1 {taken})" if name in _TAKEN else f"write {_operand(node)} / 1 {taken}"


def check_stated(node: Node, text: str) -> None:
    """Check that an expression may be in the unit that is stated for it.

    The statement is believed where nothing else is known: of attributes without a unit, of plain numbers, and where a
    plain number multiplies, which may have any unit: ``1000 / plx`` is in pc if 1000 is in mas.pc.

    Raises
    ------
    Refusal
        If there is no such unit, or the expression is known to be in another one.
    """
    unit = checked_unit(text)
    if not node.type.numeric:
        raise Refusal(f"{_people(node)} is a {node.type}, which is in no unit", "state units of numbers only")
    own = unit_in(node)
    free = own is None or own is Plain.NUMBER or same(own, read_unit("")) or is_scaled(node)
    if not free and not same(own, unit):
        known = unit_text(own) or "another unit"
        convertible = factor(own, unit) is not None
        hint = f"write {_operand(node)} / 1 {shown(text)} to convert it" if convertible else "leave the unit out"
        raise Refusal(f"{_people(node)} is in {known}, not in {text}", hint)


def _is_canonical(nodes: Sequence[Node]) -> bool:
    """Tell whether nodes are read from canonical text: units are not looked at then."""
    return any(isinstance(one, Column) and one.unit is None for node in nodes for one in parts(node))


def _units_meet(nodes: Sequence[Node]) -> bool:
    """Tell whether there is a quantity, or two values whose units are known and may differ."""
    if any(map(has_quantity, nodes)):
        return True
    known = [node for node in nodes if has_unit(node)]
    return len({node.unit if isinstance(node, Column) else node for node in known}) > 1


def _in_one_unit(nodes: Sequence[Node], *, finest: bool) -> list[Node]:
    """Return nodes with what reads attributes in one unit: that of the first such node, or the finest one.

    Left as they are: plain numbers, what has no known unit, and magnitudes of something, which no factor converts.
    """
    units = {place: unit_in(node) for place, node in enumerate(nodes) if node.type.numeric and reads(node)}
    units = {place: unit for place, unit in units.items() if is_dimensional(unit)}
    if len(units) < 2:
        return list(nodes)
    target = next(iter(units))
    if finest:
        for place, unit in units.items():
            ratio = factor(unit, units[target])
            target = place if ratio is not None and ratio < 1 else target
    return [
        _rescaled(node, units[place], nodes[target], units[target]) if place in units else node
        for place, node in enumerate(nodes)
    ]


def _rescaled(node: Node, unit: Unit, target: Node, to: Unit) -> Node:
    """Return what reads attributes in another unit, as a double: multiplied or divided by a number that is not below 1.

    Both are correctly rounded, and most such numbers are whole: so a value in mas is a value in deg exactly where
    that double is the nearest one. Where a plain number multiplies, nobody but the writer knows whether it converts:
    then values of one dimension are refused, and others are taken as they are, because the number may have any unit.
    """
    if same(unit, to):
        return node
    ratio = factor(unit, to)
    text = unit_text(to)
    scaled = next((one for one in (node, target) if is_scaled(one)), None)
    if ratio is None and scaled is not None:
        return node
    beside = f"{_which(target, to)}, stands beside {_which(node, unit)}"
    if ratio is None or not text:
        hint = f"{unit_text(unit)} cannot be converted to {text}; {_divided(node, unit_text(unit))} is a number alone"
        raise Refusal(beside, hint)
    if scaled is not None:
        other = text if scaled is node else unit_text(unit)
        hint = f"leave a factor out that converts; or write {_divided(scaled, other)}, which is a number alone"
        raise Refusal(f"{beside}, and a number multiplies {_people(scaled)}", hint)
    multiple = float(max(ratio, 1 / ratio))
    number = Constant(DOUBLE, double_key(multiple), repr(multiple).removesuffix(".0"))
    value = node if node.type == DOUBLE else Call("coerce", (node,), DOUBLE, Nulls.ANY)
    if ratio < 1:
        return Call("/", (value, number), DOUBLE, Nulls.ANY_OR_FAILED, text)
    operands = sorted((value, number), key=lambda one: write(one, CANONICAL))
    return Call("*", tuple(operands), DOUBLE, Nulls.ANY, text)


def _divided(node: Node, unit: str) -> str:
    """Return how to write the number of units of the first attribute in a node that has a unit."""
    columns = [one for one in walk(node) if isinstance(one, Column)]
    column = next((one for one in columns if one.unit), columns[0] if columns else node)
    return f"{_people(column)} / 1 {shown(unit)}"


def _is_null(node: Node) -> bool:
    return isinstance(node, Constant) and node.key is None


def _people(node: Node) -> str:
    return write(node, PEOPLE)


def _operand(node: Node) -> str:
    """Return the text of a node as it stands before a division."""
    alone = isinstance(node, Column) or (isinstance(node, Call) and node.operator.isidentifier())
    return _people(node) if alone else f"({_people(node)})"


def _which(node: Node, unit: Unit) -> str:
    """Return a node, and what it is in, in words."""
    if unit is Plain.NUMBER or same(unit, read_unit("")):
        return f"{_people(node)}, a number without a unit"
    text = unit_text(unit)
    return f"{_people(node)}, which is in {text}" if text else f"{_people(node)}, of which no unit is known"


def _converted(node: Node, unit: Unit, there: str) -> Node:
    """Return a quantity in another unit: as the number that one would have written `there`."""
    own = unit_in(node)
    if same(own, unit):
        return node
    known = unit_text(unit) or same(unit, read_unit(""))
    ratio = factor(own, unit) if known else None
    if ratio is None:
        hint = "leave the unit out: a number alone is in the unit of what it meets"
        hint = f"{unit_text(own)} cannot be converted to that" if known else hint
        raise Refusal(f"{_people(node)} does not go with {there}", hint)
    constant = evaluate(node)
    value = number(constant.type, constant.key) if constant and isinstance(constant.key, int) else math.nan
    if constant is None or not math.isfinite(value):
        raise Refusal(f"{_people(node)} cannot be converted to {unit_text(unit)}", f"write it in {unit_text(unit)}")
    written = node.written if isinstance(node, Constant) else ""
    exact = Fraction(value) * ratio
    text = None if constant.type in (FLOAT, DOUBLE) else _digits(exact)
    if text is not None:
        return replace(read_number(text.lstrip("-"), "-" * (exact < 0)), written=written, unit=unit_text(unit))
    try:
        return Constant(DOUBLE, double_key(float(exact)), written, unit_text(unit))
    except OverflowError:
        raise Refusal(f"{_people(node)} is too large a number in {unit_text(unit)}") from None


def _digits(value: Fraction) -> str | None:
    """Return a number as one writes it, if it has few digits."""
    with localcontext(prec=_MOST_DIGITS) as context:
        context.traps[Inexact] = True
        try:
            text = f"{Decimal(value.numerator) / Decimal(value.denominator):f}"
        except Inexact:
            return None
    return text if len(text) <= 2 * _MOST_DIGITS else None
