"""Refuse values where a query needs a condition: WHERE hip, hip AND vmag > 1, CASE WHEN hip THEN ….

In ADQL, conditions where it needs a number are refused, too: SUM(vmag > 1), (vmag > 1) > 2.

Spark would refuse them as well, but only when the query is computed, and in words of its own. A part is refused only if
its type is certainly not Boolean; a part whose type is not known here is left to Spark.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from provenn.criteria import Attribute, AttributeIdentity, Type, parse_expression
from provenn.criteria.types import BIGINT, BOOLEAN, DOUBLE, STRING, VOID
from provenn.errors import CriterionError
from provenn.queries.adql_dialect import ADQL
from provenn.queries.function_names import get_function_name, is_aggregate
from provenn.queries.reading_context import QueryReading, has_subquery, is_subquery_call
from provenn.queries.sky_expressions import write_for_criteria
from provenn.queries.tree import SCALAR

__all__ = ["check_conditions", "find_value_type"]

_HINT = "compare it with something, such as = 1 or IS NOT NULL"
_CONDITIONS = (exp.Predicate, exp.Connector, exp.Not, exp.Boolean)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Neg)
_NUMBERS = ("avg", "mean", "sum", "try_avg", "try_sum", "stddev", "variance", "median")
_EXTREMES = ("min", "max", "any_value", "first", "last")


def check_conditions(reading: QueryReading, tree: exp.Expr, original: exp.Expr, *, is_condition: bool) -> None:
    """Refuse an expression over numbered columns with a value in the place of a condition.

    Parameters
    ----------
    reading
        The reading, which knows the types of columns.
    tree, original
        The expression, and the expression as it was written, for its position.
    is_condition
        Whether the expression itself must be a condition: that of WHERE, HAVING, QUALIFY or ON.

    Raises
    ------
    QueryError
        If the type of a part is known, and not Boolean.
    """
    if reading.dialect == ADQL:
        _check_numbers(reading, tree, original)
    places: list[tuple[exp.Expr, bool]] = [(tree, True)] if is_condition else []
    places += [(part, False) for node in tree.walk() for part in _list_operands(node)]
    for place, is_whole in places:
        part = place.unnest()
        if isinstance(part, exp.Connector | exp.Not):
            continue  # their operands are places of their own
        kind = find_value_type(reading, part)
        # Spark reads a text beside AND, OR and NOT as a truth value; ADQL does not.
        if kind in (None, BOOLEAN, VOID) or (kind == STRING and not is_whole and reading.dialect != ADQL):
            continue
        spot = part if any("start" in node.meta for node in part.walk()) else original
        shown = reading.describe(part)
        shown = f"{shown[:60]}…" if len(shown) > 60 else shown
        named = "" if has_subquery(part) else f" {shown}"
        reading.refuse(spot, f"a condition is expected here, and{named or ' this'} is a value of type {kind}", _HINT)


def _check_numbers(reading: QueryReading, tree: exp.Expr, original: exp.Expr) -> None:
    """Refuse conditions, and columns of truth values, in arithmetic, sums and comparisons with numbers."""
    for node in tree.walk():
        operands = [node.this, node.args.get("expression")]
        if isinstance(node, exp.LT | exp.LTE | exp.GT | exp.GTE):
            if all(_is_truth(reading, operand) for operand in operands):
                continue
        elif not isinstance(node, _ARITHMETIC) and not (is_aggregate(node) and get_function_name(node) in _NUMBERS):
            continue
        wrong = next((operand for operand in operands if _is_truth(reading, operand)), None)
        if wrong is not None:
            spot = wrong if any("start" in part.meta for part in wrong.walk()) else original
            problem = f"a number is expected here, and {reading.describe(wrong.unnest())[:60]} is TRUE or FALSE"
            reading.refuse(spot, problem, "write CASE WHEN … THEN 1 ELSE 0 END")


def _is_truth(reading: QueryReading, tree: object) -> bool:
    """Tell whether an expression certainly is a condition."""
    inner = tree.unnest() if isinstance(tree, exp.Expr) else None
    if isinstance(inner, exp.Column):
        return reading.get_type(inner.name) == BOOLEAN
    return isinstance(inner, _CONDITIONS)


def _list_operands(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the parts of a node that are conditions by their place."""
    match node:
        case exp.Connector():
            yield from (node.this, node.expression)
        case exp.Not():
            yield node.this
        case exp.Case() if node.args.get("this") is None:
            yield from (branch.this for branch in node.args["ifs"])
        case exp.If() if not isinstance(node.parent, exp.Case):
            yield node.this
        case exp.Filter() if isinstance(node.expression, exp.Where):
            yield node.expression.this


def find_value_type(reading: QueryReading, tree: exp.Expr) -> Type | None:
    """Return the type of an expression over numbered columns; None if it is not known for certain."""
    inner = tree.unnest()
    if isinstance(inner, exp.Column):
        return reading.get_type(inner.name)
    if isinstance(inner, _CONDITIONS):
        return BOOLEAN
    if is_subquery_call(inner):
        (first, *_) = reading.get_subquery(inner).columns
        return reading.get_type(first.symbol) if inner.this == SCALAR else BOOLEAN
    if has_subquery(inner):
        return None
    if is_aggregate(inner):
        return _find_aggregate_type(reading, inner)
    schema: dict[str, Attribute] = {}
    for column in inner.find_all(exp.Column):
        kind = reading.get_type(column.name)
        if kind is None:
            return None
        schema[column.name] = Attribute(AttributeIdentity(column.name), kind)
    try:
        return parse_expression(write_for_criteria(inner).sql("spark"), schema).type
    except CriterionError:
        return None


def _find_aggregate_type(reading: QueryReading, call: exp.Expr) -> Type | None:
    """Return the type of a call of an aggregate function, DOUBLE for any number; None if it is not known."""
    while isinstance(call, exp.Filter | exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls):
        call = call.this
    name = get_function_name(call)
    if name == "count":
        return BIGINT
    if name in _NUMBERS:
        return DOUBLE
    if name in _EXTREMES and isinstance(call.this, exp.Expr):
        return find_value_type(reading, call.this)
    return None
