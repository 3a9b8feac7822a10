"""Digests of rows, as SQL: equal for rows that SQL's DISTINCT takes for equal, and different for all others.

Each value is written as a text that ends by its own rules, so that no two rows have the same text. NULL equals NULL,
NaN equals NaN, and -0.0 equals 0.0, also within arrays and structs; a map is the set of its entries.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from pyspark.sql import types

from provenn.criteria.literals import quote_string
from provenn.spark.columns import quote_name

__all__ = ["needs_exact_order", "write_row_digest", "write_row_text"]

_NULL = "'N'"


def write_row_digest(fields: Sequence[types.StructField], names: Sequence[str]) -> str:
    """Return SQL for the digest of a row, in 64 hexadecimal digits.

    Parameters
    ----------
    fields
        The columns.
    names
        The names of the columns for people; they are part of the digest, and so are the types.
    """
    kinds = [field.dataType.simpleString() for field in fields]
    header = json.dumps([*zip(names, kinds, strict=True)], ensure_ascii=True)
    return f"sha2(CAST(concat({quote_string(header)}, {write_row_text(fields)}) AS BINARY), 256)"


def write_row_text(fields: Sequence[types.StructField], *, is_exact: bool = False) -> str:
    """Return SQL for a text of the values of a row.

    Parameters
    ----------
    fields
        The columns.
    is_exact
        Whether -0.0 differs from 0.0, and a map from another map with the same entries in another order.
    """
    values = (_write_value(quote_name(field.name), field.dataType, 0, is_exact=is_exact) for field in fields)
    return f"concat({', '.join(values)})"


def needs_exact_order(kind: types.DataType) -> bool:
    """Return whether equal values of a type may still be told apart."""
    match kind:
        case types.FloatType() | types.DoubleType() | types.MapType():
            return True
        case types.ArrayType():
            return needs_exact_order(kind.elementType)
        case types.StructType():
            return any(needs_exact_order(field.dataType) for field in kind.fields)
    return False


def _write_value(value: str, kind: types.DataType, depth: int, *, is_exact: bool) -> str:
    """Return SQL for the text of a value, which is never NULL; variables of inner functions are numbered by depth."""
    item = f"item{depth}"
    match kind:
        case types.NullType():
            return _NULL
        case types.ArrayType():
            inner = _write_value(item, kind.elementType, depth + 1, is_exact=is_exact)
            text = _write_list(f"transform({value}, {item} -> {inner})")
        case types.MapType():
            entry = [
                _write_value(f"{item}.{part}", inner_kind, depth + 1, is_exact=is_exact)
                for part, inner_kind in (("key", kind.keyType), ("value", kind.valueType))
            ]
            entries = f"transform(map_entries({value}), {item} -> concat({', '.join(entry)}))"
            text = _write_list(entries if is_exact else f"array_sort({entries})")
        case types.StructType():
            fields = (
                _write_value(f"{value}.{quote_name(field.name)}", field.dataType, depth, is_exact=is_exact)
                for field in kind.fields
            )
            text = f"concat('S', {', '.join(fields) or quote_string('')})"
        case _:
            plain = _write_scalar(value, kind, is_exact=is_exact)
            text = f"concat(octet_length({plain}), ':', {plain})"
    return f"CASE WHEN {value} IS NULL THEN {_NULL} ELSE {text} END"


def _write_list(texts: str) -> str:
    return f"concat('A', size({texts}), ':', array_join({texts}, ''))"


def _write_scalar(value: str, kind: types.DataType, *, is_exact: bool) -> str:
    """Return SQL for the text of a single value: different values have different texts, in every version of Java."""
    match kind:
        case types.FloatType() | types.DoubleType():
            number = f"CAST({value} AS DOUBLE)"
            # Java writes hexadecimal digits of floating-point numbers, which are exact.
            written = f"format_string('%a', {number})"
            return written if is_exact else f"CASE WHEN {value} = 0 THEN '0' ELSE {written} END"
        case types.BinaryType():
            return f"hex({value})"
        case types.TimestampType():
            return f"CAST(unix_micros({value}) AS STRING)"
        case types.DateType():
            return f"CAST(unix_date({value}) AS STRING)"
    return f"CAST({value} AS STRING)"
