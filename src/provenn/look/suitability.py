"""What a look can read at all, as far as definitions show it: no file is opened, and pyarrow is not imported."""

from __future__ import annotations

from provenn.catalogs.base import Base
from provenn.criteria import Type
from provenn.criteria.domains import INFINITY, Key, encode_double, successor
from provenn.criteria.nodes import Call, ColumnNode, Condition, Constant, Junction, Leaf, Node
from provenn.criteria.ranges import Ranges
from provenn.criteria.types import BOOLEAN, DATE, DOUBLE, FLOAT, INTEGRAL, STRING, TIMESTAMP, TIMESTAMP_NTZ
from provenn.files.file_set import GIVEN
from provenn.look.refusal import NeedsSpark

__all__ = [
    "REGIONS",
    "check_base_kind",
    "check_condition",
    "is_exact_term",
    "is_listed",
    "is_number_term",
    "is_readable_type",
    "list_points",
]

REGIONS = frozenset({"in_box", "in_cone", "in_polygon"})
"""The functions of regions whose borders are measured here."""

_EXACT = frozenset({("+", 2), ("-", 2), ("*", 2), ("/", 2), ("-", 1), ("abs", 1), ("sqrt", 1)})
_FUNCTIONS = frozenset({("sin", 1), ("cos", 1), ("radians", 1), ("degrees", 1), ("atan2", 2)})
"""Operations on doubles by their number of arguments: with the same last bit everywhere, and others."""

_LARGEST_TERM = 200
"""The most parts of a term that is computed here."""

_MOST_INTERVALS = 100
"""The most intervals of a column that are compared one by one."""

_COMPARED = (*INTEGRAL, DATE, TIMESTAMP, TIMESTAMP_NTZ, STRING, BOOLEAN)


def check_base_kind(base: Base) -> None:
    """Make sure that the files of a base catalog are plain Parquet files, which are read as they are.

    Raises
    ------
    NeedsSpark
        If they are not.
    """
    files = base.files
    if files.format not in ("parquet", GIVEN):
        raise NeedsSpark(f"{files.location} is not Parquet")
    if files.options or files.partitions or files.row_key or files.table:
        raise NeedsSpark(f"{files.location} is not read as plain Parquet files")


def is_readable_type(kind: Type) -> bool:
    """Return whether columns of a type can be read here at all."""
    return kind in _COMPARED or kind in INFINITY or kind.name == "decimal"


def check_condition(condition: Condition) -> None:
    """Make sure that a condition only compares columns and arithmetic with constants, and positions with regions.

    Raises
    ------
    NeedsSpark
        If a part of the condition is something else.
    """
    match condition:
        case Junction(parts=parts):
            for part in parts:
                check_condition(part)
        case Leaf(ColumnNode(type=kind, name=name), where, _):
            if not is_readable_type(kind):
                raise NeedsSpark(f"values of {name} are not compared here: their type is {kind}")
            if len(where.cuts) > 2 * _MOST_INTERVALS and not (is_listed(kind) and list_points(where)):
                raise NeedsSpark(f"{name} is compared with very many values")
        case Leaf(Call(operator, arguments)) if operator in REGIONS and all(map(_is_coordinate, arguments[:2])):
            return
        case Leaf(Call() as term, where) if is_number_term(term) and len(where.cuts) <= 2 * _MOST_INTERVALS:
            return
        case Leaf():
            raise NeedsSpark("a criterion is not a comparison of an attribute with constants")


def is_exact_term(node: Node) -> bool:
    """Return whether a term is made of operations on doubles that are correctly rounded everywhere."""
    return node.type == DOUBLE and node.extent[0] <= _LARGEST_TERM and _is_made_of(node, _EXACT)


def is_number_term(node: Node) -> bool:
    """Return whether a term is made of operations on doubles whose difference from Spark is bounded."""
    return node.type == DOUBLE and node.extent[0] <= _LARGEST_TERM and _is_made_of(node, _EXACT | _FUNCTIONS)


def _is_made_of(node: Node, operations: frozenset[tuple[str, int]]) -> bool:
    match node:
        case Constant(type=kind, key=key):
            return kind == DOUBLE and key is not None
        case Call("pow", (base, Constant(type=kind, key=key))) if operations >= _FUNCTIONS:
            return kind == DOUBLE and key == encode_double(2.0) and _is_made_of(base, operations)
        case Call(operator, arguments, kind) if kind == DOUBLE and (operator, len(arguments)) in operations:
            return all(_is_made_of(argument, operations) for argument in arguments)
    return _is_coordinate(node)


def _is_coordinate(node: Node) -> bool:
    """Return whether a node is a column of numbers, as doubles: the conversion of Arrow is that of Spark."""
    match node:
        case ColumnNode(type=kind):
            return kind == DOUBLE
        case Call("coerce" | "cast", (ColumnNode(type=kind),), result):
            return kind in (*INTEGRAL, FLOAT) and result == DOUBLE
    return False


def is_listed(kind: Type) -> bool:
    """Return whether equality of values of a type is the same in Arrow, -0.0 and NaN being the exceptions."""
    return kind in (*INTEGRAL, DATE, STRING)


def list_points(where: Ranges) -> list[Key] | None:
    """Return the single values that make up ranges; None if the ranges have other values."""
    points: list[Key] = []
    for low, high in where.intervals():
        if low is None or high is None:
            return None
        key = low
        while key != high:
            if len(points) > len(where.cuts) * 2 or (isinstance(key, str) and successor(key) != high):
                return None
            points.append(key)
            key = successor(key)
    return points
