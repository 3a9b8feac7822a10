"""The columns of files, read from their metadata or from their first lines; never from the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

from provenn.catalogs.type_names import known_type, type_named
from provenn.criteria import Type, parse_type
from provenn.errors import BaseFilesError, did_you_mean

__all__ = ["Column", "check_columns", "csv_columns", "given_columns", "parquet_columns"]


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
    unit, description
        For people; empty if nothing is known.
    """

    name: str
    type: Type
    nullable: bool
    unit: str = ""
    description: str = ""


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
    except (pa.ArrowException, OSError) as error:
        raise BaseFilesError(f"{name} cannot be read as Parquet: {error}") from error
    columns = [
        Column(
            field.name,
            _spark_type(field.type),
            field.nullable,
            _said(field, b"unit", b"units"),
            _said(field, b"description", b"comment"),
        )
        for field in fields
    ]
    return check_columns(columns, name), opened.metadata.num_rows


def _said(field: Any, *keys: bytes) -> str:  # noqa: ANN401 - pyarrow has no types
    metadata = field.metadata or {}
    return next((metadata[key].decode("utf-8", "replace") for key in keys if key in metadata), "")


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
}


def _spark_type(kind: Any) -> Type:  # noqa: ANN401 - pyarrow has no types
    return type_named(_spark_name(kind))


def _spark_name(kind: Any) -> str:  # noqa: ANN401 - pyarrow has no types
    """Return Spark's name of a type; for one that Spark does not have, Arrow's name."""
    from pyarrow import types  # noqa: PLC0415 - see above

    if str(kind) in _PARQUET:
        return _PARQUET[str(kind)]
    if types.is_dictionary(kind):
        return _spark_name(kind.value_type)
    if types.is_timestamp(kind) and kind.unit != "ns":  # Spark has microseconds
        return "timestamp" if kind.tz else "timestamp_ntz"
    if types.is_duration(kind):
        return "bigint"
    if types.is_fixed_size_binary(kind):
        return "binary"
    if types.is_decimal128(kind):
        return f"decimal({kind.precision},{kind.scale})"
    if types.is_struct(kind):
        return f"struct<{','.join(f'{field.name}:{_spark_name(field.type)}' for field in kind)}>"
    if types.is_map(kind):
        return f"map<{_spark_name(kind.key_type)},{_spark_name(kind.item_type)}>"
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return f"array<{_spark_name(kind.value_type)}>"
    return str(kind).replace(" ", "")


# --- CSV ---


def csv_columns(
    file: IO[bytes], name: str, options: Mapping[str, str], schema: Mapping[str, str]
) -> tuple[Column, ...]:
    """Return the columns of an open CSV file: of the types in `schema`, the others of types seen in its first block.

    Parameters
    ----------
    file
        The file, at its beginning.
    name
        What to call it in errors.
    options
        Spark's options.
    schema
        Types by column; without a header it names the columns, all of them.
    """
    import pyarrow as pa  # noqa: PLC0415 - see above
    from pyarrow import csv  # noqa: PLC0415

    header = options["header"] == "true"
    if not header and not schema:
        hint = 'name the columns, in order: schema={"hip": "bigint", …}'
        raise BaseFilesError(f"{name} has no header, so its columns have no names", hint=hint)
    try:
        with csv.open_csv(
            file,
            read_options=csv.ReadOptions(
                autogenerate_column_names=not header, encoding=options.get("encoding", "utf-8").lower()
            ),
            parse_options=csv.ParseOptions(
                delimiter=options.get("sep", options.get("delimiter", ",")),
                quote_char=options.get("quote", '"'),
                escape_char=options.get("escape", "\\"),
                newlines_in_values=options.get("multiline") == "true",
            ),
            convert_options=csv.ConvertOptions(null_values=["", options.get("nullvalue", "")]),
        ) as reader:
            seen = reader.schema
    except (pa.ArrowException, TypeError, ValueError, LookupError) as error:
        raise BaseFilesError(f"{name} cannot be read as CSV: {error}", hint="see options=") from error
    names = seen.names if header else list(schema)
    if len(names) != len(seen.names):
        raise BaseFilesError(f"{name} has {len(seen.names)} columns, the schema names {len(names)}")
    for given in schema:
        if given not in names:
            hint = did_you_mean(given, names) or f"there are {', '.join(names)}"
            raise BaseFilesError(f"{name} has no column {given!r}", hint=hint)
    columns = [
        Column(one, known_type(schema[one], scalar=True) if one in schema else _seen_type(kind), nullable=True)
        for one, kind in zip(names, seen.types, strict=True)
    ]
    return check_columns(columns, name)


def _seen_type(kind: Any) -> Type:  # noqa: ANN401 - pyarrow has no types
    name = {"int64": "bigint", "double": "double", "bool": "boolean", "date32[day]": "date"}.get(str(kind))
    return parse_type(name or ("timestamp" if str(kind).startswith("timestamp") else "string"))
