"""The rows of a base catalog, read from its files exactly as its schema says."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial, reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql
from pyspark.sql.types import DataType, StructField, StructType

from provenn.catalogs.base import Base
from provenn.catalogs.schema import Attribute
from provenn.data.given_tables import locate_table
from provenn.data.stored_reads import note_conversion, note_table
from provenn.errors import BaseFilesError
from provenn.files.columns import METADATA_KEYS, FileColumn, build_metadata
from provenn.files.data_folder import DataFolder
from provenn.files.file_set import GIVEN, TABLE, Files
from provenn.files.hashing import HashMemory
from provenn.files.listing import File, choose_files, list_files
from provenn.files.parquet_columns import ASTROPY, LAYOUT, NESTED, StoredColumn, read_parquet_layout
from provenn.files.row_keys import make_file_keys
from provenn.files.suffixes import is_compressed
from provenn.files.type_names import restore_type
from provenn.gate.entrances import entrance
from provenn.spark.columns import column, normalize_zeros
from provenn.spark.engine import Engine
from provenn.spark.row_keys import add_row_keys, number_rows
from provenn.spark.settings import OWN_FILES
from provenn.spark.tables.catalog_tables import check_table
from provenn.spark.tables.converting import CONVERTIBLE, convert_files
from provenn.spark.tables.layout import find_stored_type, rebuild_column
from provenn.spark.text_moments import TextMoments

__all__ = ["conform_to_attributes", "format_spark_address", "read_base"]

_CSV = {
    "mode": "FAILFAST",  # a row that does not fit is an error, not a NULL
    "enforceschema": "false",  # the header is compared with the schema
    # An empty field is NULL, and a quoted empty field is the empty string: Spark distinguishes them only if NULL is
    # written in another form, so any text that does not occur will do.
    "nullvalue": "\x00NULL",
}
_SMALL = 64 * 2**20
_DEFAULTS: Mapping[str, Mapping[str, str]] = {"csv": _CSV, "json": {"mode": "FAILFAST"}, "xml": {"mode": "FAILFAST"}}


@entrance("base catalog read by Spark", "formats", "expansion")
def read_base(
    engine: Engine,
    base: Base,
    folder: DataFolder,
    memory: HashMemory | None = None,
    chosen: Collection[str] | None = None,
) -> DataFrame:
    """Return the rows of a base catalog, with the column names, order and types of its schema, and units as metadata.

    Parameters
    ----------
    engine
        The engine that computes.
    base
        The catalog.
    folder
        The folder of tables that were ingested from memory, and of conversions of files that Spark cannot read.
    memory
        A memory of digests of files; without it, all bytes are read to check that the files are unchanged.
    chosen
        The fingerprints of the files that Spark reads; None for all files. Files that are converted are all read.

    Raises
    ------
    FilesMissingError, FilesChangedError
        If the files are missing or have changed.
    BaseFilesError
        If the files cannot be converted, or the owner has not allowed the format or an option.
    """
    base.files.check_allowed()
    files = base.files if base.files.format != GIVEN else locate_table(folder, base.files)
    prints = files.check(memory)
    if base.files.format == GIVEN:
        note_table(base)
    keys = make_file_keys(files, files.compute_fingerprints(memory)) if files.row_key else {}
    if files.format == TABLE:
        frame = check_table(engine, files, memory)
    elif files.format in CONVERTIBLE or (files.row_key and files.format != "parquet"):
        write_parts = partial(_write_numbered, engine, files, keys)
        place = convert_files(files, folder, memory, keys=keys, write_parts=write_parts)
        note_conversion(place)
        frame = engine.session.read.options(**OWN_FILES).schema(_build_struct(files.columns)).parquet(place)
    else:
        names = None if chosen is None else {name for name, text in prints.items() if text in chosen}
        frame = _read_files(engine, files, keys, OWN_FILES if base.files.format == GIVEN else {}, names)
    attributes = base.schema.attributes
    pairs = [(attribute.identity, attribute.name) for attribute in attributes]
    return normalize_zeros(conform_to_attributes(frame, attributes), pairs)


def conform_to_attributes(frame: DataFrame, attributes: Iterable[Attribute]) -> DataFrame:
    """Return the columns of attributes, with their types, units and descriptions.

    Conforming columns stay unchanged, so that Spark can push criteria on these columns down to the files.
    """
    fields = {field.name: field for field in frame.schema.fields}
    attributes = tuple(attributes)
    changes = [_change_column(fields[attribute.name], attribute) for attribute in attributes]
    if all(changed is None for changed in changes) and [attribute.name for attribute in attributes] == frame.columns:
        return frame
    pairs = zip(changes, attributes, strict=True)
    return frame.select(*(column(attribute.name) if changed is None else changed for changed, attribute in pairs))


def _change_column(field: StructField, attribute: Attribute) -> Column | None:
    """Return a column with the type and metadata of an attribute, or None if the column conforms already."""
    metadata = build_metadata(attribute)
    present = {key: text for key, text in field.metadata.items() if key in METADATA_KEYS}
    # Spark compares CHAR(n) as if all texts were padded with blanks; but proofs assume that 'a' and 'a ' differ.
    padded = str(field.metadata.get("__CHAR_VARCHAR_TYPE_STRING", "")).startswith("char")
    has_type = not attribute.type.scalar or (field.dataType.simpleString() == str(attribute.type) and not padded)
    if has_type and present == metadata:
        return None
    value = column(attribute.name) if has_type else column(attribute.name).cast(str(attribute.type))
    return value.alias(attribute.name, metadata=metadata)


# --- files ---


def _write_numbered(engine: Engine, files: Files, keys: Mapping[str, str], place: str) -> None:
    """Write rows with their file and place, for formats without row numbers in Spark."""
    group = files.list_own_files()
    frame = number_rows(engine, _read_group(engine, files, group, {}, {}), files, group, keys)
    frame.write.parquet(format_spark_address(place))


def _read_files(
    engine: Engine,
    files: Files,
    keys: Mapping[str, str],
    own_options: Mapping[str, str],
    names: Collection[str] | None,
) -> DataFrame:
    """Read exactly the checked files by name, or some of them; a glob might match new files by now.

    `own_options` are options of provenn for files in the archive, apart from the options of the definition, which the
    gate checks.
    """
    groups: dict[Layout, list[File]] = defaultdict(list)
    for file in choose_files(files.list_own_files(), names):
        groups[_find_layout(file, files)].append(file)
    frames = []
    for layout, group in groups.items():
        frame = _read_group(engine, files, group, dict(layout), own_options)
        frames.append(add_row_keys(engine, frame, files, group, keys) if keys else frame)
    return reduce(DataFrame.unionByName, frames)


Layout = frozenset[tuple[str, StoredColumn]]
"""The stored columns of a file by the name of the column of the base; all other columns are stored as they are."""


def _find_layout(file: File, files: Files) -> Layout:
    layouts = dict(files.options).get(LAYOUT, "").split()
    has_timestamps = any(column.type.name.startswith("timestamp") for column in files.columns)
    if files.format != "parquet" or not (layouts or has_timestamps):
        return frozenset()
    names = {column.name for column in files.columns}
    with file.open() as opened:
        layout = read_parquet_layout(opened, file.name, astropy=ASTROPY in layouts, nested=NESTED in layouts)
    return frozenset((name, stored) for name, stored in layout.items() if name in names)


def _read_group(
    engine: Engine,
    files: Files,
    group: Sequence[File],
    layout: Mapping[str, StoredColumn],
    own_options: Mapping[str, str],
) -> DataFrame:
    """Return the rows of files with the same layout."""
    session = engine.session  # Spark must run before it parses the names of types
    unreadable = [file_column for file_column in files.own_columns if not _is_spark_type(str(file_column.type))]
    struct = _build_stored_struct(
        [file_column for file_column in files.own_columns if file_column not in unreadable], layout
    )
    files.check_allowed()  # once more, at the place where Spark receives the files
    options = {**_DEFAULTS.get(files.format, {}), **dict(files.options), **own_options}
    options.pop(LAYOUT, None)
    _check_expansion(group)
    if files.partitions:
        options["basePath"] = format_spark_address(group[0].address.removesuffix(group[0].name))
    moments = TextMoments(files.format, options, files.partitions)
    reader = session.read.format(files.format).options(**options).schema(moments.build_stored_struct(struct))
    frame = reader.load([format_spark_address(file.address, literal=True) for file in group])
    replaced = {
        file_column.name: _make_failing_column(file_column) for file_column in unreadable
    } | moments.convert_columns(frame, struct)
    if not layout and not replaced:
        return frame
    replaced |= {
        file_column.name: rebuild_column(file_column, layout[file_column.name])
        for file_column in files.own_columns
        if file_column.name in layout
    }
    return frame.select(
        *(replaced.get(file_column.name, column(file_column.name)) for file_column in files.own_columns)
    )


def _check_expansion(group: Sequence[File]) -> None:
    """Unpack small compressed files to check their unpacked size, because Spark checks no sizes.

    Unpacking large files would take too long. Spark reads them piece by piece, and only a large file can fill a disk.
    """
    packed = [file for file in group if is_compressed(file.name)]
    if sum(file.size for file in packed) <= _SMALL:
        for file in packed:
            _measure_unpacked(file.address, file.size, file.modified or 0)


@lru_cache(maxsize=10_000)
def _measure_unpacked(address: str, size: int, modified: int) -> int:  # noqa: ARG001 - they identify a version
    (file,) = list_files(address)
    with file.open(decompressed=True) as stream:
        return sum(map(len, iter(partial(stream.read, 1 << 22), b"")))


def _build_stored_struct(columns: Sequence[FileColumn], layout: Mapping[str, StoredColumn]) -> StructType:
    """Return Spark's schema of columns as they are stored, and of their masks."""
    stored_columns = [
        replace(file_column, name=stored.name, type=find_stored_type(stored, file_column.type))
        if (stored := layout.get(file_column.name))
        else file_column
        for file_column in columns
    ]
    masks = [
        FileColumn(stored.mask, restore_type("array<boolean>" if stored.nested else "boolean"), nullable=True)
        for file_column in columns
        if (stored := layout.get(file_column.name)) and stored.mask
    ]
    return _build_struct([*stored_columns, *masks])


