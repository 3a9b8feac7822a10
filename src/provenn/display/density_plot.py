"""Two attributes against each other: the density of sources, and lines of points."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from provenn.display.figure import (
    ACCENT,
    Figure,
    draw_text,
    estimate_text_width,
    render_document,
    shorten_label,
    stack_vertically,
)
from provenn.display.markup import Element, format_number, make_element
from provenn.display.plot_axis import PlotAxis

__all__ = ["CurvePoints", "PlotAxis", "density_svg", "light_curve_svg"]

Numbers = NDArray[np.float64]

_SIZE = 360.0
_LEFT, _BOTTOM = 64.0, 40.0
_CLASSES = 6
_SPARSE, _DOT = 100, 3
"""The number of inhabited cells up to which they are drawn as dots, and the radius of a dot."""
_COLOURS = (
    *(ACCENT, "#c9541c", "#2f9461", "#9159c9", "#c22f74", "#1d8f9e"),
    *("#9a7b12", "#7d6b5d", "#5c50d8", "#6b8f1f", "#d0609a", "#a3402f"),
)
"""A colour for each of the sources that are drawn at most; each is visible on white and on black."""


@dataclass(frozen=True, slots=True, eq=False)
class CurvePoints:
    """The points of a source: its name, two values for each point, and the number of all points, drawn or not.

    A remark stands in the place of the number of points.
    """

    name: str
    x: Numbers
    y: Numbers
    points: int
    remark: str = ""


def density_svg(name: str, counts: NDArray[np.int64], x: PlotAxis, y: PlotAxis, *, inline: bool = False) -> str:
    """Draw the number of sources in each cell of a grid of two attributes.

    Parameters
    ----------
    name
        The catalog.
    counts
        The number of sources, by place along the first and along the second axis, from low to high.
    x, y
        The axes.
    inline
        Whether the picture goes into a page and takes its colours; otherwise it brings its own.
    """
    columns, rows = counts.shape
    inhabited = np.argwhere(counts)
    is_sparse = len(inhabited) <= _SPARSE
    palest = 0.6 if is_sparse else 0.2
    most = int(counts.max(initial=0))
    classes = np.floor(np.log(np.maximum(counts, 1)) / np.log(max(most, 2) + 1) * _CLASSES).astype(int)
    paths: dict[int, list[str]] = {}
    wide, high = _SIZE / columns, _SIZE / rows
    for column, row in inhabited.tolist():
        left = (columns - 1 - column if x.is_reversed else column) * wide
        top = (row if y.is_reversed else rows - 1 - row) * high
        box = _draw_dot(left + wide / 2, top + high / 2) if is_sparse else _draw_box(left, top, wide, high)
        paths.setdefault(int(classes[column, row]), []).append(box)
    drawn = [
        make_element("path", d="".join(path), fill=ACCENT, fill_opacity=palest + (1 - palest) * (place + 1) / _CLASSES)
        for place, path in sorted(paths.items())
    ]
    total = int(counts.sum())
    sources = f"{total:,} source{'' if total == 1 else 's'}"
    words = f"{sources}, up to {most:,} in a cell" if most > 1 else sources
    note = draw_text(f"{shorten_label(name, 50)}: {words}", size=12, faint=True)
    return render_document(
        stack_vertically([_frame(drawn, x, y), note], gap=6),
        title=f"{y.label} against {x.label} of {name}",
        description=f"{sources}; {x.label} from {x.low:.4g} to {x.high:.4g}, "
        f"{y.label} from {y.low:.4g} to {y.high:.4g}",
        inline=inline,
    )


def _draw_box(left: float, top: float, wide: float, high: float) -> str:
    """Return the data of a path around a cell."""
    return f"M{left:.6g} {top:.6g}h{wide:.6g}v{high:.6g}h{-wide:.6g}z"


def _draw_dot(x: float, y: float) -> str:
    """Return the data of a path around a dot, in the place of a cell that is hard to see alone."""
    half = f"a{_DOT} {_DOT} 0 1 0"
    return f"M{x - _DOT:.6g} {y:.6g}{half} {2 * _DOT} 0{half} {-2 * _DOT} 0z"


def light_curve_svg(name: str, curves: Sequence[CurvePoints], x: PlotAxis, y: PlotAxis, *, inline: bool = False) -> str:
    """Draw the points of a few sources, such as magnitudes at times; each source has a colour.

    Parameters
    ----------
    name
        The catalog.
    curves
        The sources; those after the twelfth begin with the first colour again.
    x, y, inline
        As for `density_svg`.
    """
    drawn, legend = [], []
    x, y = x.widened(), y.widened()
    for place, curve in enumerate(curves):
        colour = _COLOURS[place % len(_COLOURS)]
        left, top = x.place(curve.x) * _SIZE, (1 - y.place(curve.y)) * _SIZE
        path = "".join(
            f"M{format_number(float(at))} {format_number(float(height))}h0"
            for at, height in zip(left, top, strict=True)
            if np.isfinite(at) and np.isfinite(height)
        )
        dots: dict[str, str | float] = {
            "stroke": colour,
            "stroke_width": 4.0,
            "stroke_linecap": "round",
            "fill": "none",
        }
        drawn.append(make_element("path", make_element("title", curve.name), d=path or "M0 0", **dots))
        legend.append(_explain_colour(colour, f"{shorten_label(curve.name, 48)}: {_count_points(curve)}"))
    return render_document(
        stack_vertically([_frame(drawn, x, y), stack_vertically(legend, gap=4, align=0)], gap=4),
        title=f"{y.label} against {x.label} of {name}",
        description="; ".join(f"{curve.name}: {_count_points(curve)}" for curve in curves),
        inline=inline,
    )


def _count_points(curve: CurvePoints) -> str:
    """Return the number of points of a curve in words."""
    return curve.remark or f"{curve.points:,} point{'' if curve.points == 1 else 's'}"


def _explain_colour(colour: str, text: str) -> Figure:
    """Return a line of a legend: a dot of a colour, and what it stands for."""
    words = draw_text(text, size=12, faint=True)
    dot = make_element("circle", cx=6.0, cy=words.height / 2, r=4.0, fill=colour)
    return Figure(words.width + 16, words.height, (dot, words.place_at(16, 0)))


def _frame(drawn: Sequence[Element], x: PlotAxis, y: PlotAxis) -> Figure:
    """Return a drawing with its axes."""
    left = max(_LEFT, 28 + max((estimate_text_width(label, 11.0) for _, label in y.ticks), default=0.0))
    parts = [make_element("g", *drawn, transform=f"translate({left:g} 0)")] if drawn else []
    border: dict[str, str | float] = {"fill": "none", "stroke": "currentColor", "stroke_opacity": 0.6}
    parts.append(make_element("rect", x=left, y=0.0, width=_SIZE, height=_SIZE, **border))
    for value, label in x.ticks:
        at = left + float(x.place(np.array(value))) * _SIZE
        parts += [_tick(at, _SIZE, 0, 5), _label(label, at, _SIZE + 17, "middle")]
    for value, label in y.ticks:
        at = (1 - float(y.place(np.array(value)))) * _SIZE
        parts += [_tick(left, at, -5, 0), _label(label, left - 8, at + 4, "end")]
    parts.append(_label(shorten_label(x.label, 40), left + _SIZE / 2, _SIZE + 34, "middle", size=13.0))
    middle = _SIZE / 2
    title = _label(shorten_label(y.label, 40), 12.0, middle, "middle", size=13.0)
    turned = Element(title.tag, (*title.attributes, ("transform", f"rotate(-90 12 {middle:g})")), title.children)
    return Figure(left + _SIZE + 8, _SIZE + _BOTTOM, (*parts, turned))


def _tick(x: float, y: float, across: float, down: float) -> Element:
    """Return a short line at an axis."""
    path = f"M{format_number(x)} {format_number(y)}l{format_number(across)} {format_number(down)}"
    return make_element("path", d=path, stroke="currentColor", stroke_opacity=0.6)


def _label(text: str, x: float, y: float, anchor: str, size: float = 11.0) -> Element:
    """Return a text at an axis."""
    return make_element("text", text, x=x, y=y, font_size=size, text_anchor=anchor)
