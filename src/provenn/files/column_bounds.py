"""Bounds of the values of columns, as far as files state them of themselves: they hold for every row, or say nothing.

The footer of a Parquet file states the lowest and the highest value of a column in each row group, and how many values
are missing; the names of folders state the values of partition columns. A value is bounded in the order in which Spark
compares it, as a key of `provenn.criteria.domains`.

Silence is no bound. Not bounded are: a row group without statistics; NaN, which writers leave out; moments in 96 bits,
whose order is undefined; days before 1582-10-15 and moments before 1900, which Spark may shift to another calendar;
texts that are no UTF-8; and columns that are converted after they are read. A long text may be cut off: it bounds all
texts that begin with it. Unsigned and decimal numbers are compared as the numbers that they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

from provenn.criteria import Type
from provenn.criteria.domains import INFINITY, Key, encode_double, encode_float, get_domain, successor
from provenn.digests import canonical_json, content_digest

__all__ = [
    "BOUNDS",
    "PARTS",
    "PIXELS",
    "ColumnBounds",
    "bound_chunk",
    "bound_folder_values",
    "decode_bounds",
    "encode_bounds",
    "find_bounded_place",
    "join_bounds",
    "open_bounds",
    "read_parquet_bounds",
    "seal_bounds",
]

BOUNDS: Final = "bounds"
"""The note of a base catalog that holds the bounds of its columns."""

PIXELS: Final = ""
"""The name, which no column has, under which bounds hold the pixels of a folder in HATS and its position columns."""

PARTS: Final = "\x1fparts of "
"""The start of the name, which no column has, under which each file has its part of the sky; a core follows."""

_MOST_COLUMNS: Final = 1_000
"""How many columns of a base have bounds: the first."""

_LONGEST_TEXT: Final = 200
"""The most characters of a text that bounds a column: a longer text says nothing."""

_CUT_BYTES: Final = 16
"""The bytes from which on a text may be cut off: no program keeps fewer."""

_FIRST_DAY: Final = -141_427
"""1582-10-15, the first day of the Gregorian calendar, in days since 1970."""

_FIRST_MOMENT: Final = -2_208_988_800_000_000
"""1900-01-01, from which on Spark never shifts a moment, in microseconds since 1970."""

_MICROSECONDS: Final = {"milliseconds": 1_000, "microseconds": 1}
_LAST_CODE_POINT: Final = 0x10FFFF


@dataclass(frozen=True, slots=True)
class ColumnBounds:
    """Bounds of the values of a column that hold for every row.

    Parameters
    ----------
    low
        A key that no value lies below; None if unknown.
    end
        A key that every value lies below, except NaN; None if unknown.
    has_nulls
        Whether a row may have no value.
    has_values
        Whether a row may have a value.
    """

    low: Key | None = None
    end: Key | None = None
    has_nulls: bool = True
    has_values: bool = True

    @property
    def is_silent(self) -> bool:
        """Whether nothing is known."""
        return self == ColumnBounds()

    def __add__(self, other: ColumnBounds) -> ColumnBounds:
        """Return the bounds of two parts of a column together; a part without values does not matter to the ends."""
        valued = [part for part in (self, other) if part.has_values]
        lows = [part.low for part in valued if part.low is not None]
        ends = [part.end for part in valued if part.end is not None]
        is_low_known, is_end_known = 0 < len(valued) == len(lows), 0 < len(valued) == len(ends)
        return ColumnBounds(
            min(lows) if is_low_known else None,  # the keys of a column have a single type
            max(ends) if is_end_known else None,
            self.has_nulls or other.has_nulls,
            self.has_values or other.has_values,
        )


_NO_ROWS: Final = ColumnBounds(has_nulls=False, has_values=False)


def read_parquet_bounds(opened: Any, name: str, kind: Type) -> ColumnBounds:  # noqa: ANN401 - pyarrow has no types
    """Return the bounds of a column of an open Parquet file.

    Parameters
    ----------
    opened
        The file, opened by pyarrow.
    name
        The name of the column in the file, whose values are read as they are stored.
    kind
        The type in which Spark reads the column.
    """
    place = find_bounded_place(opened.schema, name, kind)
    if place is None:
        return ColumnBounds()
    leaf = opened.schema.column(place)
    groups = (opened.metadata.row_group(number) for number in range(opened.metadata.num_row_groups))
    return reduce(ColumnBounds.__add__, (bound_chunk(group.column(place), leaf, kind) for group in groups), _NO_ROWS)


def find_bounded_place(schema: Any, name: str, kind: Type) -> int | None:  # noqa: ANN401 - pyarrow has no types
    """Return the place of a column among the leaves of a Parquet schema; None if the column cannot have bounds."""
    places = [place for place in range(len(schema)) if schema.column(place).path == name]
    if len(places) != 1 or schema.column(places[0]).max_repetition_level or get_domain(kind) is None:
        return None
    return places[0]


def bound_chunk(chunk: Any, leaf: Any, kind: Type) -> ColumnBounds:  # noqa: ANN401 - pyarrow has no types
    """Return the bounds of a column in a row group.

    Parameters
    ----------
    chunk
        The column in the footer's description of the row group.
    leaf
        The column in the Parquet schema.
    kind
        The type in which Spark reads the column.
    """
    if not chunk.num_values:
        return _NO_ROWS
    stated, is_required = chunk.statistics, leaf.max_definition_level == 0
    if stated is None:
        return ColumnBounds(has_nulls=not is_required)
    nulls = 0 if is_required else stated.null_count if stated.has_null_count else None
    if nulls == chunk.num_values:
        return ColumnBounds(has_values=False)
    low, end = _read_ends(stated, leaf, kind) if stated.has_min_max else (None, None)
    return ColumnBounds(low, end, has_nulls=nulls != 0)


def _read_ends(stated: Any, leaf: Any, kind: Type) -> tuple[Key | None, Key | None]:  # noqa: ANN401 - pyarrow has no types
    """Return the key that no value of a row group lies below, and a key that every value lies below."""
    low, high = (_encode_value(raw, leaf, kind) for raw in (stated.min_raw, stated.max_raw))
    if kind.name == "boolean":
        low, high = high, low  # TRUE comes first among the keys, and last in Parquet
    domain = get_domain(kind)
    if low is None or high is None or low > high or domain is None:  # type: ignore[operator] # a single type
        return None, None
    if low < domain.lowest or (domain.highest is not None and high > domain.highest):  # type: ignore[operator] # as above
        return None, None
    if isinstance(high, str) and len(stated.max_raw) >= _CUT_BYTES:
        return low, _find_end_of_prefix(high)
    return low, successor(high)


def _encode_value(raw: Any, leaf: Any, kind: Type) -> Key | None:  # noqa: ANN401 - pyarrow has no types
    """Return the key of a value in the statistics of a row group; None for a value whose order is not certain."""
    physical, logical = leaf.physical_type, json.loads(leaf.logical_type.to_json())
    match kind.name, physical, logical.get("Type"):
        case "tinyint" | "smallint" | "int" | "bigint", "INT32" | "INT64", "None" | "Int":
            return _read_integer(raw, physical, logical)
        case "decimal", "INT64", "Int" if kind.scale == 0 and not logical["isSigned"]:
            return _read_integer(raw, physical, logical)
        case "decimal", _, "Decimal" if (kind.precision, kind.scale) == (logical["precision"], logical["scale"]):
            return int.from_bytes(raw, "big", signed=True) if isinstance(raw, bytes) else int(raw)
        case "float", "FLOAT", "None":
            return _drop_nan(encode_float(raw), kind)
        case "double", "DOUBLE", "None":
            return _drop_nan(encode_double(raw), kind)
        case "date", "INT32", "Date":
            return int(raw) if raw >= _FIRST_DAY else None
        case "timestamp" | "timestamp_ntz", "INT64", "Timestamp" if logical["timeUnit"] in _MICROSECONDS:
            moment = int(raw) * _MICROSECONDS[logical["timeUnit"]]
            is_same_kind = logical["isAdjustedToUTC"] == (kind.name == "timestamp")
            return moment if is_same_kind and moment >= _FIRST_MOMENT else None
        case "string", "BYTE_ARRAY", "String":
            return _decode_text(raw)
        case "boolean", "BOOLEAN", "None":
            return int(not raw)
    return None


def _read_integer(raw: int, physical: str, logical: Mapping[str, Any]) -> int:
    """Return an integer from its stored form: an unsigned integer is stored in the bits of a signed one."""
    is_unsigned = logical.get("isSigned") is False
    return int(raw) % (1 << (32 if physical == "INT32" else 64)) if is_unsigned else int(raw)


def _drop_nan(key: int, kind: Type) -> int | None:
    return None if key > INFINITY[kind] else key


def _decode_text(raw: bytes) -> str | None:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if len(text) <= _LONGEST_TEXT else None


def _find_end_of_prefix(prefix: str) -> str | None:
    """Return the least text above all texts that begin with a prefix; None if there is none.

    >>> _find_end_of_prefix("M31"), _find_end_of_prefix("a" + chr(0x10FFFF)), _find_end_of_prefix("")
    ('M32', 'b', None)
    """
    kept = prefix.rstrip(chr(_LAST_CODE_POINT))
    if not kept:
        return None
    following = ord(kept[-1]) + 1
    return kept[:-1] + chr(0xE000 if following == 0xD800 else following)


def bound_folder_values(values: Iterable[str | None], kind: Type) -> ColumnBounds:
    """Return the bounds of a column whose values are in the names of folders: the column is constant in each file.

    Only plain ASCII is understood: programs differ in how a name of a folder spells any other text.

    Parameters
    ----------
    values
        The value for each file; None stands for NULL.
    kind
        The type of the column: integers or texts.
    """
    bounds = _NO_ROWS
    for value in values:
        if value is None:
            part = ColumnBounds(has_values=False)
        elif not value or not value.isascii() or not value.isprintable() or len(value) > _LONGEST_TEXT:
            part = ColumnBounds()
        else:
            key = value if kind.name == "string" else int(value)
            part = ColumnBounds(key, successor(key), has_nulls=False)
        bounds += part
    return bounds


def join_bounds(files: Sequence[Mapping[str, ColumnBounds]]) -> dict[str, ColumnBounds]:
    """Return the bounds of the columns that all files have, of all files together."""
    first, *others = files or [{}]
    return {
        name: sum((file[name] for file in others), bounds)
        for name, bounds in first.items()
        if all(name in file for file in others)
    }


def encode_bounds(bounds: Mapping[str, ColumnBounds]) -> tuple[tuple[str, str], ...]:
    """Return bounds in stored form: pairs of column and JSON text. Columns without bounds are left out."""
    known = [
        (name, canonical_json([column.low, column.end, column.has_nulls, column.has_values]))
        for name, column in bounds.items()
        if not column.is_silent
    ]
    return tuple(sorted(known[:_MOST_COLUMNS]))


def seal_bounds(files: str, bounds: Iterable[tuple[str, str]]) -> list[Any]:
    """Return the note of a base catalog with bounds in stored form, after a digest that shows later changes.

    Parameters
    ----------
    files
        The digest of the files.
    bounds
        The bounds in stored form.
    """
    pairs = [[name, text] for name, text in bounds]
    return [_compute_seal(files, pairs), *pairs]


def open_bounds(files: str, note: object) -> dict[str, str]:
    """Return the bounds in a note by column, in stored form; empty if the note was changed or has another form."""
    if not isinstance(note, list) or not note or note[0] != _compute_seal(files, note[1:]):
        return {}
    return dict(note[1:])


def _compute_seal(files: str, pairs: list[Any]) -> str:
    return content_digest("bounds of columns", [files, pairs])


def decode_bounds(text: str, kind: Type) -> ColumnBounds:
    """Return bounds from the stored form; a text that is no such form, or of another type, says nothing.

    >>> from provenn.criteria import parse_type
    >>> decode_bounds('["a","b",false,true]', parse_type("string"))
    ColumnBounds(low='a', end='b', has_nulls=False, has_values=True)
    >>> decode_bounds('["a","b",false,true]', parse_type("int")).is_silent
    True
    """
    try:
        low, end, has_nulls, has_values = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return ColumnBounds()
    domain = get_domain(kind)
    if domain is None or type(has_nulls) is not bool or type(has_values) is not bool:
        return ColumnBounds()
    if any(key is not None and type(key) is not type(domain.lowest) for key in (low, end)):
        return ColumnBounds()
    if low is not None and end is not None and low >= end:
        return ColumnBounds()
    return ColumnBounds(low, end, has_nulls, has_values)
