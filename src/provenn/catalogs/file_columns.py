"""The columns of files, read from their metadata or from their first lines; never from the data."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

from provenn.catalogs.type_names import known_type, type_named
from provenn.criteria import Type
from provenn.errors import BaseFilesError

__all__ = ["Column", "check_columns", "given_columns", "nanosecond_columns", "parquet_columns"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of files.

    Parameters
    ----------
    name
        Its name.
    type
        Its type, as Spark has it; one that provenn cannot compare is kept by its name.
    nullable
        Whether a value can be missing.
    unit, description, ucd
        For people and their tools; empty if nothing is known. A UCD is a word of the Virtual Observatory for what is
        measured, such as ``pos.eq.ra;meta.main``.
    """

    name: str
    type: Type
    nullable: bool
    unit: str = ""
    description: str = ""
    ucd: str = ""


def check_columns(columns: Sequence[Column], file: str) -> tuple[Column, ...]:
    """Return columns if there are any and their names are fit to be names of attributes."""
    if not columns:
        raise BaseFilesError(f"{file} has no columns")
    seen: set[str] = set()
    for name in (column.name for column in columns):
        if not name.strip() or not name.isprintable():
            raise BaseFilesError(f"{file} has a column named {name!r}", hint="rename it in the file")
        if name in seen:
            raise BaseFilesError(f"{file} has two columns {name}", hint="rename one in the file")
        seen.add(name)
    return tuple(columns)


def given_columns(schema: Mapping[str, str]) -> tuple[Column, ...]:
    """Return the columns of files that do not tell what they hold."""
    return tuple(Column(name, known_type(text), nullable=True) for name, text in schema.items())


# --- Parquet ---


def parquet_columns(file: IO[bytes], name: str) -> tuple[tuple[Column, ...], int]:
    """Return the columns of an open Parquet file, and how many rows it has."""
    import pyarrow as pa  # noqa: PLC0415 - it takes a while to import, and only new base files need it
    from pyarrow import parquet  # noqa: PLC0415

    try:
        opened = parquet.ParquetFile(file)
        fields = list(opened.schema_arrow)
        noted = _spark_notes(opened.metadata.metadata or {})
        physical = _physical_types(opened)
    except (pa.ArrowException, OSError) as error:
        hint = "if it is no Parquet, say what it is with format="
        raise BaseFilesError(f"{name} cannot be read as Parquet: {error}", hint=hint) from error
    columns = []
    for field in fields:
        said = noted.get(field.name, {}) | {
            key.decode("utf-8", "replace"): text.decode("utf-8", "replace")
            for key, text in (field.metadata or {}).items()
        }
        told = (_said(said, "unit", "units"), _said(said, "description", "comment"), _said(said, "ucd"))
        # INT96 is how Spark and others wrote moments once: in UTC, which pyarrow does not say.
        kind = "timestamp" if physical.get(field.name) == "INT96" else _spark_name(field.type)
        columns.append(Column(field.name, type_named(kind), field.nullable, *told))
    return check_columns(columns, name), opened.metadata.num_rows


def nanosecond_columns(file: IO[bytes]) -> frozenset[str]:
    """Return the columns of an open Parquet file that hold moments to the nanosecond, which Spark reads as numbers."""
    from pyarrow import parquet, types  # noqa: PLC0415 - see above

    opened = parquet.ParquetFile(file)
    physical = _physical_types(opened)
    return frozenset(
        field.name
        for field in opened.schema_arrow
        if types.is_timestamp(field.type) and field.type.unit == "ns" and physical[field.name] == "INT64"
    )


def _physical_types(opened: Any) -> dict[str, str]:  # noqa: ANN401 - pyarrow has no types
    columns = (opened.schema.column(place) for place in range(len(opened.schema)))
    return {one.path: one.physical_type for one in columns}


def _spark_notes(metadata: Mapping[bytes, bytes]) -> dict[str, dict[str, Any]]:
    """Return what Spark wrote down of the columns: it has a place of its own for that."""
    try:
        fields = json.loads(metadata[b"org.apache.spark.sql.parquet.row.metadata"])["fields"]
        return {one["name"]: one["metadata"] for one in fields}
    except (KeyError, TypeError, ValueError):
        return {}


def _said(notes: Mapping[str, Any], *keys: str) -> str:
    return next((str(notes[key]) for key in keys if key in notes), "")


_PARQUET = {
    "bool": "boolean",
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "uint8": "smallint",
    "uint16": "int",
    "uint32": "bigint",
    "uint64": "decimal(20,0)",
    "float": "float",
    "double": "double",
    "string": "string",
    "large_string": "string",
    "string_view": "string",
    "date32[day]": "date",
    "date64[ms]": "date",
    "binary": "binary",
    "large_binary": "binary",
    "null": "int",  # as Spark has it
}


def _spark_name(kind: Any, *, inner: bool = False) -> str:  # noqa: ANN401 - pyarrow has no types
    """Return Spark's name of a type; for one that Spark does not have, Arrow's name.

    Moments are cut to the microsecond, which is what Spark has. Within other types they are not: Spark cannot read it.
    """
    from pyarrow import types  # noqa: PLC0415 - see above

    if str(kind) in _PARQUET:
        return _PARQUET[str(kind)]
    if types.is_dictionary(kind):
        return _spark_name(kind.value_type)
    if types.is_timestamp(kind) and not (inner and kind.unit == "ns"):
        return "timestamp" if kind.tz else "timestamp_ntz"
    if types.is_duration(kind):
        return "bigint"
    if types.is_fixed_size_binary(kind):
        return "binary"
    if types.is_decimal(kind) and kind.precision <= 38:
        return f"decimal({kind.precision},{kind.scale})"
    if types.is_struct(kind):
        return f"struct<{','.join(f'{_field_name(field.name)}:{_inner_name(field.type)}' for field in kind)}>"
    if types.is_map(kind):
        return f"map<{_inner_name(kind.key_type)},{_inner_name(kind.item_type)}>"
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return f"array<{_inner_name(kind.value_type)}>"
    return str(kind).replace(" ", "")


def _inner_name(kind: Any) -> str:  # noqa: ANN401 - pyarrow has no types
    return _spark_name(kind, inner=True)


def _field_name(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) else "`" + name.replace("`", "``") + "`"
