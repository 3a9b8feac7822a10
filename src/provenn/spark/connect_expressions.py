"""Expressions of plans of Spark Connect, as SQL over the columns of a relation.

A plan of Connect is unresolved: names and functions are texts. Names are looked up here, exactly or not at all;
functions are looked up by the reader of queries, which refuses those without a fixed meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlglot import exp

from provenn.errors import QueryError
from provenn.files.type_names import parse_spark_type
from provenn.queries.reading_context import QueryReading
from provenn.queries.reading_expressions import Names, read_expression
from provenn.queries.reading_text import parse_column
from provenn.queries.refusals import check_functions
from provenn.spark.connect_literals import write_connect_literal
from provenn.spark.connect_relations import ConnectColumn, ConnectRelation, parse_name
from provenn.spark.plan_reading_refusals import make_refusal
from provenn.spark.plan_reading_sql import AND, ATOM, BITS, LEVELS, NOT, OR, SIGN, TEST, Sql, wrap

__all__ = ["ConnectWriter", "parse_text"]

_BINARY: Final = {
    **{sign: sign for sign in ("+", "-", "*", "/", "%", "<", ">", "<=", ">=", "<=>", "&", "|", "^")},
    "==": "=",
    "=": "=",
    "!=": "<>",
    "like": "LIKE",
    "ilike": "ILIKE",
    "rlike": "RLIKE",
}
_TESTS: Final = {"isnull": "IS NULL", "isnotnull": "IS NOT NULL"}
_REASONS: Final = {
    "common_inline_user_defined_function": ("PythonUDF", ""),
    "typed_aggregate_expression": ("ScalaAggregator", ""),
    "lambda_function": ("LambdaFunction", "is not read over Spark Connect"),
    "unresolved_named_lambda_variable": ("LambdaFunction", "is not read over Spark Connect"),
    "subquery_expression": ("SubqueryExpression", "is not read over Spark Connect"),
    "unresolved_regex": ("UnresolvedRegex", "names columns by a pattern"),
    "update_fields": ("UpdateFields", "is not read over Spark Connect"),
    "call_function": ("CallFunction", "may call a function of the user"),
}
_ARBITRARY: Final = {
    "any_value": "AnyValue",
    "collect_list": "CollectList",
    "collect_set": "CollectSet",
    "first": "First",
    "last": "Last",
    "listagg": "ListAgg",
    "max_by": "MaxBy",
    "min_by": "MinBy",
    "mode": "Mode",
    "nth_value": "NthValue",
}
"""Functions that take an arbitrary row or order, and their classes."""
_FRAMES: Final = {1: "ROWS", 2: "RANGE"}
_NAMES: Final = {"mean": "avg", "negative": "-", "positive": "+", "~": "~"}


def parse_text(text: str) -> exp.Expr:
    """Return the SQL of an expression that the user wrote.

    Raises
    ------
    QueryError
        If it cannot be read, or has variables, which the server replaces before it reads the text.
    """
    if "${" in text:
        raise QueryError(f"the text has a variable: {text[:200]}", hint="write the value instead")
    return parse_column(text)


@dataclass(frozen=True, slots=True)
class ConnectWriter:
    """Writes expressions over the columns of a relation.

    Parameters
    ----------
    relation
        The relation.
    reading
        The state of the reader of queries, for texts in expressions.
    """

    relation: ConnectRelation
    reading: QueryReading

    def read(self, expression: Any) -> exp.Expr:  # noqa: ANN401 - a message of Connect
        """Return an expression with numbered columns."""
        try:
            tree = parse_column(self.write(expression))
        except RecursionError as error:
            raise QueryError("an expression of the DataFrame is nested too deeply") from error
        check_functions(self.reading, tree, tree)
        return tree

    def find_output(self, expression: Any) -> ConnectColumn | None:  # noqa: ANN401 - see above
        """Return the column that an expression is; None for any other expression."""
        if expression.WhichOneof("expr_type") == "unresolved_attribute":
            output, fields = self._resolve(expression.unresolved_attribute)
            return None if fields else output
        if expression.WhichOneof("expr_type") == "expression_string":
            tree = self.read_text(parse_text(expression.expression_string.expression)).unnest()
            if isinstance(tree, exp.Column):
                return next((output for output in self.relation.outputs if output.column.symbol == tree.name), None)
        return None

    def read_text(self, tree: exp.Expr) -> exp.Expr:
        """Return an expression of SQL with numbered columns."""
        return read_expression(self.reading, tree, Names(self.relation.scope, {}))

    def write(self, expression: Any) -> str:  # noqa: ANN401 - see above
        """Return the SQL of an expression."""
        kind = expression.WhichOneof("expr_type")
        handler = _HANDLERS.get(kind)
        if handler is None:
            name, reason = _REASONS.get(kind, (str(kind), "is not supported"))
            raise make_refusal(name, reason)
        return handler(self, getattr(expression, kind))

    def _write_all(self, expressions: Sequence[Any]) -> list[str]:
        return [self.write(expression) for expression in expressions]

    # -- names -----------------------------------------------------------------------------------------------------

    def _resolve(self, attribute: Any) -> tuple[ConnectColumn, int]:  # noqa: ANN401 - see above
        if attribute.is_metadata_column:
            raise make_refusal("UnresolvedAttribute", "names a hidden column")
        parts = parse_name(attribute.unparsed_identifier)
        if attribute.HasField("plan_id"):
            return self.relation.find_by_plan(attribute.plan_id, parts)
        return self.relation.find_by_name(parts)

    def write_attribute(self, attribute: Any) -> str:  # noqa: ANN401 - see above
        """Return a column, or a field of a column."""
        output, fields = self._resolve(attribute)
        text = output.column.symbol
        for part in parse_name(attribute.unparsed_identifier)[-fields:] if fields else ():
            text = f"({text}).{exp.to_identifier(part, quoted=True).sql(dialect='spark')}"
        return text

    def write_text(self, message: Any) -> str:  # noqa: ANN401 - see above
        """Return an expression that the user wrote as SQL."""
        tree = parse_text(message.expression)
        return Sql(self.read_text(tree.this if isinstance(tree, exp.Alias) else tree).sql("spark"), OR)

    def write_alias(self, message: Any) -> str:  # noqa: ANN401 - see above
        """Return the expression that has a name."""
        return self.write(message.expr)

    # -- values ----------------------------------------------------------------------------------------------------

    def write_literal(self, message: Any) -> str:  # noqa: ANN401 - see above
        """Return a constant."""
        text = write_connect_literal(message)
        return Sql(text, SIGN) if text.startswith("-") else text

    def write_cast(self, message: Any) -> str:  # noqa: ANN401 - see above
        """Return a cast; one that fails is NULL."""
        from pyspark.sql.connect.types import proto_schema_to_pyspark_data_type  # noqa: PLC0415 - needs gRPC

        if message.HasField("type"):
            kind = proto_schema_to_pyspark_data_type(message.type).simpleString()
        else:
            kind = str(parse_spark_type(message.type_str))
        if "collate" in kind.lower():
            raise make_refusal("Cast", f"to {kind} is not supported")
        return f"CAST({self.write(message.expr)} AS {kind.upper()})"

    def write_part(self, message: Any) -> str:  # noqa: ANN401 - see above
        """Return a field of a struct, or an element of an array or map."""
        place = message.extraction
        if place.WhichOneof("expr_type") == "literal" and place.literal.WhichOneof("literal_type") == "string":
            name = exp.to_identifier(place.literal.string, quoted=True).sql(dialect="spark")
            return f"({self.write(message.child)}).{name}"
        return f"{wrap(self.write(message.child), ATOM)}[{self.write(place)}]"

    # -- functions -------------------------------------------------------------------------------------------------

    def write_function(self, message: Any) -> str:  # noqa: ANN401 - see above
        """Return a call of a function or operator."""
        name, arguments = message.function_name.lower(), list(message.arguments)
        name = _NAMES.get(name, name)
        if message.is_user_defined_function or message.is_internal or "." in name:
            raise make_refusal("PythonUDF" if message.is_user_defined_function else name)
        if name == "count" and len(arguments) == 1 and _counts_rows(arguments[0]) and not message.is_distinct:
            return "count(*)"
        if name in _ARBITRARY:
            raise make_refusal(_ARBITRARY[name])
        texts = self._write_all(arguments)
        if name in ("+", "-", "~") and len(texts) == 1:
            return Sql(f"{name}{wrap(texts[0], ATOM)}", SIGN)
        if name in _BINARY and len(texts) == 2:
            sign = _BINARY[name]
            level = LEVELS.get(sign, TEST)
            left, right = wrap(texts[0], level if level > TEST else BITS), wrap(texts[1], level + 1)
            return Sql(f"{left} {sign} {right}", level)
        if name in ("and", "or") and len(texts) >= 2:
            level = AND if name == "and" else OR
            return Sql(f" {name.upper()} ".join(wrap(text, level + 1) for text in texts), level)
        if name in ("not", "!") and len(texts) == 1:
            return Sql(f"NOT {wrap(texts[0], TEST)}", NOT)
        if name in _TESTS and len(texts) == 1:
            return Sql(f"{wrap(texts[0], BITS)} {_TESTS[name]}", TEST)
        if name == "in":
            return Sql(f"{wrap(texts[0], BITS)} IN ({', '.join(texts[1:])})", TEST)
        if name == "when":
            pairs = zip(texts[0::2], texts[1::2], strict=False)
            branches = " ".join(f"WHEN {condition} THEN {value}" for condition, value in pairs)
            return f"CASE {branches}{f' ELSE {texts[-1]}' if len(texts) % 2 else ''} END"
        if not name.isidentifier():
            raise make_refusal(name)
        return f"{name}({'DISTINCT ' if message.is_distinct else ''}{', '.join(texts)})"

    def write_window(self, message: Any) -> str:  # noqa: ANN401 - see above
        """Return a window function with its OVER clause."""
        parts = self._write_all(message.partition_spec)
        texts = [f"PARTITION BY {', '.join(parts)}"] if parts else []
        orders = [self.write_order(order) for order in message.order_spec]
        texts += [f"ORDER BY {', '.join(orders)}"] if orders else []
        if message.HasField("frame_spec"):
            texts.append(self._write_frame(message.frame_spec, is_ordered=bool(orders)))
        return f"{self.write(message.window_function)} OVER ({' '.join(filter(None, texts))})"

    def write_order(self, order: Any) -> str:  # noqa: ANN401 - see above
        """Return an expression to sort by."""
        is_descending, nulls_first = read_direction(order)
        words = f"{'DESC' if is_descending else 'ASC'} NULLS {'FIRST' if nulls_first else 'LAST'}"
        return f"{self.write(order.child)} {words}"

    def _write_frame(self, frame: Any, *, is_ordered: bool) -> str:  # noqa: ANN401 - see above
        unit = _FRAMES.get(frame.frame_type)
        if unit is None:
            raise make_refusal("WindowFrame")
        lower, upper = self._write_bound(frame.lower, "PRECEDING"), self._write_bound(frame.upper, "FOLLOWING")
        usual = ("RANGE", "CURRENT ROW") if is_ordered else ("ROWS", "UNBOUNDED FOLLOWING")
        if lower == "UNBOUNDED PRECEDING" and (unit, upper) == usual:
            return ""
        return f"{unit} BETWEEN {lower} AND {upper}"

    def _write_bound(self, bound: Any, end: str) -> str:  # noqa: ANN401 - see above
        kind = bound.WhichOneof("boundary")
        if kind == "current_row":
            return "CURRENT ROW"
        if kind == "unbounded":
            return f"UNBOUNDED {end}"
        value = bound.value
        name = value.literal.WhichOneof("literal_type") if value.WhichOneof("expr_type") == "literal" else ""
        if name not in ("integer", "long"):
            raise make_refusal("WindowFrame", "has a bound that is no whole number")
        number = int(getattr(value.literal, name))
        return "CURRENT ROW" if not number else f"{abs(number)} {'PRECEDING' if number < 0 else 'FOLLOWING'}"


def read_direction(order: Any) -> tuple[bool, bool]:  # noqa: ANN401 - a message of Connect
    """Return whether an order is descending, and whether NULL comes first."""
    is_descending = order.direction == 2
    nulls_first = order.null_ordering == 1 or (order.null_ordering == 0 and not is_descending)
    return is_descending, nulls_first


def _counts_rows(argument: Any) -> bool:  # noqa: ANN401 - a message of Connect
    kind = argument.WhichOneof("expr_type")
    if kind == "unresolved_star":
        return not bool(argument.unresolved_star.HasField("unparsed_target"))
    return bool(kind == "literal" and argument.literal.WhichOneof("literal_type") != "null")


_HANDLERS: Final[dict[str, Callable[[ConnectWriter, Any], str]]] = {
    "alias": ConnectWriter.write_alias,
    "cast": ConnectWriter.write_cast,
    "expression_string": ConnectWriter.write_text,
    "literal": ConnectWriter.write_literal,
    "unresolved_attribute": ConnectWriter.write_attribute,
    "unresolved_extract_value": ConnectWriter.write_part,
    "unresolved_function": ConnectWriter.write_function,
    "window": ConnectWriter.write_window,
}
