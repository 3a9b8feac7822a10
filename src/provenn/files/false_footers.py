"""Comparing the footers of Parquet files with their rows, because proofs believe footers.

Each row group is compared with what its own footer states: readers skip row groups by it, and proofs rest on all of
them together. Only columns that can have bounds are read, a few at a time and in batches of rows, so memory is bounded.
The values of rows are computed by pyarrow, not by the code that reads bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from provenn.batches import split_batches
from provenn.criteria import Type
from provenn.criteria.domains import Key, encode_double, encode_float
from provenn.errors import BaseFilesError
from provenn.files.column_bounds import ColumnBounds, bound_chunk, find_bounded_place
from provenn.files.listing import File
from provenn.files.parquet_columns import read_parquet_columns

__all__ = ["find_false_statements"]

_ROWS: Final = 1 << 16
_COLUMNS: Final = 16
_BUFFER: Final = 1 << 20
"""The bytes of a column that are read at once."""

_LONGEST: Final = 60
"""The most characters of a value in a description."""

_NANOSECONDS: Final = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_MILLISECONDS_A_DAY: Final = 86_400_000


def find_false_statements(file: File) -> list[str]:
    """Return the statements in the footer of a Parquet file that its rows contradict: one for each column at most.

    Raises
    ------
    BaseFilesError
        If the file cannot be read.
    """
    import pyarrow as pa  # noqa: PLC0415 - it takes a while to import, and only deep checks need it
    from pyarrow import parquet  # noqa: PLC0415

    with file.open() as stream:
        # Columns with a mask, or converted after they are read, have no bounds: nothing is believed of them.
        contents = read_parquet_columns(stream, file.name)
        kinds = {column.name: column.type for column in contents.columns if column.name in contents.bounds}
        stream.seek(0)
        try:
            opened = parquet.ParquetFile(stream, buffer_size=_BUFFER)
            places = {
                name: place
                for name, kind in kinds.items()
                if (place := find_bounded_place(opened.schema, name, kind)) is not None
            }
            columns = [_ColumnClaims(name, place, kinds[name]) for name, place in places.items()]
            for some in split_batches(columns, _COLUMNS):
                for group in range(opened.metadata.num_row_groups):
                    _compare_group(opened, group, some)
        except pa.ArrowException as error:
            raise BaseFilesError(
                f"the rows of {file.name} cannot be read: {error}", hint="restore the file, or write it again"
            ) from error
    return [column.problem for column in columns if column.problem]


@dataclass(slots=True)
class _ColumnClaims:
    """A column, and the first false statement about it."""

    name: str
    place: int
    kind: Type
    problem: str = field(default="")


def _compare_group(opened: Any, group: int, columns: Sequence[_ColumnClaims]) -> None:  # noqa: ANN401 - pyarrow has no types
    """Compare the rows of a row group with its footer, and note the first false statement about each column."""
    claims = {
        column.name: _GroupClaims(column, opened, group)
        for column in columns
        if not column.problem and opened.metadata.row_group(group).column(column.place).statistics is not None
    }
    if not claims:
        return
    for batch in opened.iter_batches(_ROWS, row_groups=[group], columns=list(claims)):
        for name, claim in claims.items():
            if batch.schema.names.count(name) == 1:
                claim.take(batch.column(name))
    for claim in claims.values():
        claim.column.problem = claim.describe_problem()


class _GroupClaims:
    """The statement of a footer about a column in a row group, and the values in its rows."""

    def __init__(self, column: _ColumnClaims, opened: Any, group: int) -> None:  # noqa: ANN401 - pyarrow has no types
        chunk = opened.metadata.row_group(group).column(column.place)
        self.column = column
        self._bounds = bound_chunk(chunk, opened.schema.column(column.place), column.kind)
        self._stated = chunk.statistics
        self._group = group
        self._rows = 0
        self._nulls = 0
        self._outside = ""

    def take(self, values: Any) -> None:  # noqa: ANN401 - pyarrow has no types
        """Compare some rows with the statement."""
        self._rows += len(values)
        self._nulls += values.null_count
        if not self._outside and (self._bounds.low is not None or self._bounds.end is not None):
            import pyarrow as pa  # noqa: PLC0415 - see below

            with suppress(pa.ArrowNotImplementedError):  # a type that pyarrow cannot compare shows nothing
                self._outside = next(_find_outside(values, self._bounds, self.column.kind), "")

    def describe_problem(self) -> str:
        """Return the contradiction between the statement and the rows that were taken; empty if there is none."""
        where = f"row group {self._group + 1}"
        if self._outside:
            return (
                f"its footer states that {self.column.name} lies {_describe_ends(self._stated)} in {where}, but a row "
                f"has {self._outside}"
            )
        if self._rows and self._stated.has_null_count and self._stated.null_count != self._nulls:
            return (
                f"its footer states that {self._stated.null_count:,} values of {self.column.name} are missing in "
                f"{where}, but {self._nulls:,} are"
            )
        return ""


def _find_outside(values: Any, bounds: ColumnBounds, kind: Type) -> Iterator[str]:  # noqa: ANN401 - pyarrow has no types
    """Yield the lowest and the highest of some values as texts, if it lies outside of bounds; NaN never does."""
    import pyarrow as pa  # noqa: PLC0415 - see above
    import pyarrow.compute as pc  # noqa: PLC0415

    plain = values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
    if kind.name == "string":  # bytes have Spark's order of texts, also if they are no UTF-8
        plain = plain.cast(pa.large_binary())
    elif pa.types.is_floating(plain.type):
        plain = plain.filter(pc.invert(pc.is_nan(plain)))
    elif pa.types.is_duration(plain.type):  # pyarrow does not compare these
        plain = plain.cast(pa.int64())
    ends = pc.min_max(plain)
    for value in (ends["min"], ends["max"]):
        if value.is_valid and _lies_outside(_encode_scalar(value, kind), bounds):
            yield _describe_value(value)


def _lies_outside(key: Key | bytes, bounds: ColumnBounds) -> bool:
    low, end = (limit.encode() if isinstance(limit, str) else limit for limit in (bounds.low, bounds.end))
    return (low is not None and key < low) or (end is not None and key >= end)  # type: ignore[operator] # a single type


def _encode_scalar(value: Any, kind: Type) -> Key | bytes:  # noqa: ANN401 - pyarrow has no types
    """Return the key of a value that pyarrow read; for a text, its bytes."""
    import pyarrow as pa  # noqa: PLC0415 - see above

    match kind.name:
        case "string":
            return bytes(value.as_py())
        case "boolean":
            return int(not value.as_py())
        case "float":
            return encode_float(value.as_py())
        case "double":
            return encode_double(value.as_py())
        case "decimal":
            return int(Fraction(value.as_py()) * 10**kind.scale)
        case "date":
            return int(value.value) // (_MILLISECONDS_A_DAY if pa.types.is_date64(value.type) else 1)
        case "timestamp" | "timestamp_ntz":
            return int(value.value) * _NANOSECONDS[value.type.unit] // 1_000
    return int(value.as_py())


def _describe_ends(stated: Any) -> str:  # noqa: ANN401 - pyarrow has no types
    """Return the range in the statistics of a row group in words; in their stored form if Python has no such values."""
    try:
        return f"from {_shorten(stated.min)} to {_shorten(stated.max)}"
    except (ArithmeticError, ValueError):
        return f"from {_shorten(stated.min_raw)} to {_shorten(stated.max_raw)}"


def _describe_value(value: Any) -> str:  # noqa: ANN401 - pyarrow has no types
    """Return a value of a row in words; in its stored form if Python has no such value."""
    try:
        return _shorten(value.as_py())
    except (ArithmeticError, ValueError):
        return _shorten(value.value)


def _shorten(value: object) -> str:
    text = value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
