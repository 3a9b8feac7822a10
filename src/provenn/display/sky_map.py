"""A map of the sky: the density of sources in cells, outlines of regions, and a graticule."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from provenn.display.figure import ACCENT, Figure, draw_text, render_document, shorten_label, stack_vertically
from provenn.display.markup import Element, ElementReference, make_element
from provenn.display.sky_projection import SkyView

__all__ = [
    "MOST_LAYERS",
    "SkyCells",
    "SkyLinks",
    "SkyOutline",
    "SkyPoints",
    "SkyView",
    "missing_map_svg",
    "sky_map_svg",
]

Numbers = NDArray[np.float64]

_COLOURS = (ACCENT, "#c9541c", "#2f9461", "#9159c9")
"""A colour for each catalog; each is visible on white and on black."""

MOST_LAYERS = len(_COLOURS)
"""The most catalogs on a map."""

_CLASSES = 6
_NAME, _NOTE, _LABEL = 14.0, 13.0, 12.0
"""The sizes of texts: on a phone, a map is drawn in half its width."""

_MOST_REACHED = 40
"""The most cells that are reached by keyboard one after the other."""


@dataclass(frozen=True, slots=True, eq=False)
class SkyCells:
    """The cells of a catalog.

    Parameters
    ----------
    name
        The catalog.
    ra, dec
        The corners of the cells in degrees, a row per cell.
    counts
        The number of sources in each cell.
    total
        The number of sources in all cells, on the map or not.
    """

    name: str
    ra: Numbers
    dec: Numbers
    counts: NDArray[np.int64]
    total: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class SkyLinks:
    """Cells that lead somewhere, with an address for each; the cells need not be those that are drawn."""

    cells: SkyCells
    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class SkyPoints:
    """Positions of sources, in degrees, which are drawn as dots."""

    ra: Numbers
    dec: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class SkyOutline:
    """A closed line on the sky, in degrees, and the region that it surrounds in words."""

    name: str
    ra: Numbers
    dec: Numbers


def sky_map_svg(
    layers: Sequence[SkyCells],
    outlines: Sequence[SkyOutline] = (),
    *,
    links: SkyLinks | None = None,
    points: SkyPoints | None = None,
    view: SkyView | None = None,
    size: str = "",
    inline: bool = False,
) -> str:
    """Draw the density of sources on the sky.

    Parameters
    ----------
    layers
        The cells of each catalog, at most 4 of them. Several catalogs have a colour each.
    outlines
        Regions, drawn as lines over the cells.
    links
        Cells that are links, over everything else.
    points
        Sources to draw as dots.
    view
        The part of the sky; by default all of it.
    size
        The size of a cell in words, for the legend.
    inline
        Whether the picture goes into a page and takes its colours; otherwise it brings its own.
    """
    part = SkyView() if view is None else view
    parts: list[Element] = []
    bounds = [_find_classes(layer.counts) for layer in layers]
    for colour, layer, classes in zip(_COLOURS, layers, bounds, strict=False):
        parts += _draw_cells(part, layer, classes, colour)
    parts += _draw_graticule(part)
    parts += [_draw_outline(part, outline) for outline in outlines]
    parts += [] if points is None else _draw_points(part, points)
    parts += [] if links is None else _draw_links(part, links)
    frame = _draw_frame(part)
    clip = make_element("clipPath", frame, id="-sky")
    content = make_element("g", *parts, clip_path=ElementReference("-sky"))
    picture = Figure(
        part.width, part.height, (make_element("defs", clip), content, _outlined(frame), *_label_graticule(part))
    )
    notes = [f"cells of {size}, stronger where there are more sources"] if size else []
    notes += [f"dots: {_count_sources(len(points.ra))}"] if points is not None and len(points.ra) else []
    regions = list(dict.fromkeys(outline.name for outline in outlines))
    notes += [f"lines: {shorten_label('; '.join(regions), 90)}"] if regions else []
    legend = _draw_legends(layers, bounds, part.width)
    figure = stack_vertically([picture, legend, *(draw_text(note, size=_NOTE, faint=True) for note in notes)], gap=6)
    names = ", ".join(layer.name for layer in layers)
    counted = "; ".join(f"{layer.name}: {layer.total:,} sources in {len(layer.counts):,} cells" for layer in layers)
    return render_document(
        figure, title=f"Sky map of {names}", description=counted, inline=inline, interactive=links is not None
    )


def missing_map_svg(reason: str) -> str:
    """Return a picture in the place of a map that cannot be drawn: it says why, in lines of some words."""
    lines = textwrap.wrap(f"No map is shown: {reason}.", 48)[:8]
    figure = stack_vertically([draw_text(line, size=13, faint=True) for line in lines], gap=3, align=0)
    return render_document(figure, title="No map is shown", description=reason)


def _find_classes(counts: NDArray[np.int64]) -> list[int]:
    """Return the least count of each class of density: the same ratio apart, from the lowest to the highest count."""
    if not len(counts):
        return [1]
    least, most = int(counts.min()), int(counts.max())
    if most - least < _CLASSES:
        return list(range(least, most + 1))
    return sorted({least, *(round(least * (most / least) ** (place / _CLASSES)) for place in range(_CLASSES))})


def _draw_cells(view: SkyView, layer: SkyCells, bounds: Sequence[int], colour: str) -> list[Element]:
    """Return the cells of a catalog, those of a class as one path."""
    if not len(layer.counts):
        return []
    outlines = _trace_cells(view, layer)
    places = np.searchsorted(bounds, layer.counts, side="right") - 1
    drawn = []
    for place in range(len(bounds)):
        path = "".join(outlines[cell] for cell in np.flatnonzero(places == place))
        if path:
            drawn.append(make_element("path", d=path, fill=colour, fill_opacity=_shade(place, len(bounds))))
    return drawn


def _draw_points(view: SkyView, points: SkyPoints) -> list[Element]:
    """Return sources as dots in the colour of text, which is seen on every density."""
    x, y = view.project(points.ra, points.dec)
    seen = np.isfinite(x) & np.isfinite(y)
    path = "".join(f"M{across:.1f} {down:.1f}h0" for across, down in zip(x[seen], y[seen], strict=True))
    style: dict[str, str | float] = {"stroke": "currentColor", "stroke_linecap": "round", "fill": "none"}
    return [make_element("path", d=path or "M0 0", stroke_width=3.0, stroke_opacity=0.75, **style)]


def _draw_links(view: SkyView, links: SkyLinks) -> list[Element]:
    """Return invisible cells that are links; the keyboard passes over them if there are many."""
    drawn = []
    reached = {} if len(links.addresses) <= _MOST_REACHED else {"tabindex": "-1"}
    for path, address, count in zip(
        _trace_cells(view, links.cells), links.addresses, links.cells.counts.tolist(), strict=True
    ):
        if path:
            title = make_element("title", _count_sources(count))
            area = make_element("path", d=path, fill=ACCENT, fill_opacity=0.0)
            drawn.append(make_element("a", title, area, href=address, **reached))
    return drawn


def _shade(place: int, classes: int) -> float:
    """Return the opacity of a class of density."""
    return 0.15 + 0.85 * (place + 1) / classes if classes > 1 else 0.8


def _trace_cells(view: SkyView, layer: SkyCells) -> list[str]:
    """Return the data of an SVG path for each cell; empty for a cell outside the map.

    A cell across the edge of the whole sky is drawn at both sides.
    """
    middle = _find_middles(layer.ra, layer.dec)
    sides = [middle] if view.radius is not None else [middle, middle + 360, middle - 360]
    paths = [""] * len(layer.counts)
    for about in sides:
        x, y = view.project(layer.ra, layer.dec, about[:, None])
        near = np.isfinite(x).all(axis=1)
        if view.radius is None:  # a cell is on the map if some corner of it is
            lon = about[:, None] + (np.mod(layer.ra - about[:, None] + 180, 360) - 180)
            near &= (lon.max(axis=1) > 0) & (lon.min(axis=1) < 360)
        else:
            near &= (x.max(axis=1) > 0) & (x.min(axis=1) < view.width)  # a cell may be larger than the map
            near &= (y.max(axis=1) > 0) & (y.min(axis=1) < view.height)
        for cell in np.flatnonzero(near):
            paths[cell] += _join_points(x[cell], y[cell])
    return paths


def _find_middles(ra: Numbers, dec: Numbers) -> Numbers:
    """Return the right ascension in the middle of each row of points."""
    weight = np.cos(np.radians(dec))
    lon = np.radians(ra)
    return np.asarray(
        np.mod(np.degrees(np.arctan2((weight * np.sin(lon)).sum(axis=1), (weight * np.cos(lon)).sum(axis=1))), 360)
    )


def _join_points(x: Numbers, y: Numbers, *, is_closed: bool = True) -> str:
    """Return the data of a path through points, in tenths of a pixel."""
    tenths = np.round(np.stack([x, y], axis=1) * 10).astype(int)
    steps = np.diff(tenths, axis=0)
    moves = "".join([f"l{dx / 10:g} {dy / 10:g}" for dx, dy in steps.tolist()])
    return f"M{tenths[0, 0] / 10:g} {tenths[0, 1] / 10:g}{moves}{'z' if is_closed else ''}"


def _draw_outline(view: SkyView, outline: SkyOutline) -> Element:
    """Return a region as a line, interrupted at the edge of the map."""
    ra, dec = np.append(outline.ra, outline.ra[:1]), np.append(outline.dec, outline.dec[:1])
    return make_element(
        "path",
        make_element("title", outline.name),
        d=_draw_line(view, ra, dec) or "M0 0",
        fill="none",
        stroke="currentColor",
        stroke_width=1.6,
    )


def _draw_line(view: SkyView, ra: Numbers, dec: Numbers) -> str:
    """Return the data of a path along points, interrupted where the line leaves the map."""
    x, y = view.project(ra, dec)
    jumps = ~np.isfinite(x) | ~np.isfinite(y)
    far = np.hypot(np.diff(x), np.diff(y)) > view.width / 3
    ends = np.flatnonzero(far | jumps[1:] | jumps[:-1]) + 1
    pieces = [piece for piece in np.split(np.arange(len(x)), ends) if len(piece) > 1 and not jumps[piece].any()]
    return "".join(_join_points(x[piece], y[piece], is_closed=False) for piece in pieces)


def _draw_graticule(view: SkyView) -> list[Element]:
    """Return the lines of the graticule."""
    path = "".join(_draw_line(view, ra, dec) for _, ra, dec in view.graticule())
    return [make_element("path", d=path or "M0 0", fill="none", stroke="currentColor", stroke_opacity=0.3)]


def _label_graticule(view: SkyView) -> list[Element]:
    """Return the labels of the graticule, where its lines cross the middle of the map or leave the map.

    Meridians that meet in a pole on the map are labelled at their other end. A label that would cover another is left
    out.
    """
    labels: list[Element] = []
    taken: list[tuple[float, float]] = []
    pole = view.find_pole()
    for label, ra, dec in view.graticule():
        is_meridian = bool(dec[0] != dec[-1])
        x, y = view.project(ra, dec)
        side = 18 if is_meridian and view.radius is not None else 4
        inside = np.flatnonzero(
            np.isfinite(x) & (x > side) & (x < view.width - side) & (y > 14) & (y < view.height - 4)
        )
        if view.radius is None and label in ("0°", "180°", "360°") and is_meridian:
            continue
        if not len(inside):
            continue
        if not is_meridian:
            place = inside[np.argmax(x[inside])]
        elif pole is not None:
            place = inside[np.argmax(np.hypot(x[inside] - pole[0], y[inside] - pole[1]))]
        else:
            middle = view.height / 2 if view.radius is None else view.height
            place = inside[np.argmin(np.abs(y[inside] - middle))]
        at = float(x[place]) - (0 if is_meridian else 4), float(y[place]) - 3
        if any(abs(at[0] - other[0]) < 52 and abs(at[1] - other[1]) < 13 for other in taken):
            continue
        taken.append(at)
        anchor = "middle" if is_meridian else "end"
        labels.append(make_element("text", label, x=at[0], y=at[1], font_size=_LABEL, text_anchor=anchor))
    return labels


def _draw_frame(view: SkyView) -> Element:
    """Return the border of the map."""
    if view.radius is None:
        return make_element("ellipse", cx=view.width / 2, cy=view.height / 2, rx=view.width / 2, ry=view.height / 2)
    return make_element("rect", width=view.width, height=view.height)


def _outlined(frame: Element) -> Element:
    """Return a border as a line."""
    style: dict[str, str | float] = {"fill": "none", "stroke": "currentColor", "stroke-opacity": 0.6}
    return Element(frame.tag, (*frame.attributes, *style.items()), ())


def _draw_legends(layers: Sequence[SkyCells], bounds: Sequence[Sequence[int]], width: float) -> Figure:
    """Return the names of catalogs with their colours and counts beside them, or below if the map is too narrow."""
    names = [
        draw_text(f"{shorten_label(layer.name, 40)}: {_count_sources(layer.total)}", size=_NAME) for layer in layers
    ]
    scales = [
        _draw_scale(layer, classes, colour) for layer, classes, colour in zip(layers, bounds, _COLOURS, strict=False)
    ]
    column = max((name.width for name in names), default=0.0) + 16
    if column + max((scale.width for scale in scales), default=0.0) <= width:
        rows = [
            Figure(column + scale.width, 20, (name.place_at(0, 0), scale.place_at(column, 0)))
            for name, scale in zip(names, scales, strict=True)
        ]
    else:
        rows = [row for pair in zip(names, scales, strict=True) for row in pair if row.width]
    return stack_vertically(rows, gap=4, align=0)


def _count_sources(number: int) -> str:
    return f"{number:,} source{'' if number == 1 else 's'}"


def _draw_scale(layer: SkyCells, bounds: Sequence[int], colour: str) -> Figure:
    """Return the colours of a catalog with their counts."""
    parts, x = [], 0.0
    most = int(layer.counts.max(initial=0))
    for place, low in enumerate(bounds if most else ()):
        high = bounds[place + 1] - 1 if place + 1 < len(bounds) else most
        swatch = make_element(
            "rect", x=x, y=4.0, width=12.0, height=12.0, fill=colour, fill_opacity=_shade(place, len(bounds))
        )
        text = draw_text(f"{low:,}" if low >= high else f"{low:,}–{high:,}", size=_NOTE)
        parts += [swatch, text.place_at(x + 16, 1)]
        x += 16 + text.width + 10
    return Figure(x, 20, tuple(parts))
