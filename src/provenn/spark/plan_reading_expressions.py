"""Spark's expressions as SQL: exactly what Spark computes, or an error that names the class.

An expression is written from its JSON, class by class, and not by Spark's own ``sql()``: that knows no column numbers,
has no readable form for lambda functions and subqueries, and calls functions of the user like functions of Spark. A
class that is not known here is refused. Casts are written where Spark inserted them, except around whole numbers that
Spark casts again wherever the SQL is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from sqlglot import exp

from provenn.errors import QueryError
from provenn.queries.tree import EXISTS, IN, SCALAR, Node
from provenn.spark.plan_reading_functions import FUNCTIONS, OPERATORS
from provenn.spark.plan_reading_groups import write_aggregate, write_window
from provenn.spark.plan_reading_json import JsonNode, read_type
from provenn.spark.plan_reading_literals import INTEGRAL, write_literal
from provenn.spark.plan_reading_refusals import (
    check_fields,
    check_zone,
    is_same_without_ansi,
    make_legacy_refusal,
    make_refusal,
)
from provenn.spark.plan_reading_sql import AND, ATOM, BITS, LEVELS, NOT, OR, SIGN, TEST, Sql, parse_sql, wrap

__all__ = ["ExpressionWriter"]

Columns = Mapping[int, str]
"""The SQL of columns, by Spark's number of the column."""

ReadSubquery = Callable[[JsonNode, Columns], Node]
"""Reads the plan of a subquery, given the columns of the enclosing query that it may name."""

_ARITHMETIC = ("Add", "Subtract", "Multiply", "Divide", "Remainder", "IntegralDivide")
_WRAPPING = ("Add", "Subtract", "Multiply", "IntegralDivide")
"""Operations whose result, if it is too large a whole number, is another number where ANSI mode is off."""
_WITH_INTERVALS = ("DateAddYMInterval", "TimestampAddInterval", "TimestampAddYMInterval")
"""Sums of a date or moment and an interval; Spark writes a difference as the sum with the negative interval."""
_SIGNS = {"UnaryMinus": "-", "UnaryPositive": "+", "BitwiseNot": "~"}
_TRIMS = {"StringTrim": "BOTH", "StringTrimLeft": "LEADING", "StringTrimRight": "TRAILING"}
_LIKE = {"Like": "LIKE", "ILike": "ILIKE", "RLike": "RLIKE"}


