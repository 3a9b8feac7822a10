"""Evaluate criteria on the values of a row as Spark does, or not at all.

Only operations with a certain result are evaluated: comparisons, choices, casts and arithmetic as in
`provenn.criteria.folding`, and regions away from their borders. All others raise `Uncertain`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache

from provenn.criteria.domains import decode_number, get_domain
from provenn.criteria.folding import evaluate
from provenn.criteria.nodes import Call, ColumnNode, Condition, Constant, Junction, Leaf, Node, Nulls, Test, Truth
from provenn.criteria.schema import AttributeIdentity
from provenn.criteria.types import BOOLEAN, DOUBLE, INTEGRAL, ORDER
from provenn.criteria.writing import read_region_constant
from provenn.errors import ProvennError
from provenn.sky import FUNCTIONS as REGIONS
from provenn.sky import Region, is_inside, region_of

__all__ = ["Applying", "RowValues", "Uncertain", "apply_certain", "evaluate_condition", "evaluate_node"]

RowValues = Mapping[AttributeIdentity, Constant]
"""The values of the attributes of a row."""

Applying = Callable[[Call, tuple[Constant, ...]], Constant]
"""A function that returns the value of a call of constants, or raises `Uncertain`."""


class Uncertain(Exception):  # noqa: N818 - no failure: the value is not known
    """The value of an expression is not certain."""


def apply_certain(call: Call, arguments: tuple[Constant, ...]) -> Constant:
    """Return the value of a call of constants, as Spark computes it.

    Raises
    ------
    Uncertain
        If the value is not certain.
    """
    if call.operator in _APPLIED:
        return _APPLIED[call.operator](call, arguments)
    if call.operator in REGIONS:
        return _locate(call.operator, arguments)
    constant = evaluate(Call(call.operator, arguments, call.type, call.nulls))
    if constant is None or constant.type != call.type:
        raise Uncertain
    return constant


def evaluate_condition(condition: Condition, values: RowValues, apply: Applying = apply_certain) -> bool | None:
    """Return whether a condition is TRUE, FALSE or NULL on a row; `apply` returns the values of calls.

    Raises
    ------
    Uncertain
        If that is not certain.
    """
    match condition:
        case Truth(value):
            return value
        case Leaf(term, where, at_null):
            key = evaluate_node(term, values, apply).key
            return at_null if key is None else key in where
        case Junction(operator, parts):
            return _join_truths(parts, values, apply, deciding=operator == "OR")


def _join_truths(parts: tuple[Condition, ...], values: RowValues, apply: Applying, *, deciding: bool) -> bool | None:
    """Return the truth of a junction: TRUE decides an OR, FALSE an AND, whatever the other parts are."""
    truths: list[bool | None] = []
    is_certain = True
    for part in parts:
        try:
            truths.append(evaluate_condition(part, values, apply))
        except Uncertain:
            is_certain = False
    if deciding in truths:
        return deciding
    if not is_certain:
        raise Uncertain
    return None if None in truths else not deciding


def evaluate_node(node: Node, values: RowValues, apply: Applying = apply_certain) -> Constant:
    """Return the value of a node on a row; `apply` returns the values of calls.

    Raises
    ------
    Uncertain
        If the value is not certain.
    """
    match node:
        case Constant():
            return node
        case ColumnNode(identity):
            if identity not in values:
                raise Uncertain
            return values[identity]
        case Test(condition):
            return _build_truth(evaluate_condition(condition, values, apply))
        case Call("case", (*branches, otherwise)):
            return _choose_branch(branches, otherwise, values, apply)
        case Call("coalesce", arguments):
            candidates = (evaluate_node(argument, values, apply) for argument in arguments)
            return next((constant for constant in candidates if constant.key is not None), Constant(node.type, None))
    constants = tuple(evaluate_node(argument, values, apply) for argument in node.arguments)
    if node.nulls in (Nulls.ANY, Nulls.ANY_OR_FAILED) and any(constant.key is None for constant in constants):
        return Constant(node.type, None)
    return apply(node, constants)


def _build_truth(value: bool | None) -> Constant:
    """Return a truth as a constant; the key of TRUE comes first."""
    return Constant(BOOLEAN, None if value is None else int(not value))


def _choose_branch(branches: list[Node], otherwise: Node, values: RowValues, apply: Applying) -> Constant:
    """Return the value of a CASE."""
    for test, value in zip(branches[::2], branches[1::2], strict=True):
        if evaluate_node(test, values, apply).key == 0:
            return evaluate_node(value, values, apply)
    return evaluate_node(otherwise, values, apply)


def _compare(_call: Call, arguments: tuple[Constant, ...]) -> Constant:
    left, right = arguments
    if left.type != right.type or get_domain(left.type) is None or left.key is None or right.key is None:
        raise Uncertain
    if left.type == BOOLEAN:  # the only type whose keys are in the reverse order: TRUE is greater
        left, right = right, left
    return Constant(ORDER, 1 + (left.key > right.key) - (left.key < right.key))  # type: ignore[operator] # keys of one type


def _find_extreme(call: Call, arguments: tuple[Constant, ...]) -> Constant:
    keys = [argument.key for argument in arguments if argument.key is not None]
    if any(argument.type != call.type for argument in arguments) or get_domain(call.type) is None:
        raise Uncertain
    choose: Callable[..., int | str] = max if (call.operator == "greatest") != (call.type == BOOLEAN) else min
    return Constant(call.type, choose(keys) if keys else None)


def _find_absolute(call: Call, arguments: tuple[Constant, ...]) -> Constant:
    key, within = arguments[0].key, get_domain(call.type)
    if not isinstance(key, int) or within is None or within.highest is None or call.type not in (DOUBLE, *INTEGRAL):
        raise Uncertain
    return Constant(call.type, abs(key) if abs(key) <= within.highest else None)


def _find_remainder(call: Call, arguments: tuple[Constant, ...]) -> Constant:
    """Return the remainder of whole numbers, with the sign of the dividend, or not negative for ``pmod``."""
    dividend, divisor = (argument.key for argument in arguments)
    if not isinstance(dividend, int) or not isinstance(divisor, int) or call.type not in INTEGRAL:
        raise Uncertain
    if divisor == 0:
        return Constant(call.type, None)
    if call.operator == "pmod" and divisor < 0:
        raise Uncertain
    remainder = abs(dividend) % abs(divisor)
    if dividend < 0:
        remainder = divisor - remainder if call.operator == "pmod" and remainder else -remainder
    return Constant(call.type, remainder)


_APPLIED: dict[str, Callable[[Call, tuple[Constant, ...]], Constant]] = {
    "%": _find_remainder,
    "abs": _find_absolute,
    "compare": _compare,
    "greatest": _find_extreme,
    "least": _find_extreme,
    "pmod": _find_remainder,
}


def _locate(function: str, arguments: tuple[Constant, ...]) -> Constant:
    """Return whether a position lies in a region, away from its border."""
    ra, dec = (
        float(decode_number(DOUBLE, argument.key)) if argument.type == DOUBLE and argument.key is not None else math.nan
        for argument in arguments[:2]
    )
    if not (math.isfinite(ra) and -90 <= dec <= 90):
        if any(argument.type != DOUBLE for argument in arguments[:2]):
            raise Uncertain
        return _build_truth(value=False)
    try:
        region = _build_region(function, tuple(read_region_constant(constant) for constant in arguments[2:]))
    except ProvennError:
        raise Uncertain from None
    inside = is_inside(region, ra, dec)
    if inside is None:
        raise Uncertain
    return _build_truth(inside)


@lru_cache(maxsize=1000)
def _build_region(function: str, constants: tuple[float | str, ...]) -> Region:
    return region_of(function, constants)
