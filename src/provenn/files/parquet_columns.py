"""The columns of Parquet files from any writer: read from the footer, never from the data.

Writers use the footer for information without a place in Parquet: Spark for Spark's own types, astropy for the columns
with masks, the Virtual Observatory for a VOTable without rows, pandas for the columns of an index.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any

from provenn.errors import BaseFilesError
from provenn.files.astropy_header import AstropyHeader, HeaderColumn, read_header
from provenn.files.column_bounds import read_parquet_bounds
from provenn.files.column_statistics import ColumnStatistics, read_parquet_statistics
from provenn.files.columns import FileColumn, FileContents, check_columns
from provenn.files.parquet_arrays import check_arrays
from provenn.files.type_names import INTEGER_TYPES, restore_type
from provenn.files.votable_columns import read_votable_columns
from provenn.hints import Hint

__all__ = [
    "ASTROPY",
    "LAYOUT",
    "NESTED",
    "TABLE_KEY",
    "VOTABLE_KEY",
    "VOTABLE_VERSION_KEY",
    "StoredColumn",
    "read_footer_metadata",
    "read_parquet_columns",
    "read_parquet_layout",
    "select_layout_metadata",
]

LAYOUT = "layout"
"""The option for files with a stored layout unlike the columns of the base. Spark does not know this option.

