"""Positions and units in expressions of queries, written for criteria and for Spark.

A query names regions by the functions of criteria, ``in_cone(ra, dec, 56.75, 24.12, 1.5)``, and values in a unit by a
call of its own, ``in_unit(plx, 'arcsec', 'mas')``. Criteria understand the regions around constants, and quantities;
all else is written as plain arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache

from sqlglot import exp, parse_one

from provenn.criteria.known_units import find_factor, read_unit
from provenn.criteria.pixels import PIXEL_NUMBER
from provenn.criteria.writing import backquoted
from provenn.errors import FileError, FilesMissingError, RegionError
from provenn.queries.reading_text import parse_spark_expression
from provenn.sky import FUNCTIONS, is_text, region_of, region_sql
from provenn.sky.pixel_sql import DEEPEST, pixel_number_sql

__all__ = [
    "IN_UNIT",
    "REGIONS",
    "build_distance",
    "make_in_unit",
    "make_number",
    "read_number",
    "write_for_criteria",
    "write_for_spark",
]

IN_UNIT = "in_unit"
"""The call of a value in a unit: the value, the wanted unit, the unit of the value."""
REGIONS = frozenset(FUNCTIONS)
"""The functions of regions."""
_CALLS = REGIONS | {IN_UNIT, PIXEL_NUMBER}

_NEAR = (
    "pow(sin(radians(dec1 - dec2) / 2E0), 2E0)"
    " + cos(radians(dec1)) * cos(radians(dec2)) * pow(sin(radians(ra1 - ra2) / 2E0), 2E0)"
)
_FAR = (
    "pow(sin(radians(dec1 + dec2) / 2E0), 2E0)"
    " + cos(radians(dec1)) * cos(radians(dec2)) * pow(cos(radians(ra1 - ra2) / 2E0), 2E0)"
)
_DISTANCE = f"degrees(2E0 * atan2(sqrt({_NEAR}), sqrt({_FAR})))"
"""The degrees between two positions: the haversines of the distance, and of the distance to the opposite point.

