"""Expressions of ADQL in functions of Spark: numbers, functions, types, patterns and geometry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite

from sqlglot import exp

from provenn.errors import did_you_mean
from provenn.queries.adql_arguments import mark_argument
from provenn.queries.adql_functions import FUNCTIONS, REFUSED, build_cast
from provenn.queries.adql_geometry import (
    GEOMETRIES,
    GEOMETRY_FUNCTIONS,
    build_comparison,
    build_geometry_call,
    finish_call,
)
from provenn.queries.adql_refusal import AdqlRefusalError
from provenn.queries.function_names import get_function_name
from provenn.queries.reading_context import QueryReading
from provenn.queries.sky_expressions import IN_UNIT

__all__ = ["rewrite_expression"]

_MOST_DIGITS = 38
_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_KNOWN = (*FUNCTIONS, *GEOMETRY_FUNCTIONS, IN_UNIT, "avg", "coalesce", "count", "max", "min", "sum")


def rewrite_expression(reading: QueryReading, tree: exp.Expr) -> exp.Expr:
    """Return an expression of ADQL with the functions of Spark; its names and subqueries stay as they are.

    Raises
    ------
    QueryError
        If a function is not known, or its arguments have no meaning.
    """
    holder = exp.Paren(this=tree.copy())
    nodes = list(holder.this.walk(prune=lambda node: isinstance(node, exp.Query)))
    for node in reversed(nodes):  # the innermost first
        _replace(reading, node, _rewrite_node)
    for call in [call for call in holder.find_all(exp.Anonymous) if not call.find_ancestor(exp.Query)][::-1]:
        _replace(reading, call, finish_call)
    rewritten: exp.Expr = holder.this
    rewritten.pop()
    return rewritten


def _replace(reading: QueryReading, node: exp.Expr, change: Callable[[exp.Expr], exp.Expr]) -> None:
    """Put the meaning of a node in its place; a refusal becomes an error that points to the node."""
    try:
        changed = change(node)
    except AdqlRefusalError as refusal:
        reading.refuse(node, refusal.problem, refusal.hint)
    if changed is not node:
        node.replace(changed)


def _rewrite_node(node: exp.Expr) -> exp.Expr:
    """Return the meaning of a node whose parts are rewritten."""
    match node:
        case exp.Literal() if not node.is_string and not _is_possible(node.name):
            raise AdqlRefusalError(f"{node.name[:60]} is too large", "the largest number is about 1.79e308")
        case exp.Literal() if not node.is_string and "." in node.name and "e" not in node.name.lower():
            return exp.Literal.number(f"{node.name}E0")  # a number with a fraction is a double, not a decimal
        case exp.HexString():
            return exp.Literal.number(int(str(node.this), 16))
        case exp.Cast():
            return build_cast(node)
        case exp.Like() | exp.ILike():
            return _rewrite_pattern(node)
        case exp.DPipe():
            parts = [mark_argument(part, "||", "text") for part in (node.this, node.expression)]
            return exp.Anonymous(this="concat", expressions=parts)
        case exp.Anonymous():
            return _rewrite_call(node)
    if isinstance(node, _COMPARISONS):
        return build_comparison(node)
    return node


def _is_possible(number: str) -> bool:
    """Tell whether a literal is the number of some type: a whole number of at most 38 digits, or a double."""
    return len(number.lstrip("0")) <= _MOST_DIGITS if number.isdecimal() else isfinite(float(number))


def _rewrite_pattern(node: exp.Expr) -> exp.Expr:
    """Return LIKE with a pattern in which a backslash is no escape, as in ADQL."""
    pattern = node.expression.unnest()
    if not isinstance(pattern, exp.Literal) or not pattern.is_string:
        raise AdqlRefusalError("the pattern of LIKE is not a text", "write the pattern in single quotes")
    if isinstance(node.parent, exp.Escape):
        return node
    node.set("expression", exp.Literal.string(pattern.name.replace("\\", "\\\\")))
    return node


def _rewrite_call(node: exp.Anonymous) -> exp.Expr:
    """Return the meaning of a call."""
    name = get_function_name(node)
    if name in REFUSED:
        raise AdqlRefusalError(*REFUSED[name])
    arguments: Sequence[exp.Expr] = node.expressions
    if name in GEOMETRY_FUNCTIONS:
        return build_geometry_call(name, node)
    if name == IN_UNIT:
        if len(arguments) != 2 or not arguments[1].is_string:
            raise AdqlRefusalError("IN_UNIT takes a value and the text of a unit", "for example IN_UNIT(plx, 'arcsec')")
        return node
    if name not in FUNCTIONS:
        hint = did_you_mean(name, _KNOWN) or "the functions are " + ", ".join(sorted(_KNOWN))
        raise AdqlRefusalError(f"{name.upper()} is not a function of ADQL that is known here", hint)
    function = FUNCTIONS[name]
    geometry = next((argument for argument in arguments if get_function_name(argument) in GEOMETRIES), None)
    if geometry is not None:
        raise AdqlRefusalError(f"{name.upper()} does not take a geometry")
    if not function.least <= len(arguments) <= function.most:
        wanted = f"{function.least}" if function.least == function.most else f"{function.least} or {function.most}"
        noun = "argument" if wanted == "1" else "arguments"
        raise AdqlRefusalError(f"{name.upper()} takes {wanted} {noun}, not {len(arguments)}")
    if function.takes is None:
        return function.build(*(argument.copy() for argument in arguments))
    return function.build(*(mark_argument(argument, name, function.takes) for argument in arguments))
