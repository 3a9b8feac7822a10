"""The file and the place of each row, as columns: the key of tables that have none (`provenn.catalogs.row_keys`)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import unquote

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sql

from provenn.catalogs.file_listing import File
from provenn.catalogs.files import Files
from provenn.spark.columns import column
from provenn.spark.engine import Engine

__all__ = ["add_row_index", "count_rows"]

_PATH, _FILE, _PLACE, _START = "\x1fpath", "\x1ffile", "\x1fplace", "\x1fstart"  # no attribute is called so


def add_row_index(
    engine: Engine, frame: DataFrame, files: Files, group: Sequence[File], keys: Mapping[str, str]
) -> DataFrame:
    """Return the rows of Parquet files with the columns that identify each.

    Parameters
    ----------
    engine
        Where Spark is.
    frame
        Reads the files, and nothing else was done with it.
    files
        What the files are, with `row_key`.
    group
        The files that it reads.
    keys
        The first half of the key of all rows of each file, by the file's name.
    """
    found = frame.metadataColumn("_metadata")
    names = _addresses(frame, group, keys)
    return _keyed(engine, frame, files, (found["file_path"], found["row_index"]), names)


def count_rows(
    engine: Engine, frame: DataFrame, files: Files, group: Sequence[File], keys: Mapping[str, str]
) -> DataFrame:
    """Return the same for rows of other files, of which Spark does not say the place; the parameters are the same.

    Spark may read a file in several blocks. Blocks are in order by where they start, and rows within a block by when
    they are read. All rows of a file are brought together for it.
    """
    found = frame.metadataColumn("_metadata")
    read = frame.select(
        "*",
        found["file_path"].alias(_PATH),
        found["file_block_start"].alias(_START),
        sql.monotonically_increasing_id().alias(_PLACE),
    )
    order = Window.partitionBy(sql.col(_PATH)).orderBy(sql.col(_START), sql.col(_PLACE))
    place = (sql.row_number().over(order) - 1).cast("bigint")
    return _keyed(engine, read, files, (sql.col(_PATH), place), _addresses(frame, group, keys))


def _keyed(
    engine: Engine, frame: DataFrame, files: Files, found: tuple[Column, Column], names: Mapping[str, str]
) -> DataFrame:
    """Return rows with their keys, given the address and place of each, and a half of the key for each address."""
    path, place = found
    own = [column(one.name) for one in files.own_columns]
    file_name, row_name = files.row_key
    if len(names) == 1:
        return frame.select(*own, sql.lit(*names.values()).alias(file_name), place.alias(row_name))
    read = frame.select(*own, _address(path).alias(_PATH), place.alias(row_name))
    halves = engine.session.createDataFrame(list(names.items()), [_PATH, _FILE])
    joined = read.join(sql.broadcast(halves), _PATH, "left")
    unknown = sql.raise_error(sql.concat(sql.lit("a row of no known file: "), sql.col(_PATH)))
    return joined.select(*own, sql.coalesce(sql.col(_FILE), unknown).alias(file_name), column(row_name))


def _address(path: Column) -> Column:
    return sql.regexp_replace(path, "^file:/+", "/")


def _addresses(frame: DataFrame, group: Sequence[File], keys: Mapping[str, str]) -> dict[str, str]:
    """Return the half of the key for each file, by its address as Spark tells it with rows.

    What Spark escapes in an address is its own business, so its own list of the files is taken.
    """
    known = {re.sub("^s3://", "s3a://", re.sub("^file:/+", "/", file.address)): keys[file.name] for file in group}
    listed = (re.sub("^file:/+", "/", text) for text in frame.inputFiles())
    return {address: known[unquote(address)] for address in listed}