A base of an earlier version lacks the option: its columns are the columns of the files, with masks as separate
attributes. It keeps them, so that its identity still means the same values.
"""

ASTROPY, NESTED = "astropy", "nested"
"""The layouts that the option names: masks of astropy, and nested tables of HATS as structs of arrays."""

TABLE_KEY = "provenn.table"
"""The key in the footer under which provenn writes the metadata of the table as a whole, as JSON."""

VOTABLE_KEY, VOTABLE_VERSION_KEY = "IVOA.VOTable-Parquet.content", "IVOA.VOTable-Parquet.version"
"""The keys in the footer of VOParquet: a VOTable without rows, and the version of the convention."""

_PROGRAMS = ("pandas", "ARROW:", "org.apache.", "parquet.", "duckdb.", "table::len::", "provenn.", "IVOA.")
"""The prefixes of keys in the footer that programs reserve for their own use."""

_ASTROPY = b"table_meta_yaml"
_VOTABLE = VOTABLE_KEY.encode()
_LONGEST_VOTABLE = 1 << 24
"""The most bytes of a VOTable in the footer."""
_LONGEST = 4096
"""The most bytes of a plain value in the footer; longer values are dropped."""
_SPARK = b"org.apache.spark.sql.parquet.row.metadata"


@dataclass(frozen=True, slots=True)
class StoredColumn:
    """The stored form of a column of a base in a file, if different from the column itself.

    Parameters
    ----------
    name
        The name of the column in the file.
    mask
        The column that marks missing values; empty without a mask.
    nested
        Whether mask and values are arrays.
    nanoseconds
        Whether the values are moments as integers in nanoseconds.
    text
        Whether the values are text stored as bytes.
    zipped
        The type of the values, if they are structs of arrays, one array for each field of a nested table.
    fields
        The names of the fields then.
    """

    name: str
    mask: str = ""
    nested: bool = False
    nanoseconds: bool = False
    text: bool = False
    zipped: str = ""
    fields: tuple[str, ...] = ()


def read_parquet_columns(file: IO[bytes], name: str, *, nested: bool = False) -> FileContents:
    """Return the columns of an open Parquet file, and the number of rows.

    Parameters
    ----------
    file
        The file.
    name
        The name of the file in errors.
    nested
        Whether structs of arrays are nested tables, as in HATS; then they become arrays of structs.

    Raises
    ------
    BaseFilesError
        If the file cannot be read, or the footer is not understood.
    """
    footer = _Footer.of(file, name, nested=nested)
    check_arrays(file, name)
    columns, statistics, bounds, layouts = [], {}, {}, set()
    for field in footer.own_columns:
        column_name, stored = footer.locate_column(field)
        columns.append(footer.describe_column(field, column_name))
        if stored is not None and not stored.nanoseconds:
            layouts.add(NESTED if stored.zipped else ASTROPY)
        if stored is None:  # otherwise a mask may decide what is NULL, and values are converted
            bounds[column_name] = read_parquet_bounds(footer.opened, field.name, columns[-1].type)
            if field.name in footer.statistics:
                statistics[column_name] = footer.statistics[field.name]
    options = {LAYOUT: " ".join(sorted(layouts))} if layouts else {}
    metadata = read_footer_metadata(footer.notes, name)
    return FileContents(check_columns(columns, name), footer.rows, options, metadata, statistics, bounds)


def read_parquet_layout(file: IO[bytes], name: str, *, astropy: bool, nested: bool) -> dict[str, StoredColumn]:
    """Return the stored form of columns of an open Parquet file, by name; columns stored as themselves are left out.

    Parameters
    ----------
    file
        The file.
    name
        The name of the file in errors.
    astropy
        Whether masks and names follow astropy's header.
    nested
        Whether structs of arrays are nested tables.
    """
    footer = _Footer.of(file, name, astropy=astropy, nested=nested)
    layouts = map(footer.locate_column, footer.own_columns)
    return {column_name: stored for column_name, stored in layouts if stored is not None}


def read_footer_metadata(notes: Mapping[bytes, bytes] | None, name: str) -> dict[str, Any]:
    """Return the metadata of the table as a whole from the keys and values in a footer of Parquet.

    Parameters
    ----------
    notes
        The keys and values; the metadata of a table of Arrow work, too.
    name
        The name of the file in errors.
    """
    values_by_key = dict(notes or {})
    metadata: dict[str, Any] = {}
    for key, value in values_by_key.items():
        keyword = key.decode("utf-8", "replace")
        if key != _ASTROPY and not keyword.startswith(_PROGRAMS) and len(value) <= _LONGEST:
            with suppress(UnicodeDecodeError):
                metadata[keyword] = value.decode()
    if _VOTABLE in values_by_key:
        metadata |= _read_footer_votable(values_by_key, name).metadata
    if _ASTROPY in values_by_key:
        metadata |= read_header(values_by_key[_ASTROPY].decode("utf-8", "replace"), name, _ASTROPY.decode()).meta
    with suppress(KeyError, ValueError, TypeError):
        metadata |= dict(json.loads(values_by_key[TABLE_KEY.encode()]))
    return metadata


def select_layout_metadata(notes: Mapping[bytes, bytes] | None) -> dict[bytes, bytes] | None:
    """Return the keys and values about the layout of columns, without the metadata of the table as a whole.

    The layout decides the values, so the layout is part of the identity; the metadata are not.
    """
    return {key: value for key, value in (notes or {}).items() if key == _ASTROPY} or None


def _read_footer_votable(notes: Mapping[bytes, bytes], name: str) -> FileContents:
    """Return the contents of the VOTable without rows in a footer, a convention of the Virtual Observatory."""
    header, where = notes[_VOTABLE], f"the VOTable in the footer of {name}"
    if len(header) > _LONGEST_VOTABLE:
        raise BaseFilesError(
            f"{where} has {len(header):,} bytes, more than {_LONGEST_VOTABLE:,}",
            hint=f"write the file without the key {VOTABLE_KEY}",
        )
    return read_votable_columns(io.BytesIO(header), where, {})


@dataclass(frozen=True, slots=True)
class _Footer:
    """The footer of a Parquet file."""

    fields: tuple[Any, ...]
    rows: int
    notes: Mapping[bytes, bytes]
    physical: Mapping[str, str]
    logical: Mapping[str, str]
    statistics: Mapping[str, ColumnStatistics]
    text: str
    spark: Mapping[str, Mapping[str, Any]]
    index: frozenset[str]
    header: AstropyHeader | None
    masks: Mapping[str, str]
    position_columns: Mapping[str, tuple[str, HeaderColumn]]
    votable: Mapping[str, FileColumn]
    opened: Any  # pyarrow has no types
    nested: bool

    @classmethod
    def of(cls, file: IO[bytes], name: str, *, astropy: bool = True, nested: bool = False) -> _Footer:
        import pyarrow as pa  # noqa: PLC0415 - it takes a while to import, and only new base files need it
        from pyarrow import parquet  # noqa: PLC0415

        try:
            opened = parquet.ParquetFile(file)
            fields = tuple(opened.schema_arrow)
            leaves = [opened.schema.column(place) for place in range(len(opened.schema))]
        except (pa.ArrowException, OSError) as error:
            raise BaseFilesError(
                f"{name} cannot be read as Parquet: {error}",
                hint=Hint(
                    "check that it was copied completely; if it is another format, name it: format=…",
                    command="check that it was copied completely; if it is another format, name it: --format …",
                ),
            ) from error
        notes = opened.metadata.metadata or {}
        header = None
        if astropy and _ASTROPY in notes:
            header = read_header(notes[_ASTROPY].decode("utf-8", "replace"), name, _ASTROPY.decode())
        votable_columns = _read_footer_votable(notes, name).columns if _VOTABLE in notes else ()
        return cls(
            fields,
            opened.metadata.num_rows,
            notes,
            {leaf.path: leaf.physical_type for leaf in leaves},
            {leaf.path: str(leaf.logical_type) for leaf in leaves},
            read_parquet_statistics(opened),
            str(opened.schema),
            _read_spark_fields(notes),
            _find_index_columns(notes),
            header,
            _find_masks(header, {field.name for field in fields}, name) if header else {},
            header.position_columns if header else {},
            {column.name: column for column in votable_columns},
            opened,
            nested,
        )

    @property
    def own_columns(self) -> list[Any]:
        """The columns except masks."""
        masks = set(self.masks.values())
        return [field for field in self.fields if field.name not in masks]

    def locate_column(self, field: Any) -> tuple[str, StoredColumn | None]:  # noqa: ANN401 - pyarrow has no types
        """Return the name of a column in a base, and the stored form; None for a column stored as itself."""
        from pyarrow import types  # noqa: PLC0415 - see above

        column_name = self.position_columns[field.name][0] if field.name in self.position_columns else field.name
        mask = self.masks.get(field.name, "")
        nested = types.is_list(field.type) or types.is_fixed_size_list(field.type)
        nanoseconds = (
            types.is_timestamp(field.type) and field.type.unit == "ns" and self.physical[field.name] == "INT64"
        )
        stored = StoredColumn(field.name, mask, bool(mask) and nested, nanoseconds, self._is_text(field))
        if self._is_zipped(field.type):
            fields = tuple(inner.name for inner in field.type)
            stored = StoredColumn(field.name, zipped=_convert_type_name(field.type), fields=fields)
        return column_name, None if stored == StoredColumn(column_name) else stored

    def describe_column(self, field: Any, column_name: str) -> FileColumn:  # noqa: ANN401 - pyarrow has no types
        """Return a column of the file as a column of a base."""
        notes = {
            key.decode("utf-8", "replace"): text.decode("utf-8", "replace")
            for key, text in (field.metadata or {}).items()
        }
        if self.header:
            header_column = self.position_columns.get(field.name, ("", self.header.columns.get(field.name)))[1]
            notes = _fill_in(notes, header_column)
        notes = _fill_in(notes, self.votable.get(field.name))
        notes = {**self.spark.get(field.name, {}).get("metadata", {}), **notes}
        if unit := self._find_unit(field):
            notes.setdefault("unit", unit)
        if field.name in self.index:
            notes.setdefault("description", "the index of the data frame of pandas that was written")
        texts = (
            _find_text(notes, "unit", "units"),
            _find_text(notes, "description", "comment"),
            _find_text(notes, "ucd"),
        )
        nullable = field.nullable or field.name in self.masks
        return FileColumn(column_name, restore_type(self._find_type(field)), nullable, *texts)

    def _find_unit(self, field: Any) -> str:  # noqa: ANN401 - pyarrow has no types
        """Return the unit of a time span stored as an integer; empty for any other column."""
        from pyarrow import types  # noqa: PLC0415 - see above

        if types.is_duration(field.type):
            return str(field.type.unit)
        native = self.spark.get(field.name, {}).get("type")
        if not isinstance(native, str) or not native.startswith("interval "):
            return ""
        return "month" if re.search("year|month", native) else "us"

    def _is_text(self, field: Any) -> bool:  # noqa: ANN401 - pyarrow has no types
        """Whether a column holds text as bytes, as astropy's tables from FITS do."""
        from pyarrow import types  # noqa: PLC0415 - see above

        header_column = self.header.columns.get(field.name) if self.header else None
        return types.is_binary(field.type) and header_column is not None and header_column.datatype == "string"

    def _find_type(self, field: Any) -> str:  # noqa: ANN401 - pyarrow has no types
        """Return Spark's name for the type of a column."""
        from pyarrow import types  # noqa: PLC0415 - see above

        if types.is_struct(field.type) and f" {field.name} (Variant(" in self.text:
            return "variant"
        if self.physical.get(field.name) == "INT96":
            return "timestamp"  # an old format of Spark and others for moments: in UTC, though pyarrow does not say so
        if self.logical.get(field.name) == "Interval":
            return "month_day_nano_interval"
        if types.is_null(field.type) and self.physical.get(field.name) == "BOOLEAN":
            return "boolean"
        if self._is_zipped(field.type):
            inner = (f"{_quote_name(part.name)}:{_convert_inner_type(part.type.value_type)}" for part in field.type)
            return f"array<struct<{','.join(inner)}>>"
        return "string" if self._is_text(field) else _convert_type_name(field.type)

    def _is_zipped(self, kind: Any) -> bool:  # noqa: ANN401 - pyarrow has no types
        """Whether a type is a nested table: a struct of arrays, one for each field."""
        from pyarrow import types  # noqa: PLC0415 - see above

        is_struct = self.nested and types.is_struct(kind) and kind.num_fields > 0
        return is_struct and all(any(is_list(part.type) for is_list in _list_predicates()) for part in kind)


