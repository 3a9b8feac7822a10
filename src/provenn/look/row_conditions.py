"""Conditions on the rows of Arrow tables: which rows fulfil a comparison of a column with constants.

Only conditions on single columns, positions (`provenn.look.sky_conditions`) and arithmetic (`provenn.look.term_values`)
are evaluated. The criteria have turned every comparison into ranges between cuts ``column < value`` in the type of the
column (`provenn.criteria.domains`), so each type needs a single operation. Spark orders NaN above all numbers:
``x < 5`` is false for NaN in Spark and in Arrow, and every other comparison is made from such cuts, so NaN needs care
only where it is the cut itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from provenn.criteria import AttributeIdentity, Type
from provenn.criteria.domains import INFINITY, Key, decode_number
from provenn.criteria.nodes import Call, ColumnNode, Condition, Junction, Leaf, Node, Truth
from provenn.criteria.ranges import Ranges
from provenn.criteria.types import BOOLEAN, DATE, DOUBLE, FLOAT, INTEGRAL, STRING, TIMESTAMP, TIMESTAMP_NTZ
from provenn.look.arrow_tables import find_result_type
from provenn.look.refusal import NeedsSpark
from provenn.look.suitability import REGIONS, is_listed, list_points

__all__ = ["Mask", "compute_column", "filter_rows", "find_true_rows"]

Mask = Any
"""A NumPy array of truth values, one for each row."""


def find_true_rows(condition: Condition, rows: int, get_column: Callable[[AttributeIdentity], Any]) -> Mask:
    """Return in which rows a checked condition is TRUE.

    Parameters
    ----------
    condition
        The condition, for which `provenn.look.suitability.check_condition` raises nothing.
    rows
        The number of rows.
    get_column
        Returns the values of an attribute as an array of Arrow, in the type of `find_result_type`.
    """
    if rows == 0:  # an array without values may have no buffer
        return np.zeros(0, dtype=bool)
    match condition:
        case Truth(value):
            return np.full(rows, value is True)
        case Junction(operator, parts):
            # NOT is pushed down to the leaves, so a junction is TRUE as far as its parts are.
            join = np.logical_and if operator == "AND" else np.logical_or
            return join.reduce([find_true_rows(part, rows, get_column) for part in parts])
        case Leaf(ColumnNode(identity=identity, type=kind), where, at_null):
            return _find_leaf_rows(get_column(identity), kind, where, is_null_true=at_null is True)
        case Leaf(Call(operator) as call, where, at_null) if operator in REGIONS:
            return _find_region_rows(call, get_column, where, is_null_true=at_null is True)
        case Leaf(Call() as term, where, at_null) if term.type == DOUBLE:
            return _find_computed_rows(term, rows, get_column, where, is_null_true=at_null is True)
    raise NeedsSpark("a criterion is not a comparison of an attribute with constants")


def compute_column(term: Node, rows: int, get_column: Callable[[AttributeIdentity], Any]) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the values of a term as an array of Arrow; `provenn.look.suitability.is_exact_term` holds for it."""
    from provenn.look.term_values import compute_term  # noqa: PLC0415 - few plans compute

    values = compute_term(term, rows, lambda node: _read_coordinate(node, get_column))
    numbers, bits = np.ascontiguousarray(values.numbers), np.packbits(values.valid, bitorder="little")
    buffers = [pa.py_buffer(bits.tobytes()), pa.py_buffer(numbers.tobytes())]
    return pa.Array.from_buffers(pa.float64(), rows, buffers)


def filter_rows(table: pa.Table, mask: Mask) -> pa.Table:
    """Return the rows of a table that a mask selects."""
    bits = pa.py_buffer(np.packbits(mask, bitorder="little").tobytes())  # pa.array() would import pandas
    return table.filter(pa.BooleanArray.from_buffers(pa.bool_(), len(mask), [None, bits]))


def _find_leaf_rows(values: Any, kind: Type, where: Ranges, *, is_null_true: bool) -> Mask:  # noqa: ANN401 - pyarrow has no types
    """Return which values lie in ranges; NULL lies in none, unless `is_null_true`."""
    array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    valid = _make_mask(array.is_valid())
    inside = valid & _find_range_rows(array, kind, where)
    return inside | ~valid if is_null_true else inside


def _find_region_rows(
    call: Call, get_column: Callable[[AttributeIdentity], Any], where: Ranges, *, is_null_true: bool
) -> Mask:
    """Return for which positions a condition on a region is TRUE; it is NULL where a coordinate is NULL."""
    from provenn.look.sky_conditions import find_inside_rows  # noqa: PLC0415 - few conditions have regions

    (ra, has_ra), (dec, has_dec) = (_read_coordinate(node, get_column) for node in call.arguments[:2])
    valid = has_ra & has_dec
    inside = find_inside_rows(call, np.where(valid, ra, np.nan), np.where(valid, dec, np.nan))
    result = valid & np.where(inside, 0 in where, 1 in where)  # the key of TRUE is 0
    return result | ~valid if is_null_true else result


