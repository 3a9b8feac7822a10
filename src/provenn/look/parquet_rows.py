"""The rows of a Parquet file: some columns, in the types of their attributes, in batches.

A column is read only if its type in the file and the type of its attribute are a pair for which Spark's value is known.
Spark reads all others: nanoseconds and INT96, unsigned 64-bit integers, types of other programs, and nested values
other than arrays of numbers and of structs of numbers and texts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import IO, TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from provenn import deadline
from provenn.catalogs.population import key_position
from provenn.criteria import AttributeIdentity, Type
from provenn.criteria.types import DOUBLE, FLOAT
from provenn.look.allowance import Allowance
from provenn.look.array_types import parse_array_type
from provenn.look.arrow_tables import find_result_type
from provenn.look.refusal import NeedsSpark

if TYPE_CHECKING:
    from provenn.look.row_groups import RegionRows

__all__ = ["ReadColumn", "read_column_ranges", "read_parquet_rows"]

_STORED: Final[dict[str, tuple[Any, ...]]] = {
    "boolean": (pa.bool_(),),
    "tinyint": (pa.int8(),),
    "smallint": (pa.int16(), pa.uint8()),
    "int": (pa.int32(), pa.uint16()),
    "bigint": (pa.int64(), pa.uint32()),
    "float": (pa.float32(),),
    "double": (pa.float64(),),
    "string": (pa.string(), pa.large_string()),
    "date": (pa.date32(),),
}
"""The types of Arrow whose values Spark reads unchanged as values of a type."""

_LEGACY: Final = (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")
"""Keys in footers of Spark: its days before the year 1582 are those of another calendar."""

_VERSION: Final = b"org.apache.spark.version"
_FIRST_VERSION: Final = b"3.0.0"
"""The first Spark that writes days of today's calendar without these keys; versions are compared as Spark does."""


@dataclass(frozen=True, slots=True)
class ReadColumn:
    """A column to read.

    Parameters
    ----------
    name
        The name of the column in the file.
    identity
        The identity of the attribute, by which the column is named when it is read.
    type
        The type of the attribute.
    """

    name: str
    identity: AttributeIdentity
    type: Type


def read_parquet_rows(
    opened: IO[bytes],
    name: str,
    columns: Sequence[ReadColumn],
    allowance: Allowance,
    most: int,
    *,
    region: RegionRows | None = None,
) -> Iterator[pa.Table]:
    """Yield the rows of an open Parquet file, in tables of at most `most` rows; NULL and NaN are kept apart.

    Parameters
    ----------
    opened, name
        The file, and its name in reasons.
    columns
        The columns to read.
    allowance
        The bytes that may still be read.
    most
        The most rows of a table.
    region
        The rows that matter, if only those in a region do: row groups without such rows are not read.

    Raises
    ------
    NeedsSpark
        If a column cannot be read with certainty, if the file cannot be read, or if the allowance is used up.
    """
    with _refuse_failures(name):
        file = parquet.ParquetFile(opened, page_checksum_verification=True, pre_buffer=False)
        _check_footer(file, name, columns)
    names = list(dict.fromkeys(column.name for column in columns))
    wanted = set(names)
    for number in range(file.metadata.num_row_groups):
        group = file.metadata.row_group(number)
        if region is not None and not region.may_have(partial(_find_range, group, columns)):
            continue
        chunks = (group.column(place) for place in range(group.num_columns))
        size = sum(chunk.total_uncompressed_size for chunk in chunks if _belongs_to(chunk.path_in_schema, wanted))
        batches = file.iter_batches(most, row_groups=[number], columns=names)
        while True:
            deadline.check()
            share = size * min(most, group.num_rows) / max(1, group.num_rows)
            allowance.require_bytes(share)
            with _refuse_failures(name):
                batch = next(batches, None)
                if batch is None:
                    break
                table = pa.table(
                    [_convert_column(batch.column(column.name), column) for column in columns],
                    [column.identity for column in columns],
                )
            allowance.spend_bytes(max(share, table.nbytes))  # repeated values take little room in a file
            yield table


def read_column_ranges(opened: IO[bytes], name: str, columns: Sequence[str]) -> list[tuple[float, float] | None]:
    """Return the lowest and the highest number in columns of a Parquet file, NaN aside, by what its footer says.

    A column without such numbers in the footer has None, and so has a column whose values are no numbers.

    Raises
    ------
    NeedsSpark
        If the file cannot be read.
    """
    with _refuse_failures(name):
        metadata = parquet.ParquetFile(opened, pre_buffer=False).metadata
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        places = {metadata.schema.column(place).path: place for place in range(metadata.num_columns)}
        return [_join_ranges(groups, places[column]) if column in places else None for column in columns]


