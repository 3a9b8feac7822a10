"""Tables of Spark's catalog as the base of a catalog."""

from __future__ import annotations

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql import functions as sql
from pyspark.sql.types import MapType, StructField

from provenn.catalogs.digest import content_digest
from provenn.catalogs.file_columns import Column, check_columns
from provenn.catalogs.files import TABLE, Files
from provenn.catalogs.type_names import type_named
from provenn.errors import BaseFilesError, FilesChangedError, FilesMissingError
from provenn.spark.columns import column, quoted
from provenn.spark.engine import Engine

__all__ = ["check_table", "table_files"]


def table_files(engine: Engine, name: str) -> Files:
    """Look at a table of Spark's catalog: what a base catalog needs to know of it.

    A table that lies in files is known by their names, sizes and times. Any other, such as a view or a table of
    another database, is known by a hash of its rows, for which they are all read.

    Parameters
    ----------
    engine
        Where Spark is.
    name
        The name of the table, as SQL has it: ``survey.stars``.

    Raises
    ------
    FilesMissingError
        If there is no such table.
    """
    try:
        found = engine.session.catalog.getTable(name)
        parts = [*([found.catalog] if found.catalog else []), *(found.namespace or []), found.name]
        whole = ".".join(map(quoted, parts))
        frame = engine.session.table(whole)
        columns = tuple(map(_column, frame.schema.fields))
    except AnalysisException as error:
        raise FilesMissingError(f"Spark has no table {name}", hint=str(error).split("\n", 1)[0]) from error
    if found.isTemporary:
        raise BaseFilesError(f"{name} is a temporary view, which no other session has", hint="make it a table")
    prints = _fingerprints(engine, frame, in_files=found.tableType != "VIEW")
    digest = content_digest("table", sorted(prints.items()))
    return Files(
        TABLE, (), check_columns(columns, name), (), digest, whole, tuple(sorted(prints.items())), row_count=None
    )


def check_table(engine: Engine, files: Files) -> None:
    """Make sure that a table is what it was.

    Raises
    ------
    FilesMissingError
        If it is not there any more.
    FilesChangedError
        If it has changed.
    """
    now = table_files(engine, files.location)
    if (now.digest, now.columns) != (files.digest, files.columns):
        raise FilesChangedError(
            f"the table {files.location} changed since it was ingested",
            hint="ingest it again, as a new version, and rebuild on it what is wanted",
        )


def _column(field: StructField) -> Column:
    notes = field.metadata
    said = str(notes.get("description") or notes.get("comment") or "")
    kind = type_named(field.dataType.simpleString())
    return Column(field.name, kind, field.nullable, str(notes.get("unit", "")), said, str(notes.get("ucd", "")))


def _fingerprints(engine: Engine, frame: DataFrame, *, in_files: bool) -> dict[str, str]:
    paths = sorted(frame.inputFiles()) if in_files else []
    if paths:
        reader = engine.session.read.format("binaryFile").load(paths)
        rows = reader.select("path", "length", sql.unix_micros("modificationTime")).collect()
        return {path: f"{length} {modified}" for path, length, modified in rows}
    # Text of maps, which have no hash of their own.
    values = [
        sql.to_json(column(one.name)) if isinstance(one.dataType, MapType) else column(one.name)
        for one in frame.schema.fields
    ]
    hashed = frame.select(sql.xxhash64(*values).alias("hash")).agg(
        sql.count("*"), sql.sum(sql.col("hash").cast("decimal(38,0)")), sql.bit_xor("hash")
    )
    row = hashed.collect()[0]
    return {"rows": " ".join(map(str, row))}
