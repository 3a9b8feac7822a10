"""Edges of a layered layout, drawn."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from provenn.display.layers import Point
from provenn.display.markup import Element, element, number

__all__ = ["wires"]

_STRAIGHT = 1.5


def wires(routes: Sequence[Sequence[Point]]) -> list[Element]:
    """Draw edges: straight down beside boxes, curved between rows; each with a point at its lower end.

    What several edges share is drawn once: lines that are not quite opaque would add up.
    """
    lines = dict.fromkeys(_line(one, other) for route in routes for one, other in pairwise(route))
    ends = dict.fromkeys(f"M{number(x)} {number(y)}l-3.5 -7h7Z" for x, y in (route[-1] for route in routes))
    if not lines:
        return []
    return [
        element("path", d="".join(lines), fill="none", stroke="currentColor", stroke_opacity=0.6),
        element("path", d="".join(ends), fill_opacity=0.75),
    ]


def _line(one: Point, other: Point) -> str:
    (x, y), (to_x, to_y) = one, other
    start, middle = f"M{number(x)} {number(y)}", number((y + to_y) / 2)
    if abs(to_x - x) < _STRAIGHT:
        return f"{start}L{number(to_x)} {number(to_y)}"
    return f"{start}C{number(x)} {middle} {number(to_x)} {middle} {number(to_x)} {number(to_y)}"