@dataclass(frozen=True, slots=True)
class ExpressionWriter:
    """Writes the expressions of a node as SQL.

    Parameters
    ----------
    columns
        The columns of the input.
    outer
        The columns of enclosing queries.
    read_subquery
        Reads the plan of a subquery.
    intercept
        Returns the SQL of an expression that has become a column, such as the key of a group; otherwise None.
    subqueries
        The subqueries that were read, in the order of their positions.
    """

    columns: Columns
    outer: Columns
    read_subquery: ReadSubquery
    intercept: Callable[[JsonNode], str | None] | None = None
    subqueries: list[Node] = field(default_factory=list)

    def read(self, node: JsonNode) -> exp.Expr:
        """Return an expression."""
        try:
            return parse_sql(self.write(node))
        except RecursionError as error:
            raise QueryError("an expression of the DataFrame is nested too deeply") from error

    def write(self, node: JsonNode) -> str:
        """Return the SQL of an expression."""
        text = None if self.intercept is None else self.intercept(node)
        if text is not None:
            return text
        handler = _HANDLERS.get(node.kind)
        if handler is not None:
            return handler(self, node)
        if node.kind in OPERATORS:
            return self._write_operation(node)
        if node.fields.get("replacement") == 0 and len(node.children) == 1:
            return self.write(node.children[0])  # Spark computes it instead
        has_lost_argument = node.kind == "Levenshtein" and len(node.children) != 2  # sqlglot does not write the third
        if node.kind not in FUNCTIONS or has_lost_argument:
            raise make_refusal(node.kind)
        check_fields(node)
        _check_rounding(node)
        return f"{FUNCTIONS[node.kind]}({', '.join(self.write(child) for child in node.children)})"

    # -- columns ---------------------------------------------------------------------------------------------------

    def write_attribute(self, node: JsonNode) -> str:
        """Return the column that an attribute names."""
        read_type(node.fields["dataType"])
        if node.id not in self.columns:
            raise QueryError(
                f"the column {node.name} cannot be used",
                hint="the catalog has no such column, or has it with another type",
            )
        return self.columns[node.id]

    def write_outer(self, node: JsonNode) -> str:
        """Return the column of an enclosing query."""
        inner = node.get_tree("e")
        if inner.kind != "AttributeReference" or inner.id not in self.outer:
            raise make_refusal(node.kind, "names no column of the enclosing query")
        return self.outer[inner.id]

    def write_child(self, node: JsonNode) -> str:
        """Return the only child."""
        (child,) = node.children
        return self.write(child)

    def write_constant(self, node: JsonNode) -> str:
        """Return a constant."""
        text = write_literal(node)
        return Sql(text, SIGN) if text.startswith("-") else text

    # -- operations ------------------------------------------------------------------------------------------------

    def _write_operation(self, node: JsonNode) -> str:
        if node.kind in _ARITHMETIC:
            _check_arithmetic(node)
        check_zone(node)  # the day after a moment begins at another hour where clocks are changed
        first, second = node.children
        sign = OPERATORS[node.kind]
        if node.kind in _WITH_INTERVALS and second.kind == "UnaryMinus":
            (second,), sign = second.children, "-"
        level = LEVELS.get(sign, TEST)
        left = wrap(self._write_operand(first, second), level if level > TEST else BITS)
        return Sql(f"{left} {sign} {wrap(self._write_operand(second, first), level + 1)}", level)

    def write_shifted_date(self, node: JsonNode) -> str:
        """Return a date some days later; an interval is added or subtracted as it was written."""
        date, days = node.children
        sign, amount = ("-", days.children[0]) if days.kind == "UnaryMinus" else ("+", days)
        if amount.kind != "ExtractANSIIntervalDays":
            check_fields(node)
            return f"{FUNCTIONS[node.kind]}({self.write(date)}, {self.write(days)})"
        (interval,) = amount.children
        return Sql(f"{wrap(self.write(date), LEVELS[sign])} {sign} {wrap(self.write(interval), ATOM)}", LEVELS[sign])

    def _write_operand(self, node: JsonNode, other: JsonNode) -> str:
        """Return an operand; a whole number that Spark casts to the type of the other operand goes without the cast.

        Spark casts it again wherever the SQL is read, with ANSI mode or without.
        """
        if node.kind == "Cast" and node.children[0].kind == "Literal":
            literal, kind, other_kind = node.children[0], read_type(node.fields["dataType"]), _find_type(other) or ""
            number = str(literal.fields["value"])
            if literal.fields["dataType"] == "integer" and literal.fields["value"] is not None:
                is_decimal = kind == f"decimal({len(number.lstrip('-'))},0)" and other_kind.startswith("decimal")
                if (kind in ("bigint", "double") and kind == other_kind) or is_decimal:
                    return Sql(number, SIGN)
        return self.write(node)

    def write_chain(self, node: JsonNode) -> str:
        """Return AND or OR of any length."""
        parts, pending = [], [node]
        while pending:
            current = pending.pop()
            if current.kind == node.kind:
                pending.extend(reversed(current.children))
            else:
                parts.append(self.write(current))
        level = AND if node.kind == "And" else OR
        return Sql(f" {node.kind.upper()} ".join(wrap(part, level + 1) for part in parts), level)

    def write_sign(self, node: JsonNode) -> str:
        """Return an operation with one operand, after its sign."""
        (child,) = node.children
        if node.kind == "UnaryMinus" and not node.fields["failOnError"] and child.kind != "Literal":
            kind = node.java().dataType().simpleString()
            if kind in INTEGRAL:
                raise make_legacy_refusal(f"-{kind}")
        if node.kind == "Not":
            return Sql(f"NOT {wrap(self.write(child), TEST)}", NOT)
        return Sql(f"{_SIGNS[node.kind]}{wrap(self.write(child), ATOM)}", SIGN)

    def write_null_test(self, node: JsonNode) -> str:
        """Return IS NULL or IS NOT NULL."""
        word = "IS NOT NULL" if node.kind == "IsNotNull" else "IS NULL"
        return Sql(f"{wrap(self.write_child(node), BITS)} {word}", TEST)

    def write_list_test(self, node: JsonNode) -> str:
        """Return IN with a list."""
        value, *items = node.children
        texts = ", ".join(self._write_operand(item, value) for item in items)
        return Sql(f"{wrap(self.write(value), BITS)} IN ({texts})", TEST)

    def write_pattern_test(self, node: JsonNode) -> str:
        """Return LIKE, ILIKE or RLIKE."""
        left, right = (wrap(self.write(child), BITS) for child in node.children)
        escape = "\\" if node.kind == "RLike" else str(node.java().escapeChar())
        ending = "" if escape == "\\" else f" ESCAPE {exp.Literal.string(escape).sql(dialect='spark')}"
        return Sql(f"{left} {_LIKE[node.kind]} {right}{ending}", TEST)

    def write_nullif(self, node: JsonNode) -> str:
        """Return NULL where a condition is TRUE, otherwise a value."""
        condition, value = (self.write(child) for child in node.children)
        return f"CASE WHEN {condition} THEN NULL ELSE {value} END"

    def write_count_test(self, node: JsonNode) -> str:
        """Return whether enough values are neither NULL nor NaN, as `dropna` asks."""
        number, children = node.fields["n"], node.children
        if number not in (1, len(children)):
            raise make_refusal(node.kind, f"with {number} of {len(children)} columns is not supported")
        tests = []
        for child in children:
            text, kind = wrap(self.write(child), BITS), _find_type(child) or child.java().dataType().simpleString()
            tests.append(f"{text} IS NOT NULL")
            if kind in ("float", "double"):
                tests[-1] = f"({text} IS NOT NULL AND NOT isnan({text}))"
        word, level = (" AND ", AND) if number == len(children) else (" OR ", OR)
        return Sql(word.join(tests), level)

    def write_case(self, node: JsonNode) -> str:
        """Return CASE WHEN."""
        texts = [self.write(child) for child in node.children]
        pairs = zip(texts[0::2], texts[1::2], strict=False)
        branches = " ".join(f"WHEN {condition} THEN {value}" for condition, value in pairs)
        return f"CASE {branches}{f' ELSE {texts[-1]}' if len(texts) % 2 else ''} END"

    def write_cast(self, node: JsonNode) -> str:
        """Return a cast, also one that Spark inserted."""
        kind, (child,) = read_type(node.fields["dataType"]), node.children
        source = _find_type(child) or child.java().dataType().simpleString()
        if source == kind:
            return self.write(child)
        if not is_same_without_ansi(source, kind) and str(node.java().evalMode()) == "LEGACY":
            raise make_legacy_refusal(f"CAST({source} AS {kind})")
        if "timestamp" in (source, kind):
            check_zone(node)
        return f"CAST({self.write(child)} AS {kind.upper()})"

    def write_trim(self, node: JsonNode) -> str:
        """Return TRIM, with the characters to remove if they are given."""
        texts = [self.write(child) for child in node.children]
        what = f"{texts[1]} " if len(texts) > 1 else ""
        return (
            f"TRIM({_TRIMS[node.kind]} {what}FROM {texts[0]})"
            if what or node.kind != "StringTrim"
            else f"TRIM({texts[0]})"
        )

    # -- nested values ---------------------------------------------------------------------------------------------

    def write_field(self, node: JsonNode) -> str:
        """Return a field of a struct."""
        name = node.java().childSchema().apply(node.fields["ordinal"]).name()
        return f"({self.write_child(node)}).{exp.to_identifier(name, quoted=True).sql(dialect='spark')}"

    def write_item(self, node: JsonNode) -> str:
        """Return an element of an array or map."""
        container, place = (self.write(child) for child in node.children)
        return f"{wrap(container, ATOM)}[{place}]"

    def write_lambda(self, node: JsonNode) -> str:
        """Return a lambda function."""
        body, *arguments = node.children
        names = {argument.id: f"x{argument.id}" for argument in arguments}
        listed = ", ".join(names.values())
        inner = replace(self, columns={**self.columns, **names})
        return f"{listed if len(names) == 1 else f'({listed})'} -> {inner.write(body)}"

    def write_common(self, node: JsonNode) -> str:
        """Return an expression with a part that it names twice, such as BETWEEN."""
        body, *definitions = node.children
        if len(definitions) != 1:
            raise make_refusal(node.kind)
        has_inner = any(part.kind == "With" for part in body.walk())  # with references of its own: JSON has no numbers
        number = _read_number(definitions[0]) if has_inner else ""
        return self.write(_put_definition(body, definitions[0].children[0], number))

    def write_group_value(self, node: JsonNode) -> str:
        """Return an aggregate function."""
        return write_aggregate(node, self.write)

    def write_window_value(self, node: JsonNode) -> str:
        """Return a window function."""
        return write_window(node, self.write)

    # -- subqueries ------------------------------------------------------------------------------------------------

    def write_subquery(self, node: JsonNode) -> str:
        """Return the value of a subquery, or whether it has a row."""
        return f"{SCALAR if node.kind == 'ScalarSubquery' else EXISTS}({self._add_subquery(node)})"

    def write_membership(self, node: JsonNode) -> str:
        """Return IN with a subquery."""
        *values, query = node.children
        if query.kind != "ListQuery":
            raise make_refusal(query.kind)
        texts = ", ".join(self.write(value) for value in values)
        return f"{IN}({self._add_subquery(query)}, {texts})"

    def _add_subquery(self, node: JsonNode) -> int:
        if node.fields.get("joinCond"):
            raise make_refusal(node.kind, "with a condition of its own is not supported")
        self.subqueries.append(self.read_subquery(node.get_tree("plan"), {**self.outer, **self.columns}))
        return len(self.subqueries) - 1


