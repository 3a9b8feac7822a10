"""The rows of a base catalog, from its files, exactly as its schema says."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql
from pyspark.sql.types import DataType, StructField, StructType

from provenn.catalogs.base import Base
from provenn.catalogs.file_changes import current_fingerprints
from provenn.catalogs.file_columns import Column as FileColumn
from provenn.catalogs.file_listing import File, listed
from provenn.catalogs.files import GIVEN, TABLE, Files
from provenn.catalogs.hashing import HashMemory
from provenn.catalogs.parquet_columns import LAYOUT, StoredColumn, parquet_layout
from provenn.catalogs.row_keys import file_keys
from provenn.catalogs.schema import Attribute
from provenn.catalogs.type_names import type_named
from provenn.errors import BaseFilesError
from provenn.spark.columns import NOTES, column, said, with_one_zero
from provenn.spark.engine import Engine
from provenn.spark.row_keys import add_row_index, count_rows
from provenn.spark.tables.catalog_tables import check_table
from provenn.spark.tables.converting import CONVERTIBLE, converted
from provenn.spark.tables.layout import laid_out, stored_type
from provenn.store.folder import DataFolder
from provenn.store.given import kept

__all__ = ["address", "as_schema", "read_base"]

_CSV = {
    "mode": "FAILFAST",  # a row that does not fit is an error, not a NULL
    "enforceschema": "false",  # the header is compared with the schema
    # An empty field is NULL, and a quoted empty one is the empty string: Spark tells them apart where NULL is written
    # in some other way, whichever that is.
    "nullvalue": "\x00NULL",
}
_DEFAULTS: Mapping[str, Mapping[str, str]] = {"csv": _CSV, "json": {"mode": "FAILFAST"}, "xml": {"mode": "FAILFAST"}}


def read_base(engine: Engine, base: Base, folder: DataFolder, memory: HashMemory | None = None) -> DataFrame:
    """Return the rows of a base catalog: columns by name, order and type of its schema, with units as metadata.

    Parameters
    ----------
    engine
        Where data are computed.
    base
        The catalog.
    folder
        Where tables that were ingested from memory are kept, and files that Spark cannot read, once converted.
    memory
        A memory of digests of files; without one, all bytes are read to see whether they are what they were.

    Raises
    ------
    FilesMissingError, FilesChangedError
        If the files are not what they were.
    BaseFilesError
        If they cannot be converted.
    """
    files = base.files if base.files.format != GIVEN else kept(folder, base.files)
    files.check(memory)
    keys = file_keys(files, current_fingerprints(files, memory)) if files.row_key else {}
    if files.format == TABLE:
        check_table(engine, files, memory)
        frame = engine.session.table(files.location)
    elif files.format in CONVERTIBLE or (files.row_key and files.format != "parquet"):
        numbered = partial(_write_numbered, engine, files, keys)
        place = converted(files, folder, memory, keys=keys, write_parts=numbered)
        frame = engine.session.read.schema(_struct(files.columns)).parquet(place)
    else:
        frame = _read_files(engine, files, keys)
    attributes = base.schema.attributes
    return with_one_zero(as_schema(frame, attributes), [(one.identity, one.name) for one in attributes])


def as_schema(frame: DataFrame, attributes: Iterable[Attribute]) -> DataFrame:
    """Return the columns of attributes, with their types, units and descriptions.

    Columns that are as they should be are left alone, so that Spark can push criteria on them down to the files.
    """
    fields = {one.name: one for one in frame.schema.fields}
    wanted = tuple(attributes)
    chosen = [_column(fields[one.name], one) for one in wanted]
    if all(changed is None for changed in chosen) and [one.name for one in wanted] == frame.columns:
        return frame
    pairs = zip(chosen, wanted, strict=True)
    return frame.select(*(column(one.name) if changed is None else changed for changed, one in pairs))


def _column(field: StructField, one: Attribute) -> Column | None:
    """Return a column as an attribute says, or None if it is so already."""
    notes = said(one)
    found = {key: text for key, text in field.metadata.items() if key in NOTES}
    # To CHAR(n) Spark compares texts of other lengths as if they ended in blanks: that 'a' and 'a ' differ is proved.
    padded = str(field.metadata.get("__CHAR_VARCHAR_TYPE_STRING", "")).startswith("char")
    right = not one.type.scalar or (field.dataType.simpleString() == str(one.type) and not padded)
    if right and found == notes:
        return None
    value = column(one.name) if right else column(one.name).cast(str(one.type))
    return value.alias(one.name, metadata=notes)


# --- files ---


def _write_numbered(engine: Engine, files: Files, keys: Mapping[str, str], place: str) -> None:
    """Write the rows of files in a format in which Spark does not tell the places of rows, with these."""
    group = listed(files.location)
    frame = count_rows(engine, _plain_frame(engine, files, group, {}), files, group, keys)
    frame.write.parquet(address(place))


def _read_files(engine: Engine, files: Files, keys: Mapping[str, str]) -> DataFrame:
    """Read the very files that were checked, by name; not whatever a glob finds by now."""
    groups: dict[Layout, list[File]] = defaultdict(list)
    for file in listed(files.location):
        groups[_layout(file, files)].append(file)
    frames = [_read_group(engine, files, group, dict(layout), keys) for layout, group in groups.items()]
    return reduce(DataFrame.unionByName, frames)


Layout = frozenset[tuple[str, StoredColumn]]
"""How columns of a base lie in a file, by name; those that are not named lie as themselves."""


def _layout(file: File, files: Files) -> Layout:
    astropy = LAYOUT in dict(files.options)
    moments = any(one.type.name.startswith("timestamp") for one in files.columns)
    if files.format != "parquet" or not (astropy or moments):
        return frozenset()
    names = {one.name for one in files.columns}
    with file.open() as opened:
        layout = parquet_layout(opened, file.name, astropy=astropy)
    return frozenset((name, stored) for name, stored in layout.items() if name in names)


def _read_group(
    engine: Engine, files: Files, group: Sequence[File], layout: Mapping[str, StoredColumn], keys: Mapping[str, str]
) -> DataFrame:
    frame = _plain_frame(engine, files, group, layout)
    return add_row_index(engine, frame, files, group, keys) if keys else frame


def _plain_frame(engine: Engine, files: Files, group: Sequence[File], layout: Mapping[str, StoredColumn]) -> DataFrame:
    unreadable = [one for one in files.own_columns if not _spark_has(str(one.type))]
    struct = _stored_struct([one for one in files.own_columns if one not in unreadable], layout)
    options = {**_DEFAULTS.get(files.format, {}), **dict(files.options)}
    options.pop(LAYOUT, None)
    if files.partitions:
        options["basePath"] = address(group[0].address.removesuffix(group[0].name))
    reader = engine.session.read.format(files.format).options(**options).schema(struct)
    frame = reader.load([address(one.address, literal=True) for one in group])
    if not layout and not unreadable:
        return frame
    others = {one.name: _refused(one) for one in unreadable}
    others |= {one.name: laid_out(one, layout[one.name]) for one in files.own_columns if one.name in layout}
    return frame.select(*(others.get(one.name, column(one.name)) for one in files.own_columns))


def _stored_struct(columns: Sequence[FileColumn], layout: Mapping[str, StoredColumn]) -> StructType:
    """Return Spark's schema of the columns as they are stored, with the masks of some."""
    stored = [
        replace(one, name=lies.name, type=stored_type(lies, one.type)) if (lies := layout.get(one.name)) else one
        for one in columns
    ]
    masks = [
        FileColumn(lies.mask, type_named("array<boolean>" if lies.nested else "boolean"), nullable=True)
        for one in columns
        if (lies := layout.get(one.name)) and lies.mask
    ]
    return _struct([*stored, *masks])


