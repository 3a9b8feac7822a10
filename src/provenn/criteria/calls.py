"""Functions applied to arguments that are read already."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from provenn.criteria.comparisons import choice, comparison, first_present, null_test, pattern_match
from provenn.criteria.conditions import flag, is_true, negated
from provenn.criteria.conversions import measured
from provenn.criteria.domains import INFINITY
from provenn.criteria.functions import FUNCTIONS, Function, canonical_name, why_refused
from provenn.criteria.nodes import Call, Condition, Constant, Node, Nulls
from provenn.criteria.operations import arithmetic, cast, check_digits, coerce, negative, together
from provenn.criteria.refusal import Refusal
from provenn.criteria.regions import region_condition
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
)
from provenn.errors import did_you_mean
from provenn.sky import FUNCTIONS as REGIONS

__all__ = ["call", "check_known"]

_Builder = Callable[..., Node | Condition]
_ZERO = Constant(INT, 0)


def check_known(name: str) -> None:
    """Refuse a function that is not known to be deterministic, row-wise and total."""
    known = [*FUNCTIONS, *_FREE]
    if canonical_name(name) not in known:
        unknown = f"{name.lower()}() is not a function that criteria and expressions know"
        hint = did_you_mean(name.lower(), known) or "a calculator can do more"
        raise Refusal(*(why_refused(name) or (unknown, hint)))


def call(name: str, arguments: Sequence[Node]) -> Node | Condition:
    """Return a known function applied to its arguments."""
    name = canonical_name(name)
    if name == "log" and len(arguments) == 1:
        name = "ln"
    if name in FUNCTIONS:
        return _fixed(FUNCTIONS[name], arguments)
    least, most, build = _FREE[name]
    _check_count(name, len(arguments), least, most)
    return build(*arguments)


def _check_count(name: str, given: int, least: int, most: int | None) -> None:
    if given < least or (most is not None and given > most):
        wanted = f"{least}" if least == most else f"{least} to {most}" if most else f"at least {least}"
        raise Refusal(f"{name}() takes {wanted} argument{'s' * (wanted != '1')}, not {given}")


def _fixed(function: Function, arguments: Sequence[Node]) -> Node:
    most = None if function.repeats else len(function.arguments)
    _check_count(function.name, len(arguments), function.least, most)
    arguments = measured(function.name, arguments)
    kinds = [*function.arguments]
    kinds += kinds[-1:] * (len(arguments) - len(kinds))
    fitted = (_fitted(function.name, *pair) for pair in zip(arguments, kinds, strict=False))
    return Call(function.name, tuple(fitted), function.result, function.nulls)


_ACCEPTED = {  # the types that Spark turns into the one that is wanted, and that lose nothing but the time of day
    "int": INTEGRAL[:3],
    "bigint": INTEGRAL,
    "string": (STRING,),
    "date": (DATE, TIMESTAMP, TIMESTAMP_NTZ),
    "timestamp": (DATE, TIMESTAMP, TIMESTAMP_NTZ),
}


def _fitted(name: str, node: Node, wanted: str) -> Node:
    if wanted == "whole":
        _places(name, node)
        return node
    constant_text = isinstance(node, Constant) and node.type == STRING
    if wanted == "text" and not constant_text:
        raise Refusal(f"{name}() takes a word between quotes here")
    if wanted == "any" and not node.type.scalar:
        raise Refusal(f"{name}() does not take a {node.type}")
    if wanted in ("any", "text"):
        return node
    accepted = node.type.numeric if wanted == "double" else node.type in _ACCEPTED[wanted]
    if not (accepted or node.type == VOID or (constant_text and wanted in ("date", "timestamp"))):
        raise Refusal(f"{name}() takes a {wanted} here, not a {node.type}", "convert it with CAST")
    return coerce(node, parse_type(wanted))


def _places(name: str, node: Node) -> int:
    if isinstance(node, Constant) and node.type == INT and isinstance(node.key, int) and abs(node.key) <= 10_000:
        return node.key
    raise Refusal(f"{name}() takes a small whole number here, not an expression")


def _number(name: str, node: Node) -> Node:
    if not node.type.numeric:
        raise Refusal(f"{name}() takes a number, not a {node.type}")
    return node


def _absolute(node: Node) -> Node:
    kind = _number("abs", node).type
    check_digits("abs()", kind)
    return Call("abs", (node,), kind, Nulls.ANY_OR_FAILED if kind in INTEGRAL else Nulls.ANY)


def _to_whole(name: str, node: Node) -> Node:
    kind = _number(name, node).type
    if kind.name == "decimal":
        result = kind if kind.scale == 0 else decimal(kind.precision - kind.scale + 1)
        return Call(name, (node,), result, Nulls.ANY_OR_FAILED)
    return Call(name, (coerce(node, BIGINT if kind in INTEGRAL else DOUBLE),), BIGINT, Nulls.ANY)


def _rounded(name: str, node: Node, places: Node = _ZERO) -> Node:
    kind = _number(name, node).type
    scale = _places(name, places)
    if kind.name == "decimal":
        whole = kind.precision - kind.scale + 1
        after = max(0, min(kind.scale, scale))
        kind = decimal(max(whole, 1 - scale) + after, after)
        check_digits(f"{name}()", kind)
    total = kind in (DOUBLE, parse_type("float"))
    return Call(name, (node, places), kind, Nulls.ANY if total else Nulls.ANY_OR_FAILED)


def _positive_modulo(left: Node, right: Node) -> Node:
    remainder = arithmetic("%", left, right)
    if not isinstance(remainder, Call):
        raise TypeError("a remainder is a call")
    return Call("pmod", remainder.arguments, remainder.type, Nulls.ANY_OR_FAILED)


def _extreme(name: str, *nodes: Node) -> Node:
    same = together(nodes, name)
    if same[0].type == BOOLEAN:
        raise Refusal(f"{name}() does not take a {BOOLEAN}", "use OR, or AND")
    return Call(name, tuple(same), same[0].type, Nulls.ALL)


def _condition(node: Node) -> Condition:
    if node.type not in (BOOLEAN, VOID):
        raise Refusal(f"if() takes a condition, not a {node.type}")
    return flag(node)


def _is_nan(node: Node) -> Condition:
    not_a_number = Constant(DOUBLE, INFINITY[DOUBLE] + 1)
    return is_true(comparison("=", coerce(_number("isnan", node), DOUBLE), not_a_number))


def _null_if(one: Node, other: Node) -> Node | Condition:
    return choice([comparison("=", one, other)], [Constant(one.type, None)], one)


_FREE: dict[str, tuple[int, int | None, _Builder]] = {
    "abs": (1, 1, _absolute),
    "bround": (1, 2, partial(_rounded, "bround")),
    "ceil": (1, 1, partial(_to_whole, "ceil")),
    "coalesce": (1, None, lambda *nodes: first_present(nodes)),
    "floor": (1, 1, partial(_to_whole, "floor")),
    "greatest": (2, None, partial(_extreme, "greatest")),
    "if": (3, 3, lambda test, one, other: choice([_condition(test)], [one], other)),
    "ilike": (2, 2, partial(pattern_match, "ilike")),
    "isnan": (1, 1, _is_nan),
    "isnotnull": (1, 1, lambda node: negated(null_test(node))),
    "isnull": (1, 1, null_test),
    "least": (2, None, partial(_extreme, "least")),
    "like": (2, 2, partial(pattern_match, "like")),
    "mod": (2, 2, partial(arithmetic, "%")),
    "negative": (1, 1, negative),
    "nullif": (2, 2, _null_if),
    "nvl2": (3, 3, lambda test, one, other: choice([negated(null_test(test))], [one], other)),
    "pmod": (2, 2, _positive_modulo),
    "positive": (1, 1, partial(_number, "positive")),
    "rlike": (2, 2, partial(pattern_match, "rlike")),
    "round": (1, 2, partial(_rounded, "round")),
    "to_date": (1, 1, lambda node: cast(node, DATE)),
    "to_timestamp": (1, 1, lambda node: cast(node, TIMESTAMP)),
    "try_add": (2, 2, partial(arithmetic, "+")),
    "try_divide": (2, 2, partial(arithmetic, "/")),
    "try_mod": (2, 2, partial(arithmetic, "%")),
    "try_multiply": (2, 2, partial(arithmetic, "*")),
    "try_subtract": (2, 2, partial(arithmetic, "-")),
}


def _cast_to(kind: Type) -> _Builder:
    return lambda node: cast(node, kind)


for _kind in (*INTEGRAL, parse_type("float"), DOUBLE, parse_type("decimal"), STRING, BOOLEAN, DATE, TIMESTAMP):
    _FREE[_kind.name] = (1, 1, _cast_to(_kind))
for _name, (_least, _most) in REGIONS.items():
    _FREE[_name] = (_least, _most, partial(region_condition, _name))