def format_spark_address(location: str, *, literal: bool = False) -> str:
    r"""Return a path or URI in the notation of Spark; a literal path is not a glob.

    >>> format_spark_address("/data/stars[1].parquet", literal=True), format_spark_address("s3://bucket/stars.parquet")
    ('file:///data/stars\\[1\\].parquet', 's3a://bucket/stars.parquet')
    """
    if literal:
        location = re.sub(r"([\\\[\]{}*?])", r"\\\1", location)
    # Without a scheme, Spark on a cluster would look in the cluster's own file system.
    return location.replace("s3://", "s3a://", 1) if "://" in location else f"file://{location}"


def _build_struct(columns: Sequence[FileColumn]) -> StructType:
    """Return Spark's schema of columns."""
    names = [str(file_column.type) for file_column in columns]
    types = _parse_types(names)
    return StructType(
        [
            StructField(file_column.name, types[name], True, build_metadata(file_column))
            for file_column, name in zip(columns, names, strict=True)
        ]
    )


_PARSED: dict[str, DataType] = {}


def _parse_types(names: Iterable[str]) -> dict[str, DataType]:
    """Return Spark's types by name; Spark parses the names from an archive once, as types and not as SQL."""
    wanted = set(names)
    if distinct := sorted(wanted - _PARSED.keys()):
        struct = DataType.fromDDL(", ".join(f"c{number} {name}" for number, name in enumerate(distinct)))
        if not isinstance(struct, StructType) or len(struct.fields) != len(distinct):
            raise BaseFilesError(f"one of these is not a type: {', '.join(distinct)}", hint="ingest the files again")
        _PARSED.update({name: field.dataType for name, field in zip(distinct, struct.fields, strict=True)})
    return {name: _PARSED[name] for name in wanted}


_ARROW_ONLY = re.compile(
    r"\[(s|ms|us|ns|day)|halffloat|decimal256|(month|nano)_interval|extension|union<|decimal\((39|[4-9]\d)"
)


def _is_spark_type(kind: str) -> bool:
    """Return whether Spark has a type, rather than Arrow alone."""
    return not _ARROW_ONLY.search(re.sub(r"`[^`]*`", "", kind))


def _make_failing_column(unreadable: FileColumn) -> Column:
    """Return a column that fails only when it is used."""
    text = f"the column {unreadable.name} has the type {unreadable.type}, which Spark does not support"
    return sql.raise_error(sql.lit(text)).cast("binary").alias(unreadable.name, metadata=build_metadata(unreadable))
