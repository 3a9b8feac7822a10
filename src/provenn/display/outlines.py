"""Outlines: shapes for the classes of catalogs, to distinguish classes without colour.

Every outline fills a rectangle, and passes through the middle of the top and of the bottom, where edges end.
"""

from __future__ import annotations

from collections.abc import Callable

from provenn.display.markup import format_number

__all__ = ["MARGINS", "SHAPES", "draw_outline"]

OutlinePath = tuple[str, str]
"""The closed outline, and the lines inside it, as data of SVG paths."""

MARGINS = {
    "drum": (10.0, 3.0),
    "smoked drum": (10.0, 3.0),
    "torn edge": (0.0, 6.0),
    "rows": (4.0, 4.0),
    "podium": (6.0, 0.0),
}
"""The margins at the top and at the bottom of an outline that have no room for words, by shape."""


def draw_outline(shape: str, width: float, height: float, inset: float = 0.0) -> OutlinePath:
    """Return an outline in a rectangle; an unknown shape is the rectangle itself.

    Parameters
    ----------
    shape
        The name of the shape.
    width, height
        The rectangle, whose top left corner is (0, 0).
    inset
        The distance that the outline keeps from the rectangle.
    """
    draw = SHAPES.get(shape, _draw_rectangle)
    # The cut depends on the whole rectangle, so that the inner of two borders stays parallel to the outer.
    return draw(inset, inset, width - inset, height - inset, min(width / 9, height / 3, 16.0))


def _draw_polygon(*points: tuple[float, float]) -> str:
    """Return a closed polygon as data of an SVG path."""
    return "M" + "L".join(f"{format_number(x)} {format_number(y)}" for x, y in points) + "Z"


def _draw_rectangle(left: float, top: float, right: float, bottom: float, cut: float) -> OutlinePath:  # noqa: ARG001 - as the others
    """Return a rectangle."""
    return _draw_polygon((left, top), (right, top), (right, bottom), (left, bottom)), ""


def _draw_drum(left: float, top: float, right: float, bottom: float, cut: float) -> OutlinePath:
    """Return a drum, the usual sign of a disk, for stored data."""
    rx, ry = (right - left) / 2, cut / 2
    arc = f"A{format_number(rx)} {format_number(ry)} 0 0"
    sides = (
        f"M{format_number(left)} {format_number(top + ry)}{arc} 1 {format_number(right)} {format_number(top + ry)}"
        f"V{format_number(bottom - ry)}"
        f"{arc} 1 {format_number(left)} {format_number(bottom - ry)}Z"
    )
    return (
        sides,
        f"M{format_number(left)} {format_number(top + ry)}{arc} 0 {format_number(right)} {format_number(top + ry)}",
    )


def _draw_funnel(left: float, top: float, right: float, bottom: float, cut: float) -> OutlinePath:
    """Return a funnel: fewer sources come out than go in."""
    return _draw_polygon((left, top), (right, top), (right - cut, bottom), (left + cut, bottom)), ""


def _draw_waist(left: float, top: float, right: float, bottom: float, cut: float) -> OutlinePath:
    """Return a pinched rectangle: only the sources common to both sides pass."""
    middle = (top + bottom) / 2
    return _draw_polygon(
        (left, top), (right, top), (right - cut, middle), (right, bottom), (left, bottom), (left + cut, middle)
    ), ""


def _draw_notch(left: float, top: float, right: float, bottom: float, cut: float) -> OutlinePath:
    """Return a rectangle with a piece cut out."""
    x, y = right - 1.6 * cut, top + 1.1 * cut
    return _draw_polygon((left, top), (x, top), (x, y), (right, y), (right, bottom), (left, bottom)), ""


def _draw_torn_edge(left: float, top: float, right: float, bottom: float, cut: float) -> OutlinePath:
    """Return a piece of paper with a torn edge, for a sample."""
    teeth, depth = 10, cut / 2
    step = (right - left) / teeth
    edge = [(right - i * step, bottom - (depth if i % 2 == 0 else 0.0)) for i in range(teeth + 1)]
    return _draw_polygon((left, top), (right, top), *edge), ""


