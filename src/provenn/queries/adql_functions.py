"""The functions and types of ADQL, each as an expression of Spark with the same meaning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from provenn.queries.adql_arguments import ValueKind
from provenn.queries.adql_features import STRING_GROUP, list_function_names
from provenn.queries.adql_refusal import AdqlRefusalError
from provenn.queries.reading_text import parse_spark_expression

__all__ = ["FUNCTIONS", "REFUSED", "AdqlFunction", "build_cast"]

_Builder = Callable[..., exp.Expr]


@dataclass(frozen=True, slots=True)
class AdqlFunction:
    """A function of ADQL.

    Parameters
    ----------
    least, most
        The numbers of arguments.
    build
        Returns its meaning from its arguments.
    takes
        What its arguments are; None if they may be of several kinds.
    """

    least: int
    most: int
    build: _Builder
    takes: ValueKind | None = "number"


def _call(name: str) -> _Builder:
    return lambda *arguments: exp.Anonymous(this=name, expressions=list(arguments))


def _fill_in(template: str, **values: exp.Expr) -> exp.Expr:
    """Return an expression of Spark with values in place of names."""

    def put(node: exp.Expr) -> exp.Expr:
        return exp.paren(values[node.name], copy=True) if isinstance(node, exp.Column) else node

    return exp.paren(parse_spark_expression(template).transform(put), copy=False)


_WHOLE = "CASE WHEN abs(x) < 9E15 THEN CAST({}(x) AS DOUBLE) ELSE CAST(x AS DOUBLE) END"
"""A rounded double; beyond 2**53 every double is whole, and Spark's result, a bigint, would be too small."""


def _round_down(x: exp.Expr) -> exp.Expr:
    return _fill_in(_WHOLE.format("floor"), x=x)


def _round_up(x: exp.Expr) -> exp.Expr:
    return _fill_in(_WHOLE.format("ceil"), x=x)


def _find_remainder(x: exp.Expr, y: exp.Expr) -> exp.Expr:
    return _fill_in("x % y", x=x, y=y)


def _read_places(tree: exp.Expr | None, name: str) -> int:
    """Return a constant number of digits."""
    inner = None if tree is None else tree.unnest()
    if inner is None:
        return 0
    is_negative = isinstance(inner, exp.Neg)
    literal = inner.this if is_negative else inner
    if not isinstance(literal, exp.Literal) or not literal.is_int or int(literal.name) > 300:
        raise AdqlRefusalError(f"{name} takes a constant whole number of digits", "write the number")
    return -int(literal.name) if is_negative else int(literal.name)


def _round(x: exp.Expr, places: exp.Expr | None = None) -> exp.Expr:
    return _fill_in(f"round(CAST(x AS DOUBLE), {_read_places(places, 'ROUND')})", x=x)


def _truncate(x: exp.Expr, places: exp.Expr | None = None) -> exp.Expr:
    """Return a number without the digits after some places.

    It is the rounded number, if that is not farther from 0; otherwise the rounded number one step towards 0. Both have
    the digits that are shown, as a decimal number would.
    """
    digits = _read_places(places, "TRUNCATE")
    rounded = f"round(CAST(x AS DOUBLE), {digits})"
    nearer = f"round({rounded} - signum(x) * 1E{-digits}, {digits})"
    return _fill_in(f"CASE WHEN abs({rounded}) > abs(x) THEN {nearer} ELSE {rounded} END", x=x)


def _read_moment(x: exp.Expr) -> exp.Expr:
    return exp.cast(x, "TIMESTAMP", dialect="spark")


_PLAIN = (
    *("abs", "acos", "asin", "atan", "cos", "cot", "degrees", "exp"),
    *("log10", "radians", "sin", "sqrt", "tan"),
)
_OF_TEXTS = sorted(list_function_names(STRING_GROUP) - {"ilike"})  # ILIKE is an operator
FUNCTIONS: dict[str, AdqlFunction] = {
    **{name: AdqlFunction(1, 1, _call(name)) for name in _PLAIN},
    **{name: AdqlFunction(1, 1, _call(name), "text") for name in _OF_TEXTS},
    "atan2": AdqlFunction(2, 2, _call("atan2")),
    "ceiling": AdqlFunction(1, 1, _round_up),
    "floor": AdqlFunction(1, 1, _round_down),
    "log": AdqlFunction(1, 1, _call("ln")),
    "mod": AdqlFunction(2, 2, _find_remainder),
    "pi": AdqlFunction(0, 0, _call("pi")),
    "power": AdqlFunction(2, 2, _call("pow")),
    "round": AdqlFunction(1, 2, _round),
    "sign": AdqlFunction(1, 1, _call("signum")),
    "timestamp": AdqlFunction(1, 1, _read_moment, None),
    "truncate": AdqlFunction(1, 2, _truncate),
}
"""The functions of numbers, texts and moments, by name in lower case."""

REFUSED: dict[str, tuple[str, str]] = {
    "rand": ("RAND has other values each time", "use a column of the table; a catalog can be sampled outside of ADQL"),
    "region": ("REGION is not supported", "use POINT, CIRCLE, BOX, POLYGON or MOC"),
    "coordsys": ("COORDSYS is not supported: all positions are taken as they are", "leave it out"),
}
"""Functions of ADQL without a meaning here: the problem and a hint."""

_TYPES = {
    exp.DType.SMALLINT: "SMALLINT",
    exp.DType.INT: "INT",
    exp.DType.BIGINT: "BIGINT",
    exp.DType.FLOAT: "FLOAT",
    exp.DType.DOUBLE: "DOUBLE",
    exp.DType.TIMESTAMP: "TIMESTAMP",
    exp.DType.CHAR: "STRING",
    exp.DType.VARCHAR: "STRING",
}
_TEXTS = (exp.DType.CHAR, exp.DType.VARCHAR)


def build_cast(tree: exp.Cast) -> exp.Expr:
    """Return CAST with a type of Spark; a text longer than the type is cut."""
    kind = tree.to
    name = _TYPES.get(kind.this) if isinstance(kind, exp.DataType) else None
    if name is None:
        known = "SMALLINT, INTEGER, BIGINT, REAL, DOUBLE PRECISION, CHAR(n), VARCHAR(n) and TIMESTAMP"
        raise AdqlRefusalError(f"CAST does not take the type {kind.sql().upper()}", f"the types are {known}")
    cast = exp.cast(tree.this.copy(), name, dialect="spark")
    lengths = [part.name for part in kind.expressions] if kind.this in _TEXTS else []
    if not lengths or lengths == ["*"]:
        return cast
    if len(lengths) > 1 or not lengths[0].isdigit():
        raise AdqlRefusalError(f"{', '.join(lengths)} is not a length of a text", "write VARCHAR(20)")
    return exp.Anonymous(this="left", expressions=[cast, exp.Literal.number(int(lengths[0]))])
