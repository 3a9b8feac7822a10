"""Writing a catalog in HATS: Parquet in parts of the sky, with as many sources in each part as are wanted at most.

Spark computes the rows once, with the cell of each position, into part files. It counts the sources of each cell, this
process divides the sky by these numbers, and Spark distributes the rows to the parts, sorted. Then this process gives
each part its place and footer; see `provenn.spark.tables.hats_folder`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as sql

from provenn.catalogs.population import key_position
from provenn.catalogs.schema import Attribute, Schema
from provenn.criteria.types import BIGINT, DOUBLE, FLOAT, INTEGRAL
from provenn.errors import FormatError, StoreError
from provenn.files.data_folder import DataFolder
from provenn.files.export_notes import FileNotes
from provenn.files.hats_layers import HatsParts, read_parts
from provenn.files.hats_properties import HEALPIX_COLUMN
from provenn.hints import Hint
from provenn.sky.cells import DEEPEST, Integers
from provenn.sky.partitions import Partitions, choose_margin_order, divide_sky, map_margin_cells
from provenn.sky.positions import find_position_attributes, read_angle_unit
from provenn.sky.separations import read_arcseconds
from provenn.spark.columns import column
from provenn.spark.engine import Engine
from provenn.spark.hats_layer_writing import find_new_attributes, write_hats_layer
from provenn.spark.hats_rows import HEALPIX, PLACE, add_cells, distribute_rows
from provenn.spark.reading import conform_to_attributes, format_spark_address

__all__ = ["HatsOptions", "check_hats_schema", "write_hats"]

_MOST_ROWS = 1_000_000
_HIGHEST_ORDER = 10
"""The order of the cells in which sources are counted, and the highest order of a part: cells of 3.4 arcminutes."""

_LARGEST_MARGIN = 3600.0

_CELL, _OWN = "\x1fcell", "\x1fown"


@dataclass(frozen=True, slots=True)
class HatsOptions:
    """The options of a folder in HATS.

    Parameters
    ----------
    pixel_rows
        The most sources of a part.
    margin
        The width of the margin, in arcseconds; None for no margin.
    on
        The names of the attributes of the position; None to find them.
    core
        The core of a layer, which determines the parts and the position; None for a whole catalog.
    """

    pixel_rows: int = _MOST_ROWS
    margin: float | None = None
    on: tuple[str, ...] | None = None
    core: HatsParts | None = None

    @classmethod
    def of(
        cls, pixel_rows: int | None, margin: object, on: Sequence[str] | None, layer: str | PathLike[str] | None = None
    ) -> HatsOptions:
        """Check the options as a caller gives them.

        Raises
        ------
        FormatError
            If an option has an impossible value.
        """
        if layer is not None:
            for name, value in (("pixel_rows", pixel_rows), ("margin", margin), ("on", on)):
                if value is not None:
                    option = f"--{name.replace('_', '-')}"
                    raise FormatError(
                        "the core of a layer determines its parts and positions",
                        hint=Hint(f"omit {name}=", command=f"omit {option}"),
                    )
            return cls(core=read_parts(layer))
        rows = _MOST_ROWS if pixel_rows is None else pixel_rows
        if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
            raise FormatError(f"expected a number of sources for each part, got {rows!r}", hint="for example 1000000")
        width = None if margin is None else read_arcseconds(margin)
        if width is not None and width > _LARGEST_MARGIN:
            raise FormatError(
                f"a margin of {width:g} arcsec is too wide", hint=f"choose at most {_LARGEST_MARGIN:g} arcsec"
            )
        return cls(rows, width, None if on is None else tuple(on))


def check_hats_schema(schema: Schema, options: HatsOptions) -> None:
    """Make sure that a catalog with this schema can be written in HATS.

    Raises
    ------
    FormatError
        If it cannot, as far as the schema shows.
    DefinitionError
        If the position is not known.
    """
    if options.core is None:
        _find_position(schema, options)
    else:
        find_new_attributes(schema, options.core)


def _find_position(schema: Schema, options: HatsOptions) -> tuple[Attribute, Attribute]:
    """Return the attributes of the position, if the catalog can be written in HATS.

    Raises
    ------
    FormatError
        If the position is not in degrees, or is no number.
    DefinitionError
        If the position is not known.
    """
    position = find_position_attributes(schema, options.on)
    for attribute in position:
        unit = read_angle_unit(attribute)
        if unit != "deg":
            raise FormatError(
                f"HATS needs positions in degrees, and {attribute.name} is in {unit}",
                hint="derive both coordinates in degrees, with the unit deg",
            )
        if attribute.type not in (DOUBLE, FLOAT, *INTEGRAL):
            raise FormatError(
                f"HATS needs numbers as positions, and {attribute.name} is a {attribute.type}",
                hint=f"derive it as a number: CAST({attribute.name} AS double)",
            )
    index = schema.get(HEALPIX_COLUMN)
    if index is not None and index.type != BIGINT:
        raise FormatError(
            f"HATS uses the name {HEALPIX_COLUMN} for cells, and here it is a {index.type}", hint="rename the attribute"
        )
    return position


def write_hats(
    engine: Engine,
    frame: DataFrame,
    schema: Schema,
    *,
    parent: DataFolder,
    temporary: str,
    name: str,
    options: HatsOptions,
    notes: FileNotes,
) -> int:
    """Write a catalog in HATS to the entry ``result`` of a temporary folder, and return the number of rows.

    Parameters
    ----------
    engine, frame, schema
        The engine that computes, the data, and their attributes.
    parent, temporary
        The temporary folder, and the folder in which it lies.
    name
        The name of the catalog in the properties.
    options, notes
        The options, and the notes about the contents.

    Raises
    ------
    FormatError
        If the catalog cannot be written in HATS: some source has no position.
    """
    from provenn.spark.tables.hats_folder import HatsFolder  # noqa: PLC0415 - it takes a while to import

    if options.core is not None:
        return write_hats_layer(
            engine, frame, schema, options.core, parent=parent, temporary=temporary, name=name, notes=notes
        )
    position = _find_position(schema, options)
    attributes = tuple(attribute for attribute in schema.attributes if attribute.name != HEALPIX_COLUMN)
    staged = _stage_rows(engine, frame, attributes, position, format_spark_address(parent.at(temporary, "parts")))
    partitions, histogram = _divide_rows(staged, options)
    key = [attribute.name for attribute in attributes if key_position(attribute.identity) is not None]
    distribution = _Distribution(engine, staged, key, partitions, histogram[0])
    distribution.write_pixels(format_spark_address(parent.at(temporary, "pixels")))
    folder = HatsFolder(
        parent,
        temporary,
        name,
        (HEALPIX, *attributes),
        (position[0].name, position[1].name),
        partitions,
        notes,
        staged.limit(0).toArrow().schema,
    )
    if options.margin is not None:
        distribution.write_margins(format_spark_address(parent.at(temporary, "margins")), options.margin / 3600)
    rows = folder.write(histogram, _HIGHEST_ORDER, options.pixel_rows, options.margin)
    if rows != int(partitions.rows.sum()):
        raise StoreError(f"{rows:,} of {int(partitions.rows.sum()):,} rows were written")
    return rows


def _stage_rows(
    engine: Engine, frame: DataFrame, attributes: Sequence[Attribute], position: Sequence[Attribute], place: str
) -> DataFrame:
    """Compute the rows with their cells into part files, and return the rows of these files."""
    observation = Observation("positions")
    keyed = add_cells(conform_to_attributes(frame, attributes), [attribute.name for attribute in position]).select(
        HEALPIX_COLUMN, *(column(attribute.name) for attribute in attributes)
    )
    counted = keyed.observe(
        observation,
        sql.count(sql.lit(1)).alias("rows"),
        sql.count(sql.col(HEALPIX_COLUMN)).alias("placed"),
    )
    counted.write.format("parquet").save(place)
    rows, placed = int(observation.get["rows"]), int(observation.get["placed"])
    if placed < rows:
        names = " and ".join(attribute.name for attribute in position)
        criterion = f"abs({position[0].name}) <= 360 AND abs({position[1].name}) <= 90"
        raise FormatError(
            f"{rows - placed:,} of {rows:,} sources have no position on the sky in {names}; HATS has no place for them",
            hint=Hint(
                f"select the others, {criterion!r}, and write these in another format",
                command=f"select the others, `provenn select … {criterion!r}`, and export these in another format",
            ),
        )
    return engine.session.read.schema(keyed.schema).parquet(place)


def _divide_rows(staged: DataFrame, options: HatsOptions) -> tuple[Partitions, tuple[Integers, Integers]]:
    """Return the parts for rows, and the cells with sources with their numbers of sources."""
    counts = (
        staged.groupBy(_compute_cell(_HIGHEST_ORDER).alias("cell"))
        .agg(sql.count(sql.lit(1)).alias("rows"))
        .toArrow()
        .sort_by("cell")
    )
    cells, rows = (np.asarray(counts[name].to_numpy(), np.int64) for name in ("cell", "rows"))
    return divide_sky(_HIGHEST_ORDER, cells, rows, options.pixel_rows), (cells, rows)


@dataclass(frozen=True, slots=True)
class _Distribution:
    """Distributes rows to the parts of the sky."""

    engine: Engine
    staged: DataFrame
    key: Sequence[str]
    partitions: Partitions
    cells: Integers

    def write_pixels(self, place: str) -> None:
        """Write the rows of each part, sorted by cell and key, to a folder of its own."""
        self._write(self._place_rows(PLACE), place)

    def write_margins(self, place: str, width: float) -> None:
        """Write the rows that may lie in the margin of each part to a folder of its own."""
        order = choose_margin_order(self.partitions, width)
        margins = self._make_table(*map_margin_cells(self.partitions, order), PLACE)
        candidates = self._place_rows(_OWN).join(sql.broadcast(margins), _compute_cell(order) == column(_CELL))
        self._write(candidates.where(column(_OWN) != column(PLACE)).drop(_CELL, _OWN), place)

    def _place_rows(self, name: str) -> DataFrame:
        """Return the rows with the place of their part in a column."""
        order = self.partitions.highest_order
        cells = np.unique(self.cells >> (2 * (_HIGHEST_ORDER - order)))
        pixels = self._make_table(cells, self.partitions.find_pixels(order, cells), name)
        return self.staged.join(sql.broadcast(pixels), _compute_cell(order) == column(_CELL)).drop(_CELL)

    def _make_table(self, cells: Integers, places: Integers, name: str) -> DataFrame:
        table = pa.table({_CELL: pa.array(cells, pa.int64()), name: pa.array(places, pa.int64())})
        return self.engine.session.createDataFrame(table)

    def _write(self, rows: DataFrame, place: str) -> None:
        distribute_rows(rows, len(self.partitions), (HEALPIX_COLUMN, *self.key), place)


def _compute_cell(order: int) -> Column:
    """Return the cell of an order that contains the position of a row."""
    return sql.expr(f"shiftright({HEALPIX_COLUMN}, {2 * (DEEPEST - order)})")
