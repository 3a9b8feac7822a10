"""The number of a catalog's sources in each cell of the sky: counted once, and kept."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from provenn.archive.context import Context
from provenn.archive.data import LIMIT
from provenn.archive.kept_tallies import keep_made_tally, plan_columns, recall_tally
from provenn.catalogs import Catalog
from provenn.errors import TooLargeError
from provenn.sky.cell_numbers import find_cell_numbers, find_places
from provenn.sky.cells import build_cells
from provenn.sky.positions import DEGREES, find_position_attributes, read_angle_unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from provenn.knowledge.stored_facts import Fact
    from provenn.targets.engine_choice import EngineChoice

__all__ = [
    "DEEPEST_COUNTED",
    "CellCounts",
    "CoordinateColumns",
    "count_cells",
    "find_position",
    "find_sources_in_cell",
    "read_positions",
]

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]

DEEPEST_COUNTED: Final = 12
"""The order of the smallest cells that are counted: 0.86 arcminutes."""

_MOST_CELLS: Final = 20_000
"""The most cells that are kept: with more, cells of the next lower order are counted."""


@dataclass(frozen=True, slots=True)
class CoordinateColumns:
    """The attributes of a position, and the factors that turn their values into degrees."""

    ra: str
    dec: str
    ra_factor: float
    dec_factor: float


@dataclass(frozen=True, slots=True, eq=False)
class CellCounts:
    """The number of sources in cells of HEALPix.

    Attributes
    ----------
    order
        The order of the cells.
    numbers, counts
        The numbers of the inhabited cells in the nested scheme, sorted, and the number of sources in each.
    unplaced
        The number of sources without a position: NULL, NaN, or a declination beyond a pole.
    rests_on
        The declared facts on which the counts rest.
    """

    order: int
    numbers: Integers
    counts: Integers
    unplaced: int = 0
    rests_on: tuple[Fact, ...] = ()

    @property
    def total(self) -> int:
        """The number of sources with a position."""
        return int(self.counts.sum())

    def at_order(self, order: int) -> CellCounts:
        """Return the counts in larger cells; cells of a higher order than was counted stay as they are."""
        if order >= self.order:
            return self
        larger = self.numbers >> (2 * (self.order - order))
        numbers, starts = np.unique(larger, return_index=True)
        counts = np.add.reduceat(self.counts, starts) if len(starts) else self.counts
        return CellCounts(order, numbers, counts, self.unplaced)

    def inside(self, order: int, number: int) -> CellCounts:
        """Return the counts of the cells inside a cell."""
        shift = 2 * max(0, self.order - order)
        chosen = self.numbers >> shift == (number if self.order >= order else -1)
        return CellCounts(self.order, self.numbers[chosen], self.counts[chosen])


def find_position(catalog: Catalog, on: Sequence[str] | None = None) -> CoordinateColumns:
    """Return the attributes that hold the position of a catalog's sources.

    Raises
    ------
    DefinitionError
        If no attributes fit, or their units are not those of angles.
    """
    ra, dec = find_position_attributes(catalog.schema, on)
    return CoordinateColumns(ra.name, dec.name, DEGREES[read_angle_unit(ra)], DEGREES[read_angle_unit(dec)])


def count_cells(
    context: Context,
    catalog: Catalog,
    name: str,
    *,
    on: Sequence[str] | None = None,
    engine: EngineChoice = "auto",
    most: int | None = None,
) -> CellCounts:
    """Return the number of a catalog's sources in each cell of the sky; count them only if this is unknown.

    Parameters
    ----------
    context, catalog
        The archive, and the catalog.
    name
        The name of the catalog, for messages.
    on
        The names of the attributes of right ascension and declination; by default found by UCD or usual name.
    engine
        Who reads the positions.
    most
        The most sources, roughly, whose positions are read; None for as many as this process can hold.

    Raises
    ------
    DefinitionError
        If the catalog has no position.
    SparkNeededError
        If only a look is allowed, and Spark must compute the positions.
    TooLargeError
        If there are too many positions.
    """
    position = find_position(catalog, on)
    subject = f"sky {json.dumps([position.ra, position.dec])}"
    kept: Any = recall_tally(context, catalog, subject)
    if kept is not None:
        numbers, counts = (np.array(kept[key], np.int64) for key in ("numbers", "counts"))
        return CellCounts(kept["order"], np.cumsum(numbers), counts, kept["unplaced"])
    replan = plan_columns(context, catalog, name, (position.ra, position.dec))
    rows = replan().rows
    if most is not None and (rows.estimate or rows.high or 0) > most:
        raise TooLargeError(f"the positions of {rows.describe('source')} were not counted yet")
    table = context.workshop.collect_for_picture(replan, LIMIT, engine=engine)
    cells = _count_table(table, position)
    steps = np.diff(cells.numbers, prepend=0)  # differences are shorter
    content = {"order": cells.order, "numbers": steps.tolist(), "counts": cells.counts.tolist()}
    plan = replan()
    keep_made_tally(context, catalog, subject, {**content, "unplaced": cells.unplaced}, plan)
    return replace(cells, rests_on=plan.rests_on)


def find_sources_in_cell(
    context: Context, catalog: Catalog, name: str, order: int, number: int, *, most: int, engine: EngineChoice = "look"
) -> tuple[int, pa.Table]:
    """Return the number of sources in a cell, and the first of them with their keys and positions.

    Parameters
    ----------
    context, catalog, name, engine
        As for `count_cells`.
    order, number
        The cell, in the nested scheme.
    most
        The most sources to return.
    """
    import pyarrow as pa  # noqa: PLC0415 - it takes a while to import

    position = find_position(catalog)
    replan = plan_columns(context, catalog, name, (position.ra, position.dec))
    table = context.workshop.collect_for_picture(replan, LIMIT, engine=engine)
    ra, dec = read_positions(table, position)
    cell = build_cells(order, np.array([number]))
    near = find_places(ra, dec) & (np.abs(dec - cell.centres.dec[0]) <= cell.radius)
    candidates = np.flatnonzero(near)
    inside = candidates[find_cell_numbers(order, ra[candidates], dec[candidates]) == number]
    return len(inside), table.take(pa.array(inside[:most].tolist(), pa.int64()))


def read_positions(table: pa.Table, position: CoordinateColumns) -> tuple[Numbers, Numbers]:
    """Return the positions in a table, in degrees; NaN for NULL."""
    from provenn.look.tallying import read_numbers  # noqa: PLC0415 - pyarrow takes a while to import

    return (
        read_numbers(table.column(position.ra)) * position.ra_factor,
        read_numbers(table.column(position.dec)) * position.dec_factor,
    )


def _count_table(table: pa.Table, position: CoordinateColumns) -> CellCounts:
    """Return the number of positions in the smallest cells of which there are not too many."""
    ra, dec = read_positions(table, position)
    placed = find_places(ra, dec)
    inhabited = find_cell_numbers(DEEPEST_COUNTED, ra[placed], dec[placed])
    numbers, counts = np.unique(inhabited, return_counts=True)
    cells = CellCounts(DEEPEST_COUNTED, numbers, counts.astype(np.int64), int(len(ra) - placed.sum()))
    while len(cells.numbers) > _MOST_CELLS:
        cells = cells.at_order(cells.order - 1)
    return cells
