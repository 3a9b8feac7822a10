"""Refuse ADQL that mixes texts, numbers, truth values and moments: x = 'a' of a number, ABS(name), SUM(name).

Spark would convert the values, so that a wrong query has no rows, or NULLs, instead of an error. A part is refused only
if its types are certainly known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NoReturn

from sqlglot import exp

from provenn.criteria import Type
from provenn.criteria.types import BOOLEAN, DATE, INTEGRAL, STRING, TIMESTAMP, TIMESTAMP_NTZ
from provenn.queries.adql_arguments import ValueKind, find_mark, remove_marks
from provenn.queries.function_names import get_function_name
from provenn.queries.reading_conditions import find_value_type
from provenn.queries.reading_context import QueryReading, is_subquery_call
from provenn.queries.tree import IN, Column

__all__ = ["check_columns", "check_types"]

_WORDS: Final[dict[ValueKind, str]] = {
    "number": "a number",
    "text": "a text",
    "truth": "TRUE or FALSE",
    "moment": "a moment",
    "array": "an array",
    "bytes": "binary data",
}
_COMPARISONS: Final = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_SIGNS: Final[dict[type[exp.Expr], str]] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Neg: "-",
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseXor: "^",
    exp.BitwiseNot: "~",
    exp.Avg: "AVG",
    exp.Sum: "SUM",
    exp.Like: "LIKE",
    exp.ILike: "ILIKE",
}
_BITS: Final = (exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseNot)
_TRUTHS: Final = frozenset(["t", "true", "y", "yes", "1", "f", "false", "n", "no", "0"])
"""The texts that Spark reads as truth values."""
_MOMENT: Final = re.compile(r"\s*[+-]?\d{4,7}(-\d{1,2}){0,2}([ T].*|\s*)")
"""A text that may be a moment; Spark reads the rest of it."""
_SHOWN: Final = 60


def check_types(reading: QueryReading, tree: exp.Expr, original: exp.Expr) -> None:
    """Refuse an expression over numbered columns that mixes types; `original` is the expression as it was written.

    Raises
    ------
    QueryError
        If the types of parts are known, and do not fit.
    """
    checker = _TypeChecker(reading, original)
    nodes = list(tree.walk())
    for argument, mark in [(node, find_mark(node)) for node in nodes]:  # first: a call may have become a comparison
        if mark is not None:
            checker.check_argument(argument.this, *mark)
    for node in nodes:
        checker.check_node(node)


def check_columns(reading: QueryReading, pairs: Sequence[tuple[Column, Column]], spot: exp.Expr, what: str) -> None:
    """Refuse a set operation, or a join by names, that puts values of different kinds together."""
    for left, right in pairs:
        kinds = [_find_kind_of_type(reading.get_type(column.symbol)) for column in (left, right)]
        if None not in kinds and kinds[0] != kinds[1]:
            words = [
                f"{column.name} is {_WORDS[kind]} on the {side}"
                for column, kind, side in zip((left, right), kinds, ("left", "right"), strict=True)
                if kind is not None
            ]
            reading.refuse(spot, f"{what} does not mix types: {', and '.join(words)}", "convert one with CAST")


class _TypeChecker:
    """Checks the nodes of a single expression."""

    def __init__(self, reading: QueryReading, original: exp.Expr) -> None:
        self.reading = reading
        self.original = original

    def check_node(self, node: exp.Expr) -> None:
        """Refuse a node whose parts do not fit each other."""
        match node:
            case exp.Between():
                for bound in (node.args["low"], node.args["high"]):
                    self.compare(node.this, bound)
            case exp.In():
                for value in node.expressions:
                    self.compare(node.this, value, is_listed=True)
            case exp.Case():
                self.check_case(node)
            case exp.Coalesce():
                self.check_alike([node.this, *node.expressions], "COALESCE")
            case exp.Like() | exp.ILike():
                self.check_argument(node.this, _SIGNS[type(node)], "text")
            case exp.Anonymous() if is_subquery_call(node) and node.this == IN:
                self.check_members(node)
        if isinstance(node, _COMPARISONS):
            self.compare(node.this, node.expression)
        elif type(node) in _SIGNS and not isinstance(node, exp.Like | exp.ILike):
            for operand in _list_operands(node):
                self.check_argument(operand, _SIGNS[type(node)], "number", is_whole=isinstance(node, _BITS))

    def compare(self, left: exp.Expr, right: exp.Expr, *, is_listed: bool = False) -> None:
        """Refuse a comparison of values of different kinds."""
        first, second = self.find_kind(left), self.find_kind(right)
        if first is None or second is None:
            return
        for value, own, other in ((left, first, second), (right, second, first)):
            constant = value.unnest()
            if own == "text" and other == "moment" and isinstance(constant, exp.Literal):
                if not _MOMENT.fullmatch(constant.name):
                    hint = "write it as TIMESTAMP('2026-01-31T12:00:00')"
                    self.refuse(value, f"{constant.name!r} is not a moment", hint)
                return
            if own == "text" and other == "truth" and constant.is_string and constant.name.lower() in _TRUTHS:
                return
            if own == "number" and other == "truth" and not is_listed and constant.sql() in ("0", "1"):
                return
        if first != second:
            spot = left if self.has_place(left) else right
            self.refuse(
                spot,
                f"{self.describe(left, first)}, and {self.describe(right, second)}: they cannot be compared",
                self.suggest(left, first, right, second),
            )

    def suggest(self, left: exp.Expr, first: ValueKind, right: exp.Expr, second: ValueKind) -> str:
        """Return what to do about a comparison of values of different kinds."""
        if "truth" in (first, second):
            return "compare it with TRUE or FALSE"
        if "moment" in (first, second):
            return "write a moment as TIMESTAMP('2026-01-31T12:00:00')"
        for value, own in ((left, first), (right, second)):
            constant = value.unnest()
            if isinstance(constant, exp.Literal) and own == "text" and re.fullmatch(r"-?[\d.]+", constant.name):
                return f"write the number without quotes: {constant.name}"
            if isinstance(constant, exp.Literal) and own == "number":
                return f"write the text in quotes: '{constant.name}'"
        return "compare values of one type, or convert one with CAST"

    def check_case(self, node: exp.Case) -> None:
        """Refuse CASE with results of several kinds, or whose value is compared with others."""
        branches = node.args["ifs"]
        if node.this is not None:
            for branch in branches:
                self.compare(node.this, branch.this)
        results = [branch.args["true"] for branch in branches]
        default = node.args.get("default")
        self.check_alike([*results, *([] if default is None else [default])], "CASE")

    def check_alike(self, values: Sequence[exp.Expr], what: str) -> None:
        """Refuse values of several kinds for one result."""
        known = [(value, kind) for value in values if (kind := self.find_kind(value)) is not None]
        for value, kind in known[1:]:
            first, kind_of_first = known[0]
            if kind != kind_of_first:
                problem = f"{what} has results of one type: {self.describe(first, kind_of_first)}"
                self.refuse(value, f"{problem}, and {self.describe(value, kind)}", "convert one with CAST")

    def check_argument(self, value: exp.Expr, function: str, wanted: ValueKind, *, is_whole: bool = False) -> None:
        """Refuse an argument of another kind than a function or operator takes."""
        kind = self.find_kind(value)
        if kind is None:
            return
        if kind != wanted:
            target = "VARCHAR" if wanted == "text" else "DOUBLE PRECISION"
            hint = f"convert it: CAST(… AS {target})" if {kind, wanted} <= {"number", "text"} else ""
            self.refuse(value, f"{function} takes {_WORDS[wanted]}, and {self.describe(value, kind)}", hint)
        if is_whole:
            known = find_value_type(self.reading, value)
            if known is not None and known not in INTEGRAL:
                problem = f"{function} takes whole numbers, and {self.describe(value, kind)}"
                self.refuse(value, problem, "convert it: CAST(… AS BIGINT)")

    def check_members(self, call: exp.Anonymous) -> None:
        """Refuse IN of a subquery with values of another kind."""
        columns = self.reading.get_subquery(call).columns
        for value, column in zip(call.expressions[1:], columns, strict=True):
            kind = self.find_kind(value)
            other = _find_kind_of_type(self.reading.get_type(column.symbol))
            if None not in (kind, other) and kind != other and kind is not None and other is not None:
                problem = f"{self.describe(value, kind)}, and {column.name} of the subquery is {_WORDS[other]}"
                self.refuse(value, f"{problem}: they cannot be compared", "convert one with CAST")

    def find_kind(self, tree: exp.Expr) -> ValueKind | None:
        """Return the kind of a value; None if it is not known for certain."""
        inner = tree.unnest()
        if isinstance(inner, exp.Literal):
            return "text" if inner.is_string else "number"
        if type(inner) in _SIGNS:
            return "truth" if isinstance(inner, exp.Like | exp.ILike) else "number"
        if get_function_name(inner) == "concat":
            return "text"
        return _find_kind_of_type(find_value_type(self.reading, inner))

    def describe(self, value: exp.Expr, kind: ValueKind) -> str:
        """Return a value and its type in words."""
        inner = remove_marks(value.unnest().copy())
        shown = self.reading.describe(inner)
        shown = f"{shown[:_SHOWN]}…" if len(shown) > _SHOWN else shown
        known = None if isinstance(inner, exp.Literal) else find_value_type(self.reading, inner)
        return f"{shown} is {_WORDS[kind]}{f' ({known})' if known is not None and kind != 'truth' else ''}"

    def has_place(self, tree: exp.Expr) -> bool:
        """Tell whether the place of a part in the text is known."""
        return any("start" in node.meta for node in tree.walk())

    def refuse(self, spot: exp.Expr, problem: str, hint: str) -> NoReturn:
        """Raise an error that points to a part, or to the whole expression."""
        self.reading.refuse(spot if self.has_place(spot) else self.original, problem, hint)


def _find_kind_of_type(kind: Type | None) -> ValueKind | None:
    """Return the kind of values of a type; None for NULL, structs and unknown types."""
    if kind is None:
        return None
    if kind.numeric:
        return "number"
    if kind.name.startswith("array<"):
        return "array"
    kinds: dict[Type, ValueKind] = {STRING: "text", BOOLEAN: "truth", Type("binary"): "bytes"}
    kinds |= dict.fromkeys((DATE, TIMESTAMP, TIMESTAMP_NTZ), "moment")
    return kinds.get(kind)


def _list_operands(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the operands of an operator, or the arguments of an aggregate function."""
    for operand in (node.this, node.args.get("expression")):
        if isinstance(operand, exp.Distinct):
            yield from operand.expressions
        elif isinstance(operand, exp.Expr):
            yield operand