def _draw_card(left: float, top: float, right: float, bottom: float, cut: float) -> OutlinePath:
    """Return a card with its upper corners cut off: each source has fewer attributes."""
    near = top + cut
    return _draw_polygon(
        (left + cut, top), (right - cut, top), (right, near), (right, bottom), (left, bottom), (left, near)
    ), ""


def _draw_tag(left: float, top: float, right: float, bottom: float, cut: float) -> OutlinePath:
    """Return a tag for a name."""
    middle = (top + bottom) / 2
    hole = f"M{format_number(left + cut * 0.6)} {format_number(middle)}" + "".join(
        f"a2 2 0 1 0 {across} 0" for across in (4, -4)
    )
    return _draw_polygon((left + cut, top), (right, top), (right, bottom), (left + cut, bottom), (left, middle)), hole


def _draw_hexagon(left: float, top: float, right: float, bottom: float, cut: float) -> OutlinePath:
    """Return a hexagon, for a calculation."""
    middle = (top + bottom) / 2
    return _draw_polygon(
        (left + cut, top),
        (right - cut, top),
        (right, middle),
        (right - cut, bottom),
        (left + cut, bottom),
        (left, middle),
    ), ""


def _draw_columns(left: float, top: float, right: float, bottom: float, cut: float) -> OutlinePath:
    """Return a rectangle with a line at each side: columns beside columns."""
    bars = "".join(
        f"M{format_number(x)} {format_number(top)}V{format_number(bottom)}"
        for x in (left + cut * 0.6, right - cut * 0.6)
    )
    return _draw_rectangle(left, top, right, bottom, cut)[0], bars


def _draw_rows(left: float, top: float, right: float, bottom: float, cut: float) -> OutlinePath:
    """Return a rounded rectangle, the usual sign of a union, with a line above and below: rows below rows."""
    bars = "".join(
        f"M{format_number(left + cut)} {format_number(y)}H{format_number(right - cut)}"
        for y in (top + cut * 0.4, bottom - cut * 0.4)
    )
    radius = format_number(cut)
    border = (
        f"M{format_number(left + cut)} {format_number(top)}H{format_number(right - cut)}"
        f"A{radius} {radius} 0 0 1 {format_number(right)} {format_number(top + cut)}V{format_number(bottom - cut)}"
        f"A{radius} {radius} 0 0 1 {format_number(right - cut)} {format_number(bottom)}H{format_number(left + cut)}"
        f"A{radius} {radius} 0 0 1 {format_number(left)} {format_number(bottom - cut)}V{format_number(top + cut)}"
        f"A{radius} {radius} 0 0 1 {format_number(left + cut)} {format_number(top)}Z"
    )
    return border, bars


def _draw_bow(left: float, top: float, right: float, bottom: float, cut: float) -> OutlinePath:
    """Return a rectangle with drawn-in sides, and a line beside each side: two catalogs meet."""
    middle = (top + bottom) / 2
    bars = "".join(
        f"M{format_number(x)} {format_number(top)}V{format_number(bottom)}"
        for x in (left + 0.9 * cut, right - 0.9 * cut)
    )
    return _draw_polygon(
        (left, top), (right, top), (right - cut / 2, middle), (right, bottom), (left, bottom), (left + cut / 2, middle)
    ), bars


def _draw_slant(left: float, top: float, right: float, bottom: float, cut: float) -> OutlinePath:
    """Return a parallelogram: the sources of a single side of a cross-match."""
    return _draw_polygon((left + cut, top), (right, top), (right - cut, bottom), (left, bottom)), ""


def _draw_hook(left: float, top: float, right: float, bottom: float, cut: float) -> OutlinePath:
    """Return a rectangle with an arrowhead at its right: each source points to its partner."""
    middle, edge, half = (top + bottom) / 2, right - cut * 0.7, cut * 0.8
    head = (edge, middle - half), (right, middle), (edge, middle + half)
    return _draw_polygon((left, top), (edge, top), *head, (edge, bottom), (left, bottom)), ""


