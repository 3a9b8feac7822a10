"""The edges of a layered layout as SVG elements."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from provenn.display.layers import Point
from provenn.display.markup import Element, format_number, make_element

__all__ = ["draw_wires"]

_STRAIGHT = 1.5
"""A line that moves less than this to the side is drawn straight."""


def draw_wires(routes: Sequence[Sequence[Point]]) -> list[Element]:
    """Draw edges: straight down beside boxes, curved between rows, each with an arrowhead at its lower end.

    A line that several edges share is drawn once, because translucent lines would add up.
    """
    lines = dict.fromkeys(_draw_line(start, end) for route in routes for start, end in pairwise(route))
    ends = dict.fromkeys(
        f"M{format_number(x)} {format_number(y)}l-3.5 -7h7Z" for x, y in (route[-1] for route in routes)
    )
    if not lines:
        return []
    return [
        make_element("path", d="".join(lines), fill="none", stroke="currentColor", stroke_opacity=0.6),
        make_element("path", d="".join(ends), fill_opacity=0.75),
    ]


def _draw_line(start: Point, end: Point) -> str:
    """Return a line between two points, as data of an SVG path."""
    (x, y), (to_x, to_y) = start, end
    origin, middle = f"M{format_number(x)} {format_number(y)}", format_number((y + to_y) / 2)
    if abs(to_x - x) < _STRAIGHT:
        return f"{origin}L{format_number(to_x)} {format_number(to_y)}"
    return (
        f"{origin}C{format_number(x)} {middle} {format_number(to_x)} {middle} "
        f"{format_number(to_x)} {format_number(to_y)}"
    )
