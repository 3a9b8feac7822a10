"""Writing a layer in HATS: new attributes of the sources of a core, in the parts and in the order of the core.

Spark reads the keys of the core with the places of its rows, joins the new attributes by the key, and distributes the
rows. Every source of the core must have a row, and there may be no other sources.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as sql

from provenn.catalogs.schema import Attribute, Schema
from provenn.criteria.types import DOUBLE, INTEGRAL
from provenn.errors import FormatError, StoreError
from provenn.files.columns import FileColumn
from provenn.files.data_folder import DataFolder
from provenn.files.export_notes import FileNotes
from provenn.files.hats_layers import HatsParts
from provenn.files.hats_properties import HEALPIX_COLUMN
from provenn.sky.partitions import Partitions
from provenn.spark.columns import column
from provenn.spark.engine import Engine
from provenn.spark.hats_rows import HEALPIX, PLACE, add_cells, distribute_rows
from provenn.spark.reading import conform_to_attributes, format_spark_address

__all__ = ["find_new_attributes", "write_hats_layer"]

_ORDER, _PIXEL, _FILE, _ROW, _KEY = "\x1forder", "\x1fnumber", "\x1ffile", "\x1frow", "\x1fkey"
_INSERTED = (HEALPIX_COLUMN, PLACE, _FILE, _ROW)


def find_new_attributes(schema: Schema, core: HatsParts) -> tuple[Attribute, tuple[Attribute, ...]]:
    """Return the key, and the attributes that a core lacks: a layer holds both.

    Attributes are compared by name, as other programs read them.

    Raises
    ------
    FormatError
        If the core has another key or states no position, or there are no new attributes.
    """
    if len(schema.key) != 1:
        names = ", ".join(attribute.name for attribute in schema.key)
        raise FormatError(
            f"layers join their core on one column, and the key is ({names})", hint="write all attributes"
        )
    (key,) = schema.key
    if key.name not in core.columns:
        raise FormatError(
            f"the core {core.folder} has no column {key.name}, the key of the sources",
            hint=f"rename {key.name} to the name that the key has in the core, or choose another core",
        )
    if not set(core.position) <= set(core.columns):
        raise FormatError(f"the core {core.folder} does not state its position", hint="choose another core")
    new = tuple(attribute for attribute in schema.attributes if attribute.name not in (*core.columns, HEALPIX_COLUMN))
    if not new:
        raise FormatError(
            f"the core {core.folder} has all these attributes: {', '.join(schema.names)}",
            hint="a layer holds attributes that the core lacks; rename those that differ",
        )
    return key, new


def write_hats_layer(
    engine: Engine,
    frame: DataFrame,
    schema: Schema,
    core: HatsParts,
    *,
    parent: DataFolder,
    temporary: str,
    name: str,
    notes: FileNotes,
) -> int:
    """Write a layer to the entry ``result`` of a temporary folder, and return the number of rows.

    Parameters are those of `provenn.spark.hats_writing.write_hats`.

    Raises
    ------
    FormatError
        If the catalog does not have the sources of the core.
    """
    from provenn.spark.tables.hats_folder import HatsFolder  # noqa: PLC0415 - it takes a while to import

    key, new = find_new_attributes(schema, core)
    rows, partitions = _read_core(engine, core, key)
    values = conform_to_attributes(frame.select(*(column(item.name) for item in (key, *new))), (key, *new))
    values = values.withColumnRenamed(key.name, _KEY)
    observation = Observation("alignment")
    joined = rows.join(values, column(key.name) == column(_KEY), "full_outer").observe(
        observation,
        sql.count_if(column(key.name).isNull()).alias("foreign"),
        sql.count_if(column(_KEY).isNull()).alias("missing"),
    )
    names = dict.fromkeys((HEALPIX_COLUMN, key.name, *core.position, *(attribute.name for attribute in new)))
    layer = joined.select(*(column(label) for label in (*names, PLACE, _FILE, _ROW)))
    address = format_spark_address(parent.at(temporary, "pixels"))
    distribute_rows(layer, len(partitions), (_FILE, _ROW), address, left_out=(_FILE, _ROW))
    _check_sources(core, int(partitions.rows.sum()), observation.get)
    attributes = {attribute.name: attribute for attribute in (key, *new)}
    folder = HatsFolder(
        parent,
        temporary,
        name,
        tuple(attributes.get(label) or _describe_column(label, core) for label in names),
        core.position,
        partitions,
        notes,
        layer.select(*map(column, names)).limit(0).toArrow().schema,
        is_sorted=False,
    )
    written = folder.write_layer(core.folder, key.name)
    if written != int(partitions.rows.sum()):
        raise StoreError(f"{written:,} of {int(partitions.rows.sum()):,} rows were written")
    return written


def _read_core(engine: Engine, core: HatsParts, key: Attribute) -> tuple[DataFrame, Partitions]:
    """Return the key, position, cell and place of each row of a core, and the parts of the core."""
    places = [format_spark_address(file.address, literal=True) for file in core.list_files()]
    frame = engine.session.read.format("parquet").option("recursiveFileLookup", "true").load(places)
    kind = frame.schema[key.name].dataType.simpleString()
    if kind != str(key.type) and not {kind, str(key.type)} <= set(map(str, INTEGRAL)):
        raise FormatError(
            f"the key {key.name} is a {key.type}, and in the core {core.folder} a {kind}", hint="choose another core"
        )
    wanted = dict.fromkeys((key.name, *core.position, *([HEALPIX_COLUMN] if HEALPIX_COLUMN in core.columns else [])))
    path = sql.col("_metadata.file_path")
    words = {_ORDER: "Norder", _PIXEL: "Npix"}
    rows = frame.select(
        *map(column, wanted),
        *(
            sql.regexp_extract(path, rf".*{word}(?:=|%3D)(\d+)", 1).cast("bigint").alias(name)
            for name, word in words.items()
        ),
        path.alias(_FILE),
        sql.col("_metadata.row_index").alias(_ROW),
    ).withColumn(key.name, column(key.name).cast(str(key.type)))
    rows = rows if HEALPIX_COLUMN in wanted else add_cells(rows, core.position)
    counts = rows.groupBy(_ORDER, _PIXEL).agg(sql.count(sql.lit(1)).alias("rows")).toArrow()
    parts = Partitions(*(np.asarray(counts[name].to_numpy(), np.int64) for name in (_ORDER, _PIXEL, "rows")))
    sequence = np.argsort(parts.starts)
    parts = Partitions(parts.orders[sequence], parts.numbers[sequence], parts.rows[sequence])
    table = pa.table({_ORDER: parts.orders, _PIXEL: parts.numbers, PLACE: np.arange(len(parts))})
    return rows.join(sql.broadcast(engine.session.createDataFrame(table)), [_ORDER, _PIXEL]), parts


def _check_sources(core: HatsParts, rows: int, counts: dict[str, int]) -> None:
    """Make sure that the catalog and the core have the same sources.

    Raises
    ------
    FormatError
        If one has sources that the other lacks.
    """
    if counts["missing"]:
        raise FormatError(
            f"{counts['missing']:,} of {rows:,} sources of the core {core.folder} are missing here",
            hint="a layer has a row for each source of its core; write these sources as a catalog of their own",
        )
    if counts["foreign"]:
        raise FormatError(
            f"{counts['foreign']:,} sources are not in the core {core.folder}",
            hint="restrict the catalog to the sources of the core, or choose the core that holds them",
        )


def _describe_column(name: str, core: HatsParts) -> FileColumn:
    """Return the column of a layer that comes from its core."""
    if name == HEALPIX_COLUMN:
        return HEALPIX
    ucd = "pos.eq.ra;meta.main" if name == core.position[0] else "pos.eq.dec;meta.main"
    return FileColumn(name, DOUBLE, nullable=True, unit="deg", ucd=ucd)