def _find_range(group: Any, columns: Sequence[ReadColumn], identity: AttributeIdentity) -> tuple[float, float] | None:  # noqa: ANN401 - pyarrow has no types
    """Return the lowest and the highest number of an attribute in a row group, NaN aside; None if it is not known."""
    names = {column.name for column in columns if column.identity == identity}
    for place in range(group.num_columns):
        if group.column(place).path_in_schema in names:
            return _join_ranges([group], place)
    return None


def _join_ranges(groups: Sequence[Any], place: int) -> tuple[float, float] | None:
    """Return the lowest and the highest number of a column in all row groups; None if one does not tell."""
    ranges = []
    for group in groups:
        stated = group.column(place).statistics
        if stated is None or not stated.has_min_max or not isinstance(stated.min, int | float):
            return None
        ranges.append((float(stated.min), float(stated.max)))
    if not ranges or any(math.isnan(number) for pair in ranges for number in pair):
        return None
    return min(low for low, _ in ranges), max(high for _, high in ranges)


def _check_footer(file: Any, name: str, columns: Sequence[ReadColumn]) -> None:  # noqa: ANN401 - pyarrow has no types
    """Make sure that the footer of a file has all columns, in types with a known meaning."""
    notes = file.metadata.metadata or {}
    is_old = notes.get(_VERSION, _FIRST_VERSION) < _FIRST_VERSION or any(key in notes for key in _LEGACY)
    if is_old or b"__CHAR_VARCHAR_TYPE_STRING" in b"".join(notes.values()):
        raise NeedsSpark(f"an old Spark wrote {name}, or pads its texts")
    schema = file.schema_arrow
    for column in columns:
        place = schema.get_field_index(column.name)
        if place < 0:
            raise NeedsSpark(f"{name} lacks the column {column.name}")
        stored = schema.field(place).type
        if not _has_known_values(stored, column.type) and not _has_known_elements(file, column):
            raise NeedsSpark(f"the column {column.name} of {name} is stored as {stored}")


def _has_known_values(stored: Any, kind: Type) -> bool:  # noqa: ANN401 - pyarrow has no types
    """Return whether the values of a stored type are values of a type, as Spark reads them."""
    match kind.name:
        case "decimal":
            return bool(stored == pa.decimal128(kind.precision, kind.scale))
        case "timestamp" | "timestamp_ntz":
            is_moment = pa.types.is_timestamp(stored) and stored.unit in ("us", "ms")
            return is_moment and (stored.tz is not None) == (kind.name == "timestamp")
        case "string" if pa.types.is_dictionary(stored):
            return stored.value_type in _STORED["string"]
    return stored in _STORED.get(kind.name, ())


def _belongs_to(path: str, names: set[str]) -> bool:
    """Return whether stored values belong to one of some columns, by their path in the file."""
    return path in names or path.partition(".list.")[0] in names


def _has_known_elements(file: Any, column: ReadColumn) -> bool:  # noqa: ANN401 - pyarrow has no types
    """Return whether a column holds arrays whose elements Spark reads unchanged.

    Sound: the values have exactly the type that a result has, but for elements that the file requires: Spark takes all
    values of files for nullable. And the file has the three levels of Parquet's standard for lists
    (``x.list.element``, in files of pyarrow also ``x.list.item``). The older forms with two levels have no single
    meaning, and are left to Spark.
    """
    if parse_array_type(column.type) is None:
        return False
    wanted = find_result_type(column.type)
    stored = file.schema_arrow.field(column.name).type
    if not pa.types.is_list(stored) or _allow_nulls(stored) != wanted:
        return False
    paths = [file.metadata.schema.column(place).path for place in range(file.metadata.num_columns)]
    standard = (f"{column.name}.list.element", f"{column.name}.list.item")
    stored_paths = [path for path in paths if path == column.name or path.startswith(f"{column.name}.")]
    return all(path in standard or path.startswith(tuple(f"{start}." for start in standard)) for path in stored_paths)


def _allow_nulls(stored: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the type of a list with elements, and fields of elements, that may be NULL."""
    inner = stored.value_type
    if pa.types.is_struct(inner):
        inner = pa.struct([(field.name, field.type) for field in inner])
    return pa.list_(pa.field("element", inner))


def _convert_column(values: Any, column: ReadColumn) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the values of a column in the type of its attribute; a key that is -0.0 becomes 0.0."""
    wanted = find_result_type(column.type)
    if values.type != wanted:
        values = values.cast(wanted)
    if "string" in column.type.name:
        values.validate(full=True)  # Spark reads bytes that are not UTF-8
    if column.type in (FLOAT, DOUBLE) and key_position(column.identity) is not None:
        values = pc.add(values, pa.scalar(0.0, wanted))
    return values


@contextmanager
def _refuse_failures(name: str) -> Iterator[None]:
    """Leave a file that cannot be read to Spark, whose errors lead to the search for damage."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError) as error:
        raise NeedsSpark(f"{name} cannot be read here: {error}") from error