def address(location: str, *, literal: bool = False) -> str:
    r"""Return a path or URI as Spark understands it; a literal one is no glob.

    >>> address("/data/stars[1].parquet", literal=True), address("s3://bucket/stars.parquet")
    ('file:///data/stars\\[1\\].parquet', 's3a://bucket/stars.parquet')
    """
    if literal:
        location = re.sub(r"([\\\[\]{}*?])", r"\\\1", location)
    # Without a scheme, Spark on a cluster would look in the cluster's own file system.
    return location.replace("s3://", "s3a://", 1) if "://" in location else f"file://{location}"


def _struct(columns: Sequence[FileColumn]) -> StructType:
    """Return Spark's schema of columns."""
    names = [str(one.type) for one in columns]
    parsed = _parsed(names)
    return StructType(
        [StructField(one.name, parsed[name], True, said(one)) for one, name in zip(columns, names, strict=True)]
    )


_PARSED: dict[str, DataType] = {}


def _parsed(names: Iterable[str]) -> dict[str, DataType]:
    """Let Spark read the names of types, once. They come from an archive, so it reads them as types, not as SQL."""
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


def _spark_has(kind: str) -> bool:
    """Tell whether a type is Spark's, and not one that only Arrow has."""
    return not _ARROW_ONLY.search(re.sub(r"`[^`]*`", "", kind))


def _refused(one: FileColumn) -> Column:
    """Return a column that fails when it is used, and only then."""
    text = f"the column {one.name} is of the type {one.type}, which Spark does not have"
    return sql.raise_error(sql.lit(text)).cast("binary").alias(one.name, metadata=said(one))
