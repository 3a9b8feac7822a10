"""Build function calls from parsed arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from provenn.criteria.comparisons import (
    build_choice,
    build_coalesce,
    build_comparison,
    build_null_test,
    build_pattern_match,
)
from provenn.criteria.conditions import build_is_true, convert_to_condition, negate_condition
from provenn.criteria.conversions import convert_arguments
from provenn.criteria.domains import INFINITY
from provenn.criteria.functions import FUNCTIONS, Function, explain_refusal, resolve_alias
from provenn.criteria.nodes import Call, Condition, Constant, Node, Nulls
from provenn.criteria.operations import (
    build_arithmetic,
    build_cast,
    build_negative,
    check_digits,
    coerce,
    unify_operands,
)
from provenn.criteria.parts import build_array_contains, build_element_at, build_get, build_size
from provenn.criteria.pixels import PIXEL_NUMBER, build_pixel_number
from provenn.criteria.refusal import Refusal
from provenn.criteria.regions import build_region_condition
from provenn.criteria.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    INTEGRAL,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    VOID,
    Type,
    decimal,
    parse_type,
    suggest_type,
)
from provenn.errors import did_you_mean
from provenn.sky import FUNCTIONS as REGIONS

__all__ = ["build_call", "check_function", "list_functions"]

_Builder = Callable[..., Node | Condition]
_ZERO = Constant(INT, 0)


def list_functions() -> tuple[str, ...]:
    """Return the names of all functions callable in criteria and expressions, without their aliases."""
    return (*FUNCTIONS, *_BUILDERS)


def check_function(name: str) -> None:
    """Refuse a function not known to be deterministic, row-wise and total."""
    known = list_functions()
    if resolve_alias(name) not in known:
        unknown = f"{name.lower()}() is not a supported function"
        hint = suggest_type(name) or did_you_mean(name.lower(), known) or "write a calculator instead"
        raise Refusal(*(explain_refusal(name) or (unknown, hint)))


def build_call(name: str, arguments: Sequence[Node]) -> Node | Condition:
    """Return a known function applied to its arguments."""
    name = resolve_alias(name)
    if name == "log" and len(arguments) == 1:
        name = "ln"
    if name in FUNCTIONS:
        return _build_fixed_call(FUNCTIONS[name], arguments)
    least, most, build = _BUILDERS[name]
    _check_argument_count(name, len(arguments), least, most)
    return build(*arguments)


def _check_argument_count(name: str, count: int, least: int, most: int | None) -> None:
    if count < least or (most is not None and count > most):
        wanted = f"{least}" if least == most else f"{least} to {most}" if most else f"at least {least}"
        raise Refusal(f"{name}() takes {wanted} argument{'s' * (wanted != '1')}, not {count}")


def _build_fixed_call(function: Function, arguments: Sequence[Node]) -> Node:
    """Return a call of a function with fixed types, with its arguments converted."""
    most = None if function.repeats else len(function.arguments)
    _check_argument_count(function.name, len(arguments), function.least, most)
    arguments = convert_arguments(function.name, arguments)
    kinds = [*function.arguments]
    kinds += kinds[-1:] * (len(arguments) - len(kinds))
    fitted_arguments = (_fit_argument(function.name, *pair) for pair in zip(arguments, kinds, strict=False))
    return Call(function.name, tuple(fitted_arguments), function.result, function.nulls)


_ACCEPTED = {  # the types that Spark converts to the wanted type, losing at most the time of day
    "int": INTEGRAL[:3],
    "bigint": INTEGRAL,
    "string": (STRING,),
    "date": (DATE, TIMESTAMP, TIMESTAMP_NTZ),
    "timestamp": (DATE, TIMESTAMP, TIMESTAMP_NTZ),
}


def _fit_argument(name: str, node: Node, wanted: str) -> Node:
    """Return an argument in the wanted kind, or refuse it."""
    if wanted == "whole":
        _read_places(name, node)
        return node
    constant_text = isinstance(node, Constant) and node.type == STRING
    if wanted == "text" and not constant_text:
        raise Refusal(f"{name}() takes a quoted word here")
    if wanted == "any" and not node.type.scalar:
        raise Refusal(f"{name}() does not take a {node.type}")
    if wanted in ("any", "text"):
        return node
    accepted = node.type.numeric if wanted == "double" else node.type in _ACCEPTED[wanted]
    if not (accepted or node.type == VOID or (constant_text and wanted in ("date", "timestamp"))):
        raise Refusal(f"{name}() takes a {wanted} here, not a {node.type}", "convert it with CAST")
    return coerce(node, parse_type(wanted))


def _read_places(name: str, node: Node) -> int:
    """Return the value of a small constant integer, or refuse the node."""
    if isinstance(node, Constant) and node.type == INT and isinstance(node.key, int) and abs(node.key) <= 10_000:
        return node.key
    raise Refusal(f"{name}() takes a whole number here, not an expression")


def _check_number(name: str, node: Node) -> Node:
    """Return a node of numeric type, or refuse it."""
    if not node.type.numeric:
        raise Refusal(f"{name}() takes a number, not a {node.type}")
    return node


def _build_absolute(node: Node) -> Node:
    kind = _check_number("abs", node).type
    check_digits("abs()", kind)
    return Call("abs", (node,), kind, Nulls.ANY_OR_FAILED if kind in INTEGRAL else Nulls.ANY)


def _build_rounding_to_integer(name: str, node: Node) -> Node:
    """Return a ceil or floor call."""
    kind = _check_number(name, node).type
    if kind.name == "decimal":
        result = kind if kind.scale == 0 else decimal(kind.precision - kind.scale + 1)
        return Call(name, (node,), result, Nulls.ANY_OR_FAILED)
    return Call(name, (coerce(node, BIGINT if kind in INTEGRAL else DOUBLE),), BIGINT, Nulls.ANY)


def _build_rounding(name: str, node: Node, places: Node = _ZERO) -> Node:
    """Return a round or bround call."""
    kind = _check_number(name, node).type
    scale = _read_places(name, places)
    if kind.name == "decimal":
        whole = kind.precision - kind.scale + 1
        after = max(0, min(kind.scale, scale))
        kind = decimal(max(whole, 1 - scale) + after, after)
        check_digits(f"{name}()", kind)
    total = kind in (DOUBLE, parse_type("float"))
    return Call(name, (node, places), kind, Nulls.ANY if total else Nulls.ANY_OR_FAILED)


def _build_positive_modulo(left: Node, right: Node) -> Node:
    remainder = build_arithmetic("%", left, right)
    if not isinstance(remainder, Call):
        raise TypeError("a remainder is a call")
    return Call("pmod", remainder.arguments, remainder.type, Nulls.ANY_OR_FAILED)


def _build_extreme(name: str, *nodes: Node) -> Node:
    """Return a greatest or least call."""
    same = unify_operands(nodes, name)
    if same[0].type == BOOLEAN:
        raise Refusal(f"{name}() does not take a {BOOLEAN}", "use OR, or AND")
    return Call(name, tuple(same), same[0].type, Nulls.ALL)


def _read_test(node: Node) -> Condition:
    """Return the test of an if() as a condition."""
    if node.type not in (BOOLEAN, VOID):
        raise Refusal(f"if() takes a condition, not a {node.type}")
    return convert_to_condition(node)


def _build_is_nan(node: Node) -> Condition:
    not_a_number = Constant(DOUBLE, INFINITY[DOUBLE] + 1)
    return build_is_true(build_comparison("=", coerce(_check_number("isnan", node), DOUBLE), not_a_number))


def _build_null_if(value: Node, excluded: Node) -> Node | Condition:
    return build_choice([build_comparison("=", value, excluded)], [Constant(value.type, None)], value)


_BUILDERS: dict[str, tuple[int, int | None, _Builder]] = {
    "abs": (1, 1, _build_absolute),
    "array_contains": (2, 2, build_array_contains),
    "bround": (1, 2, partial(_build_rounding, "bround")),
    "ceil": (1, 1, partial(_build_rounding_to_integer, "ceil")),
    "coalesce": (1, None, lambda *nodes: build_coalesce(nodes)),
    "element_at": (2, 2, build_element_at),
    "floor": (1, 1, partial(_build_rounding_to_integer, "floor")),
    "get": (2, 2, build_get),
    PIXEL_NUMBER: (3, 3, build_pixel_number),
    "greatest": (2, None, partial(_build_extreme, "greatest")),
    "if": (3, 3, lambda test, value, otherwise: build_choice([_read_test(test)], [value], otherwise)),
    "ilike": (2, 2, partial(build_pattern_match, "ilike")),
    "isnan": (1, 1, _build_is_nan),
    "isnotnull": (1, 1, lambda node: negate_condition(build_null_test(node))),
    "isnull": (1, 1, build_null_test),
    "least": (2, None, partial(_build_extreme, "least")),
    "like": (2, 2, partial(build_pattern_match, "like")),
    "mod": (2, 2, partial(build_arithmetic, "%")),
    "negative": (1, 1, build_negative),
    "nullif": (2, 2, _build_null_if),
    "nvl2": (
        3,
        3,
        lambda test, value, otherwise: build_choice([negate_condition(build_null_test(test))], [value], otherwise),
    ),
    "pmod": (2, 2, _build_positive_modulo),
    "positive": (1, 1, partial(_check_number, "positive")),
    "rlike": (2, 2, partial(build_pattern_match, "rlike")),
    "round": (1, 2, partial(_build_rounding, "round")),
    "size": (1, 1, build_size),
    "to_date": (1, 1, lambda node: build_cast(node, DATE)),
    "to_timestamp": (1, 1, lambda node: build_cast(node, TIMESTAMP)),
    "try_add": (2, 2, partial(build_arithmetic, "+")),
    "try_divide": (2, 2, partial(build_arithmetic, "/")),
    "try_element_at": (2, 2, build_element_at),
    "try_mod": (2, 2, partial(build_arithmetic, "%")),
    "try_multiply": (2, 2, partial(build_arithmetic, "*")),
    "try_subtract": (2, 2, partial(build_arithmetic, "-")),
}


def _make_cast_builder(kind: Type) -> _Builder:
    return lambda node: build_cast(node, kind)


for _kind in (*INTEGRAL, parse_type("float"), DOUBLE, parse_type("decimal"), STRING, BOOLEAN, DATE, TIMESTAMP):
    _BUILDERS[_kind.name] = (1, 1, _make_cast_builder(_kind))
for _name, (_least, _most) in REGIONS.items():
    _BUILDERS[_name] = (_least, _most, partial(build_region_condition, _name))