def _find_type(node: JsonNode) -> str | None:
    """Return the type of an expression if its JSON says it, without a call to Java."""
    if node.kind in ("AttributeReference", "Cast", "Literal", "NamedLambdaVariable"):
        return read_type(node.fields["dataType"])
    if node.kind in ("Add", "Subtract", "Multiply", "Divide", "Remainder"):
        types = {_find_type(child) for child in node.children}
        only = types.pop() if len(types) == 1 else None
        return only if only in ("int", "bigint", "float", "double") else None
    return None


def _check_arithmetic(node: JsonNode) -> None:
    """Raise `QueryError` if the session decides the result of an operation in another way than provenn."""
    if node.fields.get("failOnError") is True or _find_type(node) in ("float", "double"):
        return
    java = node.java()
    kind, context = java.dataType().simpleString(), java.evalContext()
    if kind in INTEGRAL and node.kind in _WRAPPING and str(context.evalMode()) == "LEGACY":
        raise make_legacy_refusal(f"{kind} {OPERATORS[node.kind]} {kind}")
    if kind.startswith("decimal") and not context.allowDecimalPrecisionLoss():
        raise make_refusal(
            node.kind,
            "without loss of precision is not supported",
            "make the DataFrame without spark.sql.decimalOperations.allowPrecisionLoss",
        )