def _find_masks(header: AstropyHeader, names: set[str], file: str) -> dict[str, str]:
    """Return the masks of the columns in a file, by masked column; refuse a file without a needed mask."""
    for masked, mask in header.masks.items():
        if masked in names and mask not in names:
            raise BaseFilesError(
                f"{file} lacks the column {mask}, which marks missing values of {masked}",
                hint=f"write the file with this column, or without {masked}",
            )
    return {masked: mask for masked, mask in header.masks.items() if masked in names}


def _fill_in(notes: dict[str, str], column: Any) -> dict[str, str]:  # noqa: ANN401 - one of two kinds of columns
    """Return the notes about a column, with missing notes filled in from a second description."""
    additions = {key: text for key in ("unit", "description", "ucd") if (text := getattr(column, key, ""))}
    return {**additions, **{key: text for key, text in notes.items() if text}}


def _find_text(notes: Mapping[str, Any], *keys: str) -> str:
    return next((str(notes[key]) for key in keys if key in notes), "")


def _read_spark_fields(metadata: Mapping[bytes, bytes]) -> dict[str, dict[str, Any]]:
    """Return Spark's own description of the columns in the footer, by name."""
    try:
        fields = json.loads(metadata[_SPARK])["fields"]
        return {field["name"]: {"type": field["type"], "metadata": dict(field["metadata"])} for field in fields}
    except (KeyError, TypeError, ValueError):
        return {}


