"""Refuse functions and forms without a fixed meaning, or reaching outside of the tables of a query."""

from __future__ import annotations

import re

from sqlglot import exp

from provenn.criteria.functions import explain_refusal
from provenn.criteria.pixels import PIXEL_NUMBER
from provenn.errors import did_you_mean
from provenn.queries.adql_dialect import ADQL
from provenn.queries.function_names import AGGREGATES, GENERATORS, SCALARS, WINDOWS, get_function_name
from provenn.queries.reading_context import QueryReading, is_subquery_call
from provenn.queries.sky_expressions import IN_UNIT, REGIONS

__all__ = ["check_dialect", "check_functions"]

_KNOWN = AGGREGATES | GENERATORS | SCALARS | WINDOWS | {"grouping", "grouping_id", PIXEL_NUMBER} | REGIONS
_CLOCK = re.compile(r"\s*(now|today|tomorrow|yesterday)\b", re.IGNORECASE)
_FORMS: dict[type[exp.Expr], tuple[str, str]] = {
    exp.Parameter: ("parameters are not supported", "write the value instead"),
    exp.SessionParameter: ("parameters are not supported", "write the value instead"),
    exp.Placeholder: ("parameters are not supported", "write the value instead"),
    exp.NextValueFor: ("a sequence has other values each time", "use columns of the tables"),
    exp.Collate: ("collations are fixed: strings compare by their bytes", "compare lower(…) instead"),
    exp.Pseudocolumn: ("this depends on how the data are stored", "use columns of the tables"),
}


def check_functions(reading: QueryReading, tree: exp.Expr, original: exp.Expr) -> None:
    """Refuse an expression of Spark calling a function without a fixed meaning.

    Parameters
    ----------
    reading
        The reading.
    tree
        The expression.
    original
        The expression as it was written, for its position.
    """
    for part in tree.walk():
        form = _FORMS.get(type(part))
        if form is not None:
            reading.refuse(_choose_place(part, original), *form)
        if isinstance(part, exp.Cast) and part.this.is_string and _CLOCK.match(part.this.name):
            hint = "write the moment as a constant: DATE '2026-01-31'"
            reading.refuse(_choose_place(part, original), f"{part.this.name!r} depends on the clock", hint)
        name = get_function_name(part)
        if not name or name in _KNOWN or is_subquery_call(part) or (name == IN_UNIT and reading.dialect == ADQL):
            continue
        reason = explain_refusal(name)
        if reason is not None:
            reading.refuse(_choose_place(part, original), *reason)
        if isinstance(part, exp.Anonymous | exp.AnonymousAggFunc):
            hint = did_you_mean(name, _KNOWN) or "use functions of Spark, or register a calculator for it"
            reading.refuse(_choose_place(part, original), f"{name}() is not a known function", hint)


def _choose_place(part: exp.Expr, original: exp.Expr) -> exp.Expr:
    return part if any("start" in node.meta for node in part.walk()) else original


_LIKE_WITHOUT_ESCAPE = ("duckdb", "snowflake", "tsql")
_NULL_IF_ANY_NULL = ("snowflake", "bigquery")


def check_dialect(reading: QueryReading, tree: exp.Expr) -> None:
    """Refuse an expression of another dialect with a different meaning in Spark."""
    for part in tree.walk(prune=lambda node: isinstance(node, exp.Query)):
        if isinstance(part, exp.Anonymous | exp.AnonymousAggFunc):
            problem = f"{get_function_name(part)}() of {reading.dialect} is not known to mean the same in Spark"
            reading.refuse(part, problem, "write the query in Spark's dialect")
        if isinstance(part, exp.Div) and part.args.get("typed") and not (_is_fraction(part.left, part.right)):
            problem = f"in {reading.dialect}, / drops the fraction of integers, and the types are not known here"
            reading.refuse(part, problem, "cast an operand to double or decimal, or use integer division")
        if isinstance(part, exp.Like | exp.ILike) and not isinstance(part.parent, exp.Escape):
            pattern = part.expression
            is_plain = pattern.is_string and "\\" not in pattern.name
            is_plain = is_plain and not (reading.dialect == "tsql" and "[" in pattern.name)
            if reading.dialect in _LIKE_WITHOUT_ESCAPE and not is_plain:
                problem = f"in {reading.dialect}, LIKE treats \\ and [ otherwise than Spark"
                reading.refuse(part, problem, "use a pattern of plain characters, % and _")
        if isinstance(part, exp.Bracket) and not all(_is_count(index) for index in part.expressions):
            problem = f"in {reading.dialect}, this index counts otherwise than in Spark"
            reading.refuse(part, problem, "use a constant above 0, or element_at() in Spark's dialect")
        if isinstance(part, exp.Greatest | exp.Least) and reading.dialect in _NULL_IF_ANY_NULL:
            problem = f"in {reading.dialect}, {part.key}() is NULL if any argument is NULL, unlike in Spark"
            reading.refuse(part, problem, "use CASE")
        if isinstance(part, exp.Add) and reading.dialect == "tsql" and not _is_number(part.left, part.right):
            problem = "in tsql, + joins texts, and the types are not known here"
            reading.refuse(part, problem, "use concat(), or cast an operand to a number")


def _is_count(index: exp.Expr) -> bool:
    """Tell whether an index, counted from 0 by sqlglot, is a non-negative constant."""
    return isinstance(index, exp.Literal) and index.is_int and not index.name.startswith("-")


def _is_fraction(*operands: exp.Expr) -> bool:
    """Tell whether some operand is certainly not an integer."""
    for operand in operands:
        inner = operand.unnest()
        if isinstance(inner, exp.Literal) and not inner.is_string and "." in inner.name:
            return True
        if isinstance(inner, exp.Cast) and inner.to.this in (*exp.DataType.REAL_TYPES,):
            return True
        if isinstance(inner, exp.Mul | exp.Add | exp.Sub | exp.Div) and _is_fraction(inner.left, inner.right):
            return True
    return False


def _is_number(*operands: exp.Expr) -> bool:
    """Tell whether some operand is certainly a number."""
    for operand in operands:
        inner = operand.unnest()
        if isinstance(inner, exp.Literal) and not inner.is_string:
            return True
        if isinstance(inner, exp.Sub | exp.Mul | exp.Div | exp.Mod | exp.Neg | exp.Count):
            return True
        if isinstance(inner, exp.Add) and _is_number(inner.left, inner.right):
            return True
        if isinstance(inner, exp.Cast) and inner.to.this in exp.DataType.NUMERIC_TYPES:
            return True
    return False