Both are sums of terms that are not negative, so the result is exact to some 1e-14 degrees at any distance.
"""


def build_distance(ra1: exp.Expr, dec1: exp.Expr, ra2: exp.Expr, dec2: exp.Expr) -> exp.Expr:
    """Return the expression for the degrees between two positions in degrees."""
    values = {"ra1": ra1, "dec1": dec1, "ra2": ra2, "dec2": dec2}

    def fill_in(node: exp.Expr) -> exp.Expr:
        return exp.paren(values[node.name], copy=True) if isinstance(node, exp.Column) else node

    return _parse_distance().copy().transform(fill_in)


@cache
def _parse_distance() -> exp.Expr:
    return parse_spark_expression(_DISTANCE)


def make_number(value: float) -> exp.Expr:
    """Return a number as an expression, as short as possible."""
    literal = exp.Literal.number(repr(abs(float(value))).removesuffix(".0"))
    return exp.Neg(this=literal) if value < 0 else literal


def read_number(tree: exp.Expr) -> float | None:
    """Return the value of arithmetic with numbers alone; None for any other expression."""
    match tree:
        case exp.Paren():
            return read_number(tree.this)
        case exp.Literal() if not tree.is_string:
            return float(tree.name)
        case exp.Neg():
            inner = read_number(tree.this)
            return None if inner is None else -inner
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div():
            left, right = read_number(tree.this), read_number(tree.expression)
            if left is None or right is None:
                return None
            match tree:
                case exp.Add():
                    return left + right
                case exp.Sub():
                    return left - right
                case exp.Mul():
                    return left * right
            return None if right == 0 else left / right
    return None


def make_in_unit(value: exp.Expr, unit: str, own_unit: str) -> exp.Expr:
    """Return the call of a value in another unit."""
    texts = [exp.Literal.string(unit), exp.Literal.string(own_unit)]
    return exp.Anonymous(this=IN_UNIT, expressions=[value, *texts])


def write_for_criteria(tree: exp.Expr) -> exp.Expr:
    """Return an expression whose calls criteria understand: a value in a unit is a quantity.

    A region around a position that differs by source is a comparison of a distance.
    """

    def change(call: exp.Anonymous) -> exp.Expr:
        name = _get_name(call)
        if name == IN_UNIT:
            value, unit = call.expressions[0], exp.var(f"1 {backquoted(call.expressions[1].name)}")
            quotient = exp.Div(this=exp.paren(value, copy=True), expression=unit)
            return exp.paren(exp.Mul(this=exp.paren(quotient, copy=False), expression=unit.copy()), copy=False)
        return _compare_distance(call) if name == "in_cone" and not _has_constants(call) else call

    return _replace_calls(tree, change)


def write_for_spark(tree: exp.Expr) -> exp.Expr:
    """Return an expression in functions of Spark alone.

    Raises
    ------
    RegionError
        If the constants of a region do not describe one.
    """

    def change(call: exp.Anonymous) -> exp.Expr:
        name = _get_name(call)
        if name == IN_UNIT:
            return _scale(call)
        if name == "in_cone" and not _has_constants(call):
            return _compare_distance(call)
        if name == PIXEL_NUMBER:
            return _expand_pixel_number(call)
        return _expand_region(call, name) if name in REGIONS else call

    return _replace_calls(tree, change)


def _replace_calls(tree: exp.Expr, change: Callable[[exp.Anonymous], exp.Expr]) -> exp.Expr:
    """Return an expression with its calls of regions and units changed, the innermost first."""
    if not any(_get_name(call) in _CALLS for call in tree.find_all(exp.Anonymous)):
        return tree
    holder = exp.Paren(this=tree.copy())
    for call in list(holder.find_all(exp.Anonymous))[::-1]:
        changed = change(call)
        if changed is not call:
            call.replace(changed)
    replaced: exp.Expr = holder.this
    replaced.pop()
    return replaced


def _get_name(node: exp.Expr) -> str:
    """Return the name of a call in lower case; empty for anything else."""
    return str(node.this).lower() if isinstance(node, exp.Anonymous) else ""


def _has_constants(call: exp.Expr) -> bool:
    """Whether nothing but the position of a region differs by source."""
    return not any(argument.find(exp.Column) for argument in call.expressions[2:])


def _compare_distance(call: exp.Expr) -> exp.Expr:
    """Return the condition that two positions are within a radius."""
    ra, dec, centre_ra, centre_dec, radius = call.expressions
    distance = build_distance(ra, dec, centre_ra, centre_dec)
    return exp.paren(exp.LTE(this=distance, expression=exp.paren(radius, copy=True)), copy=False)


def _scale(call: exp.Expr) -> exp.Expr:
    """Return a value multiplied, or divided, by the factor between two units."""
    value, unit, own_unit = call.expressions
    factor = find_factor(read_unit(own_unit.name), read_unit(unit.name))
    if factor is None:
        raise RegionError(f"{own_unit.name} does not convert to {unit.name}")
    paren = exp.paren(value, copy=True)
    if factor >= 1:
        return exp.paren(exp.Mul(this=paren, expression=_make_double(factor)), copy=False)
    return exp.paren(exp.Div(this=paren, expression=_make_double(1 / factor)), copy=False)


def _make_double(value: Fraction) -> exp.Expr:
    text = repr(float(value))
    return exp.Literal.number(text if "e" in text else f"{text}E0")


def _expand_pixel_number(call: exp.Expr) -> exp.Expr:
    """Return the number of the cell of a position, in functions of Spark."""
    order, *position = call.expressions
    if not order.is_int or not 0 <= int(order.name) <= DEEPEST:
        raise RegionError(f"{PIXEL_NUMBER}() takes an order from 0 to {DEEPEST}")
    place = [f"CAST({coordinate.sql('spark')} AS DOUBLE)" for coordinate in position]
    return parse_spark_expression(pixel_number_sql(int(order.name), *place))


def _expand_region(call: exp.Expr, name: str) -> exp.Expr:
    """Return the condition that a position lies in a region, in functions of Spark."""
    ra, dec, *arguments = call.expressions
    constants = [argument.name if is_text(name) else read_number(argument) for argument in arguments]
    if None in constants:
        raise RegionError(f"{name}() takes constants after the position")
    try:
        region = region_of(name, constants)
    except (FileError, FilesMissingError) as error:
        raise RegionError(error.message, hint=error.hint or "") from error
    place = [f"CAST({coordinate.sql('spark')} AS DOUBLE)" for coordinate in (ra, dec)]
    return exp.paren(parse_one(region_sql(region, *place), dialect="spark"), copy=False)