def _find_index_columns(metadata: Mapping[bytes, bytes]) -> frozenset[str]:
    """Return the columns of an unnamed index of pandas."""
    try:
        index_columns = json.loads(metadata[b"pandas"])["index_columns"]
        return frozenset(
            column
            for column in index_columns
            if isinstance(column, str) and re.fullmatch(r"__index_level_\d+__", column)
        )
    except (KeyError, TypeError, ValueError):
        return frozenset()


# --- types ---

_PARQUET = {
    "bool": "boolean",
    **INTEGER_TYPES,
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


def _convert_type_name(kind: Any, *, inner: bool = False) -> str:  # noqa: ANN401 - pyarrow has no types
    """Return Spark's name of a type; Arrow's name for a type unknown to Spark.

    Moments are cut to microseconds, Spark's precision. Nested moments in nanoseconds are not: Spark cannot read them.
    """
    from pyarrow import types  # noqa: PLC0415 - see above

    if str(kind) in _PARQUET:
        return _PARQUET[str(kind)]
    if types.is_dictionary(kind):
        return _convert_type_name(kind.value_type)
    if types.is_timestamp(kind) and not (inner and kind.unit == "ns"):
        return "timestamp" if kind.tz else "timestamp_ntz"
    if types.is_duration(kind):
        return "bigint"
    if types.is_fixed_size_binary(kind):
        return "binary"
    if types.is_decimal(kind) and kind.precision <= 38:
        return f"decimal({kind.precision},{kind.scale})"
    if types.is_struct(kind):
        return f"struct<{','.join(f'{_quote_name(field.name)}:{_convert_inner_type(field.type)}' for field in kind)}>"
    if types.is_map(kind):
        return f"map<{_convert_inner_type(kind.key_type)},{_convert_inner_type(kind.item_type)}>"
    if any(is_list(kind) for is_list in _list_predicates()):
        return f"array<{_convert_inner_type(kind.value_type)}>"
    return str(kind).replace(" ", "")


def _list_predicates() -> tuple[Any, ...]:
    from pyarrow import types  # noqa: PLC0415 - see above

    views = (types.is_list_view, types.is_large_list_view)
    return (types.is_list, types.is_large_list, types.is_fixed_size_list, *views)


def _convert_inner_type(kind: Any) -> str:  # noqa: ANN401 - pyarrow has no types
    return _convert_type_name(kind, inner=True)


def _quote_name(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) else "`" + name.replace("`", "``") + "`"