def _check_rounding(node: JsonNode) -> None:
    """Raise `QueryError` if a function of whole numbers gives a wrong number where the result is too large."""
    is_lenient = not node.fields.get("failOnError", node.fields.get("ansiEnabled", True))
    if node.kind not in ("Abs", "Round", "BRound") or not is_lenient:
        return
    *_, places = node.children
    is_safe = node.kind != "Abs" and places.kind == "Literal" and not str(places.fields["value"]).startswith("-")
    if not is_safe and node.java().dataType().simpleString() in INTEGRAL:
        raise make_legacy_refusal(f"{FUNCTIONS[node.kind]} of a whole number")


def _put_definition(node: JsonNode, definition: JsonNode, number: str) -> JsonNode:
    """Return an expression with the definition of a common part instead of references to it; without number, of all."""
    if node.kind == "CommonExpressionRef":
        return definition if not number or number == _read_number(node) else node
    return replace(node, children=tuple(_put_definition(child, definition, number) for child in node.children))


def _read_number(node: JsonNode) -> str:
    """Return the number of a common part, of which JSON says nothing."""
    return str(node.java().id().toString())


_HANDLERS: Final[dict[str, Callable[[ExpressionWriter, JsonNode], str]]] = {
    "AggregateExpression": ExpressionWriter.write_group_value,
    "Alias": ExpressionWriter.write_child,
    "And": ExpressionWriter.write_chain,
    "AtLeastNNonNulls": ExpressionWriter.write_count_test,
    "AttributeReference": ExpressionWriter.write_attribute,
    "BitwiseNot": ExpressionWriter.write_sign,
    "CaseWhen": ExpressionWriter.write_case,
    "Cast": ExpressionWriter.write_cast,
    "DateAdd": ExpressionWriter.write_shifted_date,
    "Exists": ExpressionWriter.write_subquery,
    "GetArrayItem": ExpressionWriter.write_item,
    "GetMapValue": ExpressionWriter.write_item,
    "GetStructField": ExpressionWriter.write_field,
    "ILike": ExpressionWriter.write_pattern_test,
    "In": ExpressionWriter.write_list_test,
    "InSubquery": ExpressionWriter.write_membership,
    "IsNotNull": ExpressionWriter.write_null_test,
    "IsNull": ExpressionWriter.write_null_test,
    "KnownNotNull": ExpressionWriter.write_child,
    "KnownNullable": ExpressionWriter.write_child,
    "LambdaFunction": ExpressionWriter.write_lambda,
    "Like": ExpressionWriter.write_pattern_test,
    "Literal": ExpressionWriter.write_constant,
    "NamedLambdaVariable": ExpressionWriter.write_attribute,
    "Not": ExpressionWriter.write_sign,
    "NullIfResult": ExpressionWriter.write_nullif,
    "Or": ExpressionWriter.write_chain,
    "OuterReference": ExpressionWriter.write_outer,
    "RLike": ExpressionWriter.write_pattern_test,
    "ScalarSubquery": ExpressionWriter.write_subquery,
    "StringTrim": ExpressionWriter.write_trim,
    "StringTrimLeft": ExpressionWriter.write_trim,
    "StringTrimRight": ExpressionWriter.write_trim,
    "UnaryMinus": ExpressionWriter.write_sign,
    "UnaryPositive": ExpressionWriter.write_sign,
    "WindowExpression": ExpressionWriter.write_window_value,
    "With": ExpressionWriter.write_common,
}
"""How each class is written that is neither an operator nor a function of its children."""
