"""The file and place of each row as columns: the key of tables without a key (`provenn.files.row_keys`)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import unquote

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sql

from provenn.files.file_set import Files
from provenn.files.listing import File
from provenn.spark.columns import column
from provenn.spark.engine import Engine

__all__ = ["add_row_keys", "number_rows"]

_PATH, _FILE, _PLACE, _START = "\x1fpath", "\x1ffile", "\x1fplace", "\x1fstart"  # names that no attribute has


def add_row_keys(
    engine: Engine, frame: DataFrame, files: Files, group: Sequence[File], keys: Mapping[str, str]
) -> DataFrame:
    """Return the rows of Parquet files with the columns of their key.

    Parameters
    ----------
    engine
        The engine that computes.
    frame
        A frame that reads the files, without any further operation.
    files
        The files of the base catalog, with `row_key`.
    group
        The files that `frame` reads.
    keys
        The first half of the key for the rows of each file, by the name of the file.
    """
    metadata = frame.metadataColumn("_metadata")
    halves = _map_addresses(frame, group, keys)
    return _add_keys(engine, frame, files, (metadata["file_path"], metadata["row_index"]), halves)


def number_rows(
    engine: Engine, frame: DataFrame, files: Files, group: Sequence[File], keys: Mapping[str, str]
) -> DataFrame:
    """Return the rows of files of all formats but Parquet with the key columns; parameters as for `add_row_keys`.

    Spark does not number these rows, and may read a file in several blocks. Blocks are ordered by their start, and rows
    within a block in the order of reading. For this, all rows of a file go to the same task.
    """
    metadata = frame.metadataColumn("_metadata")
    located = frame.select(
        "*",
        metadata["file_path"].alias(_PATH),
        metadata["file_block_start"].alias(_START),
        sql.monotonically_increasing_id().alias(_PLACE),
    )
    order = Window.partitionBy(sql.col(_PATH)).orderBy(sql.col(_START), sql.col(_PLACE))
    place = (sql.row_number().over(order) - 1).cast("bigint")
    return _add_keys(engine, located, files, (sql.col(_PATH), place), _map_addresses(frame, group, keys))


def _add_keys(
    engine: Engine, frame: DataFrame, files: Files, origin: tuple[Column, Column], halves: Mapping[str, str]
) -> DataFrame:
    """Return rows with their keys, given the columns of their address and place, and half a key by address."""
    path, place = origin
    own = [column(file_column.name) for file_column in files.own_columns]
    file_name, row_name = files.row_key
    if len(halves) == 1:
        return frame.select(*own, sql.lit(*halves.values()).alias(file_name), place.alias(row_name))
    located = frame.select(*own, _shorten_address(path).alias(_PATH), place.alias(row_name))
    known = engine.session.createDataFrame(list(halves.items()), [_PATH, _FILE])
    joined = located.join(sql.broadcast(known), _PATH, "left")
    unknown = sql.raise_error(sql.concat(sql.lit("a row of no known file: "), sql.col(_PATH)))
    return joined.select(*own, sql.coalesce(sql.col(_FILE), unknown).alias(file_name), column(row_name))


def _shorten_address(path: Column) -> Column:
    return sql.regexp_replace(path, "^file:/+", "/")


def _map_addresses(frame: DataFrame, group: Sequence[File], keys: Mapping[str, str]) -> dict[str, str]:
    """Return the half of the key for each file, by the address in Spark's metadata of the rows.

    Only Spark knows the escaped characters of an address, so the addresses come from Spark's own list of files.
    """
    known = {re.sub("^s3://", "s3a://", re.sub("^file:/+", "/", file.address)): keys[file.name] for file in group}
    addresses = (re.sub("^file:/+", "/", address) for address in frame.inputFiles())
    return {address: known[unquote(address)] for address in addresses}
