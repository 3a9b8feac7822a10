"""Plots of two attributes of a catalog: a density of numbers, or the points of arrays such as light curves."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import product
from os import PathLike
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from provenn.archive.array_curves import is_magnitude
from provenn.archive.context import Context
from provenn.archive.data import LIMIT
from provenn.archive.kept_tallies import keep_made_tally, plan_columns, recall_tally
from provenn.archive.picture_files import write_svg_file
from provenn.catalogs import Catalog
from provenn.catalogs.schema import Attribute
from provenn.criteria.types import DATE, INTEGRAL, TIMESTAMP, TIMESTAMP_NTZ, Type
from provenn.data.tallies import find_subjects
from provenn.display.cell_texts import list_values
from provenn.display.density_plot import CurvePoints, density_svg, light_curve_svg
from provenn.display.plot_axis import PlotAxis, Scale
from provenn.display.shares import find_shares
from provenn.errors import PictureError, TooLargeError

if TYPE_CHECKING:
    import pyarrow as pa

    from provenn.knowledge.stored_facts import Fact
    from provenn.targets.engine_choice import EngineChoice

__all__ = ["Plot", "list_counted_plots", "list_plottable", "make_plot"]

_BINS: Final = 90
_MOMENTS: Final = (TIMESTAMP, TIMESTAMP_NTZ)
_CURVES: Final = 12
"""The most sources whose arrays are drawn."""


@dataclass(frozen=True, slots=True, eq=False)
class Plot:
    """Two attributes against each other; a notebook draws it.

    Attributes
    ----------
    name
        The catalog.
    x, y
        The axes: attributes with the lowest and the highest value.
    counts
        The number of sources in each cell of a grid, by place along the first and the second axis; None for arrays.
    curves
        For arrays: the points of the first sources.
    left_out
        The number of sources without both values: NULL, NaN or infinite.
    rests_on
        The declared facts on which the plot rests.
    """

    name: str
    x: PlotAxis
    y: PlotAxis
    counts: NDArray[np.int64] | None
    curves: tuple[CurvePoints, ...] = ()
    left_out: int = 0
    rests_on: tuple[Fact, ...] = ()

    def svg(self, *, inline: bool = False) -> str:
        """Draw the plot; `inline` uses the colours of the surrounding page."""
        if self.counts is None:
            return light_curve_svg(self.name, self.curves, self.x, self.y, inline=inline)
        return density_svg(self.name, self.counts, self.x, self.y, inline=inline)

    def write(self, path: str | PathLike[str]) -> None:
        """Write the plot as an SVG file."""
        write_svg_file(path, self.svg())

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        return f"<Plot {self.y.label} against {self.x.label} of {self.name}>"


def list_plottable(catalog: Catalog) -> tuple[str, ...]:
    """Return the names of the attributes that can be plotted: numbers, dates, moments and arrays."""
    return tuple(
        attribute.name
        for attribute in catalog.schema.attributes
        if _is_array(attribute.type) or _has_numbers(attribute.type)
    )


def list_counted_plots(context: Context, catalog: Catalog) -> list[tuple[str, str]]:
    """Return the pairs of attributes whose plots were counted before."""
    subjects = set(context.read(find_subjects, catalog.digest))
    names = list_plottable(catalog)
    return [(x, y) for x, y in product(names, names) if _name_subject(x, y) in subjects]


def make_plot(
    context: Context,
    catalog: Catalog,
    name: str,
    x: str,
    y: str,
    *,
    engine: EngineChoice = "auto",
    most: int | None = None,
) -> Plot:
    """Return the plot of two attributes of a catalog.

    Parameters
    ----------
    context, catalog
        The archive, and the catalog.
    name
        The name of the catalog, for messages.
    x, y
        The attributes: two numbers, dates or moments; or two arrays of numbers.
    engine
        Who reads the values.
    most
        The most sources, roughly, whose values are read; None for as many as this process can hold.

    Raises
    ------
    AttributeNotFoundError
        If the catalog has no such attribute.
    PictureError
        If an attribute has no numbers, or only one of them is an array.
    TooLargeError
        If there are too many sources.
    """
    attributes = catalog.schema[x], catalog.schema[y]
    are_arrays = [_is_array(attribute.type) for attribute in attributes]
    for attribute, is_array in zip(attributes, are_arrays, strict=True):
        if not is_array and not _has_numbers(attribute.type):
            raise PictureError(
                f"{attribute.name} has the type {attribute.type}: only numbers, dates and moments can be plotted"
            )
    if are_arrays[0] != are_arrays[1]:
        raise PictureError(f"{x} and {y} cannot be plotted together: only one of them is an array")
    replan = plan_columns(context, catalog, name, (x,) if x == y else (x, y))
    if are_arrays[0]:
        plot = _plot_arrays(context.workshop.collect_first_rows(replan, _CURVES, engine=engine), name, *attributes)
        return replace(plot, rests_on=replan().rests_on)
    subject = _name_subject(x, y)
    kept: Any = recall_tally(context, catalog, subject)
    rests_on: tuple[Fact, ...] = ()  # what rests on facts is not kept
    if kept is None:
        rows = replan().rows
        if most is not None and (rows.estimate or rows.high or 0) > most:
            raise TooLargeError(f"the values of {rows.describe('source')} were not counted yet")
        table = context.workshop.collect_for_picture(replan, LIMIT, engine=engine)
        kept = _count_grid(table, x, y)
        plan = replan()
        keep_made_tally(context, catalog, subject, kept, plan)
        rests_on = plan.rests_on
    counts = np.zeros((_BINS, _BINS), np.int64)
    counts.ravel()[np.array(kept["cells"], np.int64)] = kept["counts"]
    first, second = (_make_axis(attribute, *kept[side]) for attribute, side in zip(attributes, "xy", strict=True))
    return Plot(name, first, second, counts, left_out=kept["left_out"], rests_on=rests_on)


def _name_subject(x: str, y: str) -> str:
    """Return the subject of the tally of a plot."""
    return f"plot {json.dumps([x, y])}"


def _is_array(kind: Type) -> bool:
    return str(kind).startswith("array<")


def _has_numbers(kind: Type) -> bool:
    """Return whether values of a type lie on an axis."""
    return kind.name in ("float", "double", "decimal") or kind in (*INTEGRAL, DATE, *_MOMENTS)


def _make_axis(attribute: Attribute, low: float, high: float) -> PlotAxis:
    """Return the axis of an attribute; magnitudes run from faint to bright."""
    label = f"{attribute.name} ({attribute.unit})" if attribute.unit else attribute.name
    scale: Scale = "date" if attribute.type == DATE else "moment" if attribute.type in _MOMENTS else "number"
    return PlotAxis(label, low, high, is_magnitude(attribute.name, attribute.ucd), scale)


def _count_grid(table: pa.Table, x: str, y: str) -> dict[str, Any]:
    """Return the number of rows in each inhabited cell of a grid over all finite values."""
    from provenn.look.tallying import read_numbers  # noqa: PLC0415 - pyarrow takes a while to import

    values = [read_numbers(table.column(name)) for name in (x, y)]
    finite = np.isfinite(values[0]) & np.isfinite(values[1])
    places, ends = [], []
    for numbers in (column[finite] for column in values):
        low, high = (float(numbers.min()), float(numbers.max())) if len(numbers) else (0.0, 1.0)
        high = high if high > low else low + 1
        places.append(np.minimum((find_shares(numbers, low, high) * _BINS).astype(np.int64), _BINS - 1))
        ends.append([low, high])
    cells, counts = np.unique(places[0] * _BINS + places[1], return_counts=True)
    left_out = int(table.num_rows - finite.sum())
    return {"cells": cells.tolist(), "counts": counts.tolist(), "x": ends[0], "y": ends[1], "left_out": left_out}


def _plot_arrays(table: pa.Table, name: str, x: Attribute, y: Attribute) -> Plot:
    """Return the points of the arrays of the first sources."""
    keys = [column for column in table.column_names if column not in (x.name, y.name)]
    curves = []
    rows = zip(*(list_values(column) for column in table.columns), strict=True)
    for row in (dict(zip(table.column_names, values, strict=True)) for values in rows):
        label = ", ".join(f"{key} {row[key]}" for key in keys)
        across, up = (row[attribute.name] or () for attribute in (x, y))
        if len(across) != len(up):  # which elements belong together is unknown
            remark = f"{len(across):,} and {len(up):,} elements, not drawn"
            curves.append(CurvePoints(label, np.zeros(0), np.zeros(0), 0, remark))
            continue
        points = [(_read_value(first), _read_value(second)) for first, second in zip(across, up, strict=True)]
        numbers = np.array(points, float).reshape(-1, 2)
        curves.append(CurvePoints(label, numbers[:, 0], numbers[:, 1], len(numbers)))
    first, second = _find_ends([curve.x for curve in curves]), _find_ends([curve.y for curve in curves])
    return Plot(name, _make_axis(x, *first), _make_axis(y, *second), None, tuple(curves))


def _read_value(value: object) -> float:
    """Return an element of an array as a number; NaN if it is none."""
    return float(value) if isinstance(value, int | float) else float("nan")


def _find_ends(arrays: list[NDArray[np.float64]]) -> tuple[float, float]:
    """Return the lowest and the highest finite number in arrays."""
    numbers = np.concatenate([*arrays, np.zeros(0)])
    finite = numbers[np.isfinite(numbers)]
    return (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
