"""Light curves on the page of a catalog: the arrays of its first sources, in numbers that can be kept."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from provenn.catalogs.schema import Attribute, Schema
from provenn.look.array_types import parse_array_type

__all__ = ["SeenCurve", "SeenCurves", "find_curves", "is_magnitude", "recall_curves"]

MOST_SOURCES: Final = 4
"""The most sources in a picture: each has a colour of its own."""

_MOST_PICTURES: Final = 8
_MOST_POINTS: Final = 300
_TIME: Final = re.compile(r"(^|_)([hbm]?jd|time|times|date|epoch|t|obstime|midpointmjdtai)s?$", re.IGNORECASE)
"""Names of times, by which points are ordered."""


@dataclass(frozen=True, slots=True)
class SeenCurve:
    """The points of a source that can be drawn.

    Attributes
    ----------
    source
        The key of the source, in words.
    x, y
        The values, finite ones only.
    points
        The number of elements in the array; more than the values if some are missing, or if the array is long.
    """

    source: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    points: int


@dataclass(frozen=True, slots=True)
class SeenCurves:
    """An array attribute of the first sources.

    Attributes
    ----------
    x, y
        What the axes show, with units.
    is_reversed
        Whether the second axis runs from high to low, as magnitudes do.
    curves
        The sources.
    """

    x: str
    y: str
    is_reversed: bool
    curves: tuple[SeenCurve, ...]

    def svg(self, name: str, *, inline: bool = False) -> str:
        """Draw the curves; `name` is the catalog, and `inline` uses the colours of the surrounding page."""
        import numpy as np  # noqa: PLC0415 - most pages have no arrays

        from provenn.display.density_plot import CurvePoints, light_curve_svg  # noqa: PLC0415 - see above
        from provenn.display.plot_axis import PlotAxis  # noqa: PLC0415

        drawn = [
            CurvePoints(curve.source, np.array(curve.x, float), np.array(curve.y, float), curve.points)
            for curve in self.curves
        ]
        ends = [
            (min(values), max(values))
            for values in ([value for curve in self.curves for value in getattr(curve, side)] for side in ("x", "y"))
        ]
        across, up = PlotAxis(self.x, *ends[0]), PlotAxis(self.y, *ends[1], self.is_reversed)
        return light_curve_svg(name, drawn, across, up, inline=inline)


@dataclass(frozen=True, slots=True)
class _Path:
    """Where numbers lie: in an array attribute or, for structs, in a field of its elements."""

    attribute: Attribute
    field: str = ""

    @property
    def name(self) -> str:
        return self.field or self.attribute.name

    @property
    def ucd(self) -> str:
        return "" if self.field else self.attribute.ucd

    @property
    def label(self) -> str:
        if self.field:
            return f"{self.attribute.name}.{self.field}"
        return f"{self.attribute.name} ({self.attribute.unit})" if self.attribute.unit else self.attribute.name

    def read(self, row: Mapping[str, Any]) -> list[float]:
        """Return the numbers of a row; NaN for elements that are NULL."""
        elements = row[self.attribute.name] or ()
        values = [element and element[self.field] for element in elements] if self.field else elements
        return [math.nan if value is None else float(value) for value in values]


def find_curves(schema: Schema, rows: Sequence[Mapping[str, Any]]) -> tuple[SeenCurves, ...]:
    """Return the arrays of the first rows that can be drawn.

    Numbers are drawn against the times of the same source: those in another field of the same structs, or in another
    array of the same length. Without times, they are drawn against their position.

    Parameters
    ----------
    schema
        The attributes of the catalog.
    rows
        Some rows by attribute, at least the key and the arrays.
    """
    key = [attribute.name for attribute in schema.key]
    pictures = []
    shown = rows[:MOST_SOURCES]
    for time, up in list(_pair_paths(schema, set(rows[0]) if rows else set()))[:_MOST_PICTURES]:
        across = time if time is not None and _have_same_lengths(shown, time, up) else None
        curves = tuple(_read_curve(key, row, across, up) for row in shown)
        if any(curve.x for curve in curves):
            label = "position" if across is None else across.label
            pictures.append(SeenCurves(label, up.label, is_magnitude(up.name, up.ucd), curves))
    return tuple(pictures)


def recall_curves(kept: Sequence[Mapping[str, Any]]) -> tuple[SeenCurves, ...]:
    """Return curves from the form in which they were kept."""
    return tuple(
        SeenCurves(
            picture["x"],
            picture["y"],
            picture["is_reversed"],
            tuple(
                SeenCurve(curve["source"], tuple(curve["x"]), tuple(curve["y"]), curve["points"])
                for curve in picture["curves"]
            ),
        )
        for picture in kept
    )


def _pair_paths(schema: Schema, columns: set[str]) -> Iterator[tuple[_Path | None, _Path]]:
    """Yield what is drawn: the numbers of the second axis, and the times of the first, if there are any."""
    plain = []
    for attribute in schema.attributes:
        array = parse_array_type(attribute.type) if attribute.name in columns else None
        if array is None:
            continue
        if array.element:
            plain.append(_Path(attribute))
            continue
        paths = [_Path(attribute, field) for field in array.numbers]
        yield from _pair_with_time(paths)
    yield from _pair_with_time(plain)


def _pair_with_time(paths: Sequence[_Path]) -> Iterator[tuple[_Path | None, _Path]]:
    """Yield each of some numbers with the first of them that is a time."""
    time = next((path for path in paths if _TIME.search(path.name)), None)
    for path in paths:
        if path is not time or len(paths) == 1:
            yield (time if path is not time else None), path


def _have_same_lengths(rows: Sequence[Mapping[str, Any]], across: _Path, up: _Path) -> bool:
    """Return whether two arrays are equally long in each row with both: only then do their elements belong together."""
    pairs = ((row[across.attribute.name], row[up.attribute.name]) for row in rows)
    return all(first is None or second is None or len(first) == len(second) for first, second in pairs)


def _read_curve(key: Sequence[str], row: Mapping[str, Any], across: _Path | None, up: _Path) -> SeenCurve:
    """Return the points of a row: elements at the same position, where both are finite."""
    values = up.read(row)
    times = [float(place) for place in range(len(values))] if across is None else across.read(row)
    points = [pair for pair in zip(times, values, strict=False) if all(map(math.isfinite, pair))]
    shown = _thin_out(points)
    source = ", ".join(f"{name} {row[name]}" for name in key)
    return SeenCurve(source, tuple(x for x, _ in shown), tuple(y for _, y in shown), len(values))


def _thin_out(points: Sequence[tuple[float, float]]) -> Sequence[tuple[float, float]]:
    """Return at most some hundred points, evenly by position, the first and the last among them."""
    if len(points) <= _MOST_POINTS:
        return points
    return [points[place * (len(points) - 1) // (_MOST_POINTS - 1)] for place in range(_MOST_POINTS)]


def is_magnitude(name: str, ucd: str) -> bool:
    """Return whether numbers are magnitudes, by their UCD or their name; colours are not."""
    return ucd.startswith("phot.mag") or name.lower().rstrip("s").endswith("mag")