def _draw_fork(left: float, top: float, right: float, bottom: float, cut: float) -> OutlinePath:
    """Return a rectangle with a point at its left: sources that others point to."""
    middle = (top + bottom) / 2
    return _draw_polygon((left, top), (right, top), (right, bottom), (left, bottom), (left + cut, middle)), ""


def _draw_bracket(left: float, top: float, right: float, bottom: float, cut: float) -> OutlinePath:
    """Return a rectangle with all corners cut off, and a bracket at each side: members are held together."""
    inner, arm, corner = cut * 0.45, cut * 0.4, cut * 0.45
    brackets = "".join(
        f"M{format_number(x + arm * side)} {format_number(top + corner)}H{format_number(x)}"
        f"V{format_number(bottom - corner)}H{format_number(x + arm * side)}"
        for x, side in ((left + inner, 1), (right - inner, -1))
    )
    border = _draw_polygon(
        (left + corner, top),
        (right - corner, top),
        (right, top + corner),
        (right, bottom - corner),
        (right - corner, bottom),
        (left + corner, bottom),
        (left, bottom - corner),
        (left, top + corner),
    )
    return border, brackets


def _draw_podium(left: float, top: float, right: float, bottom: float, cut: float) -> OutlinePath:
    """Return a podium: the first of each group stand higher."""
    step = top + cut * 0.5
    return _draw_polygon(
        (left, step),
        (left + cut * 1.5, step),
        (left + cut * 1.5, top),
        (right - cut * 1.5, top),
        (right - cut * 1.5, step),
        (right, step),
        (right, bottom),
        (left, bottom),
    ), ""


def _draw_burst(left: float, top: float, right: float, bottom: float, cut: float) -> OutlinePath:
    """Return a funnel upside down: more sources come out than go in."""
    return _draw_polygon((left + cut, top), (right - cut, top), (right, bottom), (left, bottom)), ""


def _draw_smoked_funnel(left: float, top: float, right: float, bottom: float, cut: float) -> OutlinePath:
    """Return a funnel with hatched corners: fewer sources come out than go in, and nobody sees by which rule."""
    outline, _ = _draw_funnel(left, top, right, bottom, cut)
    return outline, _draw_hatching(left + cut * 0.4, right - cut * 0.4, top, cut)


def _draw_smoked_drum(left: float, top: float, right: float, bottom: float, cut: float) -> OutlinePath:
    """Return a drum with hatched corners: rows of which nobody knows how they came about."""
    outline, lid = _draw_drum(left, top, right, bottom, cut)
    return outline, lid + _draw_hatching(left, right, bottom - cut * 1.4, cut)


def _draw_hatching(left: float, right: float, top: float, cut: float) -> str:
    """Return slanting lines at both sides, as data of SVG paths."""
    return "".join(
        f"M{format_number(x)} {format_number(top + cut * 0.3 * number)}l{format_number(cut * 0.5 * side)} "
        f"{format_number(cut * 0.3)}"
        for x, side in ((left, 1), (right, -1))
        for number in (1, 2, 3)
    )


SHAPES: dict[str, Callable[[float, float, float, float, float], OutlinePath]] = {
    "drum": _draw_drum,
    "funnel": _draw_funnel,
    "waist": _draw_waist,
    "notch": _draw_notch,
    "torn edge": _draw_torn_edge,
    "card": _draw_card,
    "tag": _draw_tag,
    "hexagon": _draw_hexagon,
    "columns": _draw_columns,
    "rows": _draw_rows,
    "bow": _draw_bow,
    "slant": _draw_slant,
    "hook": _draw_hook,
    "fork": _draw_fork,
    "bracket": _draw_bracket,
    "podium": _draw_podium,
    "burst": _draw_burst,
    "smoked funnel": _draw_smoked_funnel,
    "smoked drum": _draw_smoked_drum,
}
"""The outlines by the name of the shape, in the order of a picture's key."""