def _find_computed_rows(
    term: Call, rows: int, get_column: Callable[[AttributeIdentity], Any], where: Ranges, *, is_null_true: bool
) -> Mask:
    """Return for which rows a computed value lies in ranges; NULL lies in none, unless `is_null_true`.

    Raises
    ------
    NeedsSpark
        If a value is so near to the end of a range that Spark's value may lie on the other side.
    """
    from provenn.look.term_values import compute_term  # noqa: PLC0415 - few conditions compute

    values = compute_term(term, rows, lambda node: _read_coordinate(node, get_column))

    def check_doubts(is_unclear: Mask) -> None:
        if (is_unclear & values.valid).any():
            raise NeedsSpark("the rounding of Spark decides about a source")

    def find_lower(cut: Key) -> Mask:
        if cut == INFINITY[DOUBLE] + 1:
            return ~np.isnan(values.numbers)
        end = float(decode_number(DOUBLE, cut))
        with np.errstate(all="ignore"):
            check_doubts((values.doubts > 0) & ~(np.abs(values.numbers - end) > values.doubts))
        return values.numbers < end

    check_doubts(np.isinf(values.doubts))  # whether it is NULL or NaN
    result = np.zeros(rows, dtype=bool)
    for low, high in where.intervals():
        inside = np.ones(rows, dtype=bool) if high is None else find_lower(high)
        result |= inside if low is None else inside & ~find_lower(low)
    result &= values.valid
    return result | ~values.valid if is_null_true else result


def _read_coordinate(node: Node, get_column: Callable[[AttributeIdentity], Any]) -> tuple[Any, Mask]:
    """Return the values of a coordinate as doubles, and which of them are not NULL."""
    match node:
        case ColumnNode(identity=identity, type=kind) | Call(arguments=(ColumnNode(identity=identity, type=kind),)):
            values = get_column(identity)
            array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
            if not len(array):  # an array without values may have no buffer
                return np.zeros(0), np.zeros(0, dtype=bool)
            return _view_numbers(array, kind).astype(np.float64), _make_mask(array.is_valid())
    raise NeedsSpark("a coordinate is not an attribute")


def _find_range_rows(values: Any, kind: Type, where: Ranges) -> Mask:  # noqa: ANN401 - pyarrow has no types
    """Return which values lie in ranges; the result for NULL does not matter."""
    if kind == BOOLEAN:  # the key of TRUE is 0
        return np.where(_make_mask(values), 0 in where, 1 in where)
    points = list_points(where) if len(where.cuts) > 2 and is_listed(kind) else None
    if points:
        return _find_listed_rows(values, kind, points)
    result = np.zeros(len(values), dtype=bool)
    for low, high in where.intervals():
        inside = np.ones(len(values), dtype=bool) if high is None else _find_lower_rows(values, kind, high)
        if low is not None:
            inside &= ~_find_lower_rows(values, kind, low)
        result |= inside
    return result


def _find_lower_rows(values: Any, kind: Type, cut: Key) -> Mask:  # noqa: ANN401 - pyarrow has no types
    """Return which values lie below a cut; the result for NULL does not matter."""
    if isinstance(cut, str):
        return _make_mask(pc.less(values, _make_texts([cut])[0]))
    if kind.name == "decimal":
        return _make_mask(pc.less(values, pa.scalar(decode_number(kind, cut), find_result_type(kind))))
    numbers = _view_numbers(values, kind)
    if kind in INFINITY and cut == INFINITY[kind] + 1:
        return ~np.isnan(numbers)
    return numbers < numbers.dtype.type(decode_number(kind, cut) if kind in INFINITY else cut)


def _find_listed_rows(values: Any, kind: Type, points: list[Key]) -> Mask:  # noqa: ANN401 - pyarrow has no types
    """Return which values are listed; the result for NULL does not matter."""
    if kind == STRING:
        return _make_mask(pc.is_in(values, value_set=_make_texts([str(point) for point in points])))
    numbers = _view_numbers(values, kind)
    return np.isin(numbers, np.array(points, dtype=numbers.dtype))


# -- arrays of Arrow as arrays of NumPy, and back, without pandas, which pyarrow's own functions import ---------------


def _make_mask(truths: Any) -> Mask:  # noqa: ANN401 - pyarrow has no types
    """Return truth values of Arrow as a mask; the result for NULL does not matter."""
    numbers = truths.cast(pa.uint8())
    return np.frombuffer(numbers.buffers()[1], np.uint8, len(numbers), numbers.offset) != 0


def _view_numbers(values: Any, kind: Type) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return numbers, days or microseconds as an array of NumPy."""
    dtype = np.dtype(_NUMBERS[kind])
    return np.frombuffer(values.buffers()[1], dtype, len(values), values.offset * dtype.itemsize)


_NUMBERS = {
    **dict(zip(INTEGRAL, (np.int8, np.int16, np.int32, np.int64), strict=True)),
    FLOAT: np.float32,
    DOUBLE: np.float64,
    DATE: np.int32,
    TIMESTAMP: np.int64,
    TIMESTAMP_NTZ: np.int64,
}


def _make_texts(texts: list[str]) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return texts as an array of Arrow."""
    parts = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, parts)]).astype(np.int32)
    return pa.StringArray.from_buffers(len(parts), pa.py_buffer(ends.tobytes()), pa.py_buffer(b"".join(parts)))
