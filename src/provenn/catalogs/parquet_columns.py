"""The columns of Parquet files, whoever wrote them: read from the footer, never from the data.

Writers put what Parquet has no place for into the footer: Spark its own types, astropy which columns are masks of
others, the Virtual Observatory a VOTable without rows, pandas which columns are an index.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any

from provenn.catalogs.astropy_header import AstropyHeader, HeaderColumn, read_header
from provenn.catalogs.file_columns import Column, Contents, check_columns
from provenn.catalogs.parquet_arrays import check_arrays
from provenn.catalogs.type_names import type_named
from provenn.catalogs.votable_columns import votable_columns
from provenn.errors import BaseFilesError

__all__ = [
    "LAYOUT",
    "TABLE_KEY",
    "StoredColumn",
    "footer_metadata",
    "layout_metadata",
    "parquet_columns",
    "parquet_layout",
]

LAYOUT = "layout"
"""The option that says that some columns lie otherwise in the files than a base has them. It is none of Spark's.

A base of an earlier version does not have it: it has the columns of the files as they are, masks as attributes of
their own, and keeps them, so that its identity goes on meaning the same values.
"""

TABLE_KEY = "provenn.table"
"""Where in the footer provenn writes what is said of the table as a whole, as JSON."""

_PROGRAMS = ("pandas", "ARROW:", "org.apache.", "parquet.", "duckdb.", "table::len::", "provenn.", "IVOA.")
"""How keys in the footer begin that programs leave for themselves."""

_ASTROPY = b"table_meta_yaml"
_VOTABLE = b"IVOA.VOTable-Parquet.content"
_LONGEST = 4096
"""The most bytes of a plain value in the footer that is kept."""
_SPARK = b"org.apache.spark.sql.parquet.row.metadata"


@dataclass(frozen=True, slots=True)
class StoredColumn:
    """How a column of a base lies in a file, where that is not simply as itself.

    Parameters
    ----------
    name
        The name of the column in the file.
    mask
        The column that tells which of its values do not count; empty if there is none.
    nested
        Whether mask and values are arrays.
    nanoseconds
        Whether it holds moments as whole numbers of nanoseconds.
    text
        Whether it holds the bytes of text.
    """

    name: str
    mask: str = ""
    nested: bool = False
    nanoseconds: bool = False
    text: bool = False


def parquet_columns(file: IO[bytes], name: str) -> Contents:
    """Return the columns of an open Parquet file, and how many rows it has.

    Raises
    ------
    BaseFilesError
        If it cannot be read, or its footer says something that is not understood.
    """
    footer = _Footer.of(file, name)
    check_arrays(file, name)
    columns, laid_out = [], False
    for field in footer.own_columns:
        called, stored = footer.stored(field)
        columns.append(footer.column(field, called))
        laid_out |= stored is not None and not stored.nanoseconds
    options = {LAYOUT: "astropy"} if laid_out else {}
    return Contents(check_columns(columns, name), footer.rows, options, footer_metadata(footer.notes, name))


def parquet_layout(file: IO[bytes], name: str, *, astropy: bool) -> dict[str, StoredColumn]:
    """Return how columns of an open Parquet file lie in it, by name; those that are not named lie as themselves.

    Parameters
    ----------
    file
        The file.
    name
        What to call it in errors.
    astropy
        Whether masks and names are those that astropy's header says.
    """
    footer = _Footer.of(file, name, astropy=astropy)
    found = map(footer.stored, footer.own_columns)
    return {called: stored for called, stored in found if stored is not None}


def footer_metadata(notes: Mapping[bytes, bytes] | None, name: str) -> dict[str, Any]:
    """Return what keys and values in the footer of a Parquet file say of the table as a whole.

    Parameters
    ----------
    notes
        The keys and values; those of a table of Arrow will do.
    name
        What to call the file in errors.
    """
    given = dict(notes or {})
    found: dict[str, Any] = {}
    for key, value in given.items():
        word = key.decode("utf-8", "replace")
        if key != _ASTROPY and not word.startswith(_PROGRAMS) and len(value) <= _LONGEST:
            with suppress(UnicodeDecodeError):
                found[word] = value.decode()
    if _VOTABLE in given:
        found |= _described(given, name).metadata
    if _ASTROPY in given:
        found |= read_header(given[_ASTROPY].decode("utf-8", "replace"), name, _ASTROPY.decode()).meta
    with suppress(KeyError, ValueError, TypeError):
        found |= dict(json.loads(given[TABLE_KEY.encode()]))
    return found


def layout_metadata(notes: Mapping[bytes, bytes] | None) -> dict[bytes, bytes] | None:
    """Return the keys and values that say how columns lie in a table, without those about the table as a whole.

    The former decide what the values are, so they are part of its identity; the latter are not.
    """
    return {key: value for key, value in (notes or {}).items() if key == _ASTROPY} or None


def _described(notes: Mapping[bytes, bytes], name: str) -> Contents:
    """Return what the VOTable without rows says that the Virtual Observatory puts into the footer."""
    return votable_columns(io.BytesIO(notes[_VOTABLE]), f"the VOTable in the footer of {name}", {})


@dataclass(frozen=True, slots=True)
class _Footer:
    """What the footer of a Parquet file says."""

    fields: tuple[Any, ...]
    rows: int
    notes: Mapping[bytes, bytes]
    physical: Mapping[str, str]
    logical: Mapping[str, str]
    text: str
    spark: Mapping[str, Mapping[str, Any]]
    index: frozenset[str]
    header: AstropyHeader | None
    masks: Mapping[str, str]
    renamed: Mapping[str, tuple[str, HeaderColumn]]
    votable: Mapping[str, Column]

    @classmethod
    def of(cls, file: IO[bytes], name: str, *, astropy: bool = True) -> _Footer:
        import pyarrow as pa  # noqa: PLC0415 - it takes a while to import, and only new base files need it
        from pyarrow import parquet  # noqa: PLC0415

        try:
            opened = parquet.ParquetFile(file)
            fields = tuple(opened.schema_arrow)
            leaves = [opened.schema.column(place) for place in range(len(opened.schema))]
        except (pa.ArrowException, OSError) as error:
            raise BaseFilesError(
                f"{name} cannot be read as Parquet: {error}",
                hint="was it copied completely? If it is no Parquet, say what it is with format=",
            ) from error
        notes = opened.metadata.metadata or {}
        header = None
        if astropy and _ASTROPY in notes:
            header = read_header(notes[_ASTROPY].decode("utf-8", "replace"), name, _ASTROPY.decode())
        about = _described(notes, name).columns if _VOTABLE in notes else ()
        return cls(
            fields,
            opened.metadata.num_rows,
            notes,
            {one.path: one.physical_type for one in leaves},
            {one.path: str(one.logical_type) for one in leaves},
            str(opened.schema),
            _spark_fields(notes),
            _index_columns(notes),
            header,
            _masks_there(header, {one.name for one in fields}, name) if header else {},
            header.renamed if header else {},
            {one.name: one for one in about},
        )

    @property
    def own_columns(self) -> list[Any]:
        """The columns that are no masks of others."""
        masks = set(self.masks.values())
        return [field for field in self.fields if field.name not in masks]

    def stored(self, field: Any) -> tuple[str, StoredColumn | None]:  # noqa: ANN401 - pyarrow has no types
        """Return what a base calls a column, and how it lies in the file; None if as itself."""
        from pyarrow import types  # noqa: PLC0415 - see above

        called = self.renamed[field.name][0] if field.name in self.renamed else field.name
        mask = self.masks.get(field.name, "")
        nested = types.is_list(field.type) or types.is_fixed_size_list(field.type)
        nanoseconds = (
            types.is_timestamp(field.type) and field.type.unit == "ns" and self.physical[field.name] == "INT64"
        )
        lies = StoredColumn(field.name, mask, bool(mask) and nested, nanoseconds, self._is_text(field))
        return called, None if lies == StoredColumn(called) else lies

    def column(self, field: Any, called: str) -> Column:  # noqa: ANN401 - pyarrow has no types
        """Return a column as a base has it."""
        about = {
            key.decode("utf-8", "replace"): text.decode("utf-8", "replace")
            for key, text in (field.metadata or {}).items()
        }
        if self.header:
            described = self.renamed.get(field.name, ("", self.header.columns.get(field.name)))[1]
            about = _filled(about, described)
        about = _filled(about, self.votable.get(field.name))
        about = {**self.spark.get(field.name, {}).get("metadata", {}), **about}
        if unit := self._unit(field):
            about.setdefault("unit", unit)
        if field.name in self.index:
            about.setdefault("description", "the index of the data frame of pandas that was written")
        texts = (_text(about, "unit", "units"), _text(about, "description", "comment"), _text(about, "ucd"))
        nullable = field.nullable or field.name in self.masks
        return Column(called, type_named(self._type(field)), nullable, *texts)

    def _unit(self, field: Any) -> str:  # noqa: ANN401 - pyarrow has no types
        """Return the unit in which a span of time is stored as a whole number; empty for anything else."""
        from pyarrow import types  # noqa: PLC0415 - see above

        if types.is_duration(field.type):
            return str(field.type.unit)
        native = self.spark.get(field.name, {}).get("type")
        if not isinstance(native, str) or not native.startswith("interval "):
            return ""
        return "month" if re.search("year|month", native) else "us"

    def _is_text(self, field: Any) -> bool:  # noqa: ANN401 - pyarrow has no types
        """Tell whether a column holds text as bytes, as astropy has it in memory where it comes from FITS."""
        from pyarrow import types  # noqa: PLC0415 - see above

        described = self.header.columns.get(field.name) if self.header else None
        return types.is_binary(field.type) and described is not None and described.datatype == "string"

    def _type(self, field: Any) -> str:  # noqa: ANN401 - pyarrow has no types
        """Return the type of a column, as Spark names it."""
        from pyarrow import types  # noqa: PLC0415 - see above

        if types.is_struct(field.type) and f" {field.name} (Variant(" in self.text:
            return "variant"
        if self.physical.get(field.name) == "INT96":
            return "timestamp"  # how Spark and others wrote moments once: in UTC, which pyarrow does not say
        if self.logical.get(field.name) == "Interval":
            return "month_day_nano_interval"
        if types.is_null(field.type) and self.physical.get(field.name) == "BOOLEAN":
            return "boolean"
        return "string" if self._is_text(field) else _spark_name(field.type)


def _masks_there(header: AstropyHeader, there: set[str], file: str) -> dict[str, str]:
    """Return which columns of a file mask which, if for each that is there its mask is there, too."""
    for masked, mask in header.masks.items():
        if masked in there and mask not in there:
            raise BaseFilesError(
                f"{file} lacks the column {mask}, which says where values of {masked} are missing",
                hint=f"write the file with it, or without {masked}",
            )
    return {masked: mask for masked, mask in header.masks.items() if masked in there}


def _filled(about: dict[str, str], column: Any) -> dict[str, str]:  # noqa: ANN401 - one of two kinds of columns
    """Return what is said of a column, with what another place says of it where nothing is said yet."""
    found = {key: text for key in ("unit", "description", "ucd") if (text := getattr(column, key, ""))}
    return {**found, **{key: text for key, text in about.items() if text}}


def _text(notes: Mapping[str, Any], *keys: str) -> str:
    return next((str(notes[key]) for key in keys if key in notes), "")


def _spark_fields(metadata: Mapping[bytes, bytes]) -> dict[str, dict[str, Any]]:
    """Return what Spark wrote down of the columns, by name: it has a place of its own for that."""
    try:
        fields = json.loads(metadata[_SPARK])["fields"]
        return {one["name"]: {"type": one["type"], "metadata": dict(one["metadata"])} for one in fields}
    except (KeyError, TypeError, ValueError):
        return {}


def _index_columns(metadata: Mapping[bytes, bytes]) -> frozenset[str]:
    """Return the columns that hold an index of pandas that has no name."""
    try:
        found = json.loads(metadata[b"pandas"])["index_columns"]
        return frozenset(one for one in found if isinstance(one, str) and re.fullmatch(r"__index_level_\d+__", one))
    except (KeyError, TypeError, ValueError):
        return frozenset()


# --- types ---

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
    "extension<arrow.json>": "string",
    "date32[day]": "date",
    "date64[ms]": "date",
    "binary": "binary",
    "large_binary": "binary",
    "binary_view": "binary",
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
    if any(is_list(kind) for is_list in _lists()):
        return f"array<{_inner_name(kind.value_type)}>"
    return str(kind).replace(" ", "")


def _lists() -> tuple[Any, ...]:
    from pyarrow import types  # noqa: PLC0415 - see above

    views = (types.is_list_view, types.is_large_list_view)
    return (types.is_list, types.is_large_list, types.is_fixed_size_list, *views)


def _inner_name(kind: Any) -> str:  # noqa: ANN401 - pyarrow has no types
    return _spark_name(kind, inner=True)


def _field_name(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) else "`" + name.replace("`", "``") + "`"
