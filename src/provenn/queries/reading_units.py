"""Units in queries: values in different units are not compared; in ADQL, IN_UNIT is a value in another unit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlglot import exp

from provenn.criteria import parse_expression, unit_of
from provenn.criteria.known_units import find_factor, read_unit, suggest_units
from provenn.criteria.schema import Attribute, AttributeIdentity
from provenn.criteria.types import DOUBLE
from provenn.errors import CriterionError
from provenn.queries.adql_dialect import ADQL
from provenn.queries.function_names import get_function_name, list_row_parts
from provenn.queries.reading_context import QueryReading
from provenn.queries.sky_expressions import IN_UNIT, make_in_unit, write_for_criteria

__all__ = ["check_units", "resolve_units"]

_HINT = "convert with IN_UNIT, in place of a factor: COS(IN_UNIT(dec, 'rad')), ra - IN_UNIT(plx, 'deg')"
_HINT_ELSEWHERE = (
    "derive an attribute in the other unit first, such as plx / 1 deg, or query with dialect adql and IN_UNIT"
)


def resolve_units(reading: QueryReading, tree: exp.Expr, original: exp.Expr) -> exp.Expr:
    """Return an expression over numbered columns where each IN_UNIT also names the unit of its value.

    Raises
    ------
    QueryError
        If a unit is not known, or does not convert to the wanted one.
    """
    calls = [call for call in tree.find_all(exp.Anonymous) if get_function_name(call) == IN_UNIT]
    if not calls:
        return tree
    holder = exp.Paren(this=tree.copy())
    for call in [call for call in holder.find_all(exp.Anonymous) if get_function_name(call) == IN_UNIT][::-1]:
        value, wanted = call.expressions
        unit = find_unit(reading, value)
        shown = reading.describe(value)
        if read_unit(wanted.name) is None:
            reading.refuse(original, f"{wanted.name!r} is not a unit", suggest_units(wanted.name))
        if not unit:
            reading.refuse(original, f"the unit of {shown} is not known", "leave IN_UNIT out, or multiply by a number")
        if find_factor(read_unit(unit), read_unit(wanted.name)) is None:
            reading.refuse(original, f"{shown} is in {unit}, which does not convert to {wanted.name}")
        call.replace(make_in_unit(value.copy(), wanted.name, unit))
    resolved: exp.Expr = holder.this
    resolved.pop()
    return resolved


def check_units(reading: QueryReading, tree: exp.Expr, original: exp.Expr) -> None:
    """Refuse an expression whose value depends on the units of its columns: SQL takes the numbers as they are.

    Criteria convert values in different units, and refuse units that do not fit. So an expression is refused if
    criteria read it in another way with the units than without. What criteria accept without the units only is refused
    in ADQL; in other dialects it is never understood, and therefore always computed with the numbers as they are.

    Raises
    ------
    QueryError
        If units make a difference.
    """
    is_adql = reading.dialect == ADQL
    units = {reading.get_unit(column.name) for column in tree.find_all(exp.Column)} - {""}
    for part in list_row_parts(tree) if units else ():
        columns = {column.name: reading.get_unit(column.name) for column in part.find_all(exp.Column)}
        if not any(columns.values()) or any(
            get_function_name(call) == IN_UNIT for call in part.find_all(exp.Anonymous)
        ):
            continue
        text = write_for_criteria(part).sql("spark")
        try:
            plain = parse_expression(text, _make_schema(dict.fromkeys(columns, ""))).canonical
        except CriterionError:
            continue
        try:
            canonical = parse_expression(text, _make_schema(columns)).canonical
        except CriterionError as error:
            if not is_adql:
                continue
            reading.refuse(original, reading.name_columns(error.problem), _suggest(columns.values()))
        if canonical != plain:
            known = ", ".join(f"{reading.name_columns(symbol)} in {unit}" for symbol, unit in columns.items() if unit)
            hint = _HINT if is_adql else _HINT_ELSEWHERE
            reading.refuse(original, f"this mixes different units: {known}", hint)


def _suggest(units: Iterable[str]) -> str:
    """Return what to do about columns in units that do not fit."""
    has_hours = any(unit and find_factor(read_unit(unit), read_unit("h")) is not None for unit in units)
    return "multiply hours of right ascension by 15: POINT(15 * ra, dec)" if has_hours else _HINT


def _make_schema(units: Mapping[str, str]) -> dict[str, Attribute]:
    """Return columns of numbers with their units; the types of columns are not known here."""
    return {symbol: Attribute(AttributeIdentity(symbol), DOUBLE, unit=unit) for symbol, unit in units.items()}


def find_unit(reading: QueryReading, value: exp.Expr) -> str:
    """Return the unit of an expression over numbered columns; empty if it is not known."""
    columns = {column.name: reading.get_unit(column.name) for column in value.find_all(exp.Column)}
    try:
        return unit_of(parse_expression(write_for_criteria(value).sql("spark"), _make_schema(columns)).node)
    except CriterionError:
        return ""
