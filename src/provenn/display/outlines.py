"""Outlines: a shape for each class of catalogs, so that no colour is needed to tell them apart.

Every outline fills a rectangle, and passes the middle of its top and of its bottom, where edges end.
"""

from __future__ import annotations

from collections.abc import Callable

from provenn.display.markup import number

__all__ = ["MARGINS", "WORDS", "outline"]

Path = tuple[str, str]
"""The outline, closed, and lines in it; as data of an SVG path."""

WORDS = {
    "Base": "base",
    "SelectSources": "select",
    "RestrictSources": "restrict",
    "ExcludeSources": "exclude",
    "SampleSources": "sample",
    "KeepAttributes": "keep",
    "RenameAttributes": "rename",
    "DeriveAttributes": "derive",
    "CombineAttributes": "combine",
    "ConcatSources": "concat",
    "CrossMatch": "crossmatch",
    "MatchedSources": "matched",
}
"""A short word for each class: the verb that makes it."""

MARGINS = {"Base": (10.0, 3.0), "SampleSources": (0.0, 6.0), "ConcatSources": (4.0, 4.0)}
"""How much of the top and of the bottom of an outline has no room for words."""


def outline(kind: str, width: float, height: float, inset: float = 0.0) -> Path:
    """Return the outline of a class in a rectangle; that of a class nobody knows is the rectangle.

    Parameters
    ----------
    kind
        The name of the class.
    width, height
        The rectangle, whose top left corner is (0, 0).
    inset
        How far inside the rectangle to stay.
    """
    draw = _OUTLINES.get(kind, _plain)
    # The slope of an outline is that of the whole rectangle, so that the inner of two borders keeps its distance.
    return draw(inset, inset, width - inset, height - inset, min(width / 9, height / 3, 16.0))


def _polygon(*points: tuple[float, float]) -> str:
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points) + "Z"


def _plain(left: float, top: float, right: float, bottom: float, cut: float) -> Path:  # noqa: ARG001 - as the others
    return _polygon((left, top), (right, top), (right, bottom), (left, bottom)), ""


def _drum(left: float, top: float, right: float, bottom: float, cut: float) -> Path:
    """Where data are kept: a drum, as disks are drawn."""
    rx, ry = (right - left) / 2, cut / 2
    arc = f"A{number(rx)} {number(ry)} 0 0"
    sides = (
        f"M{number(left)} {number(top + ry)}{arc} 1 {number(right)} {number(top + ry)}V{number(bottom - ry)}"
        f"{arc} 1 {number(left)} {number(bottom - ry)}Z"
    )
    return sides, f"M{number(left)} {number(top + ry)}{arc} 0 {number(right)} {number(top + ry)}"


def _funnel(left: float, top: float, right: float, bottom: float, cut: float) -> Path:
    """Fewer come out than go in."""
    return _polygon((left, top), (right, top), (right - cut, bottom), (left + cut, bottom)), ""


def _waist(left: float, top: float, right: float, bottom: float, cut: float) -> Path:
    """What is on both sides: pinched."""
    middle = (top + bottom) / 2
    return _polygon(
        (left, top), (right, top), (right - cut, middle), (right, bottom), (left, bottom), (left + cut, middle)
    ), ""


def _notch(left: float, top: float, right: float, bottom: float, cut: float) -> Path:
    """A piece is taken out of it."""
    x, y = right - 1.6 * cut, top + 1.1 * cut
    return _polygon((left, top), (x, top), (x, y), (right, y), (right, bottom), (left, bottom)), ""


def _torn(left: float, top: float, right: float, bottom: float, cut: float) -> Path:
    """A piece torn off."""
    teeth, depth = 10, cut / 2
    step = (right - left) / teeth
    edge = [(right - i * step, bottom - (depth if i % 2 == 0 else 0.0)) for i in range(teeth + 1)]
    return _polygon((left, top), (right, top), *edge), ""


def _card(left: float, top: float, right: float, bottom: float, cut: float) -> Path:
    """A card with its upper corners cut off: less of each source."""
    near = top + cut
    return _polygon(
        (left + cut, top), (right - cut, top), (right, near), (right, bottom), (left, bottom), (left, near)
    ), ""


def _tag(left: float, top: float, right: float, bottom: float, cut: float) -> Path:
    """A tag, as names are written on."""
    middle = (top + bottom) / 2
    hole = f"M{number(left + cut * 0.6)} {number(middle)}" + "".join(f"a2 2 0 1 0 {across} 0" for across in (4, -4))
    return _polygon((left + cut, top), (right, top), (right, bottom), (left + cut, bottom), (left, middle)), hole


def _hexagon(left: float, top: float, right: float, bottom: float, cut: float) -> Path:
    """Something is worked out."""
    middle = (top + bottom) / 2
    return _polygon(
        (left + cut, top),
        (right - cut, top),
        (right, middle),
        (right - cut, bottom),
        (left + cut, bottom),
        (left, middle),
    ), ""


def _columns(left: float, top: float, right: float, bottom: float, cut: float) -> Path:
    """Columns beside columns."""
    bars = "".join(f"M{number(x)} {number(top)}V{number(bottom)}" for x in (left + cut * 0.6, right - cut * 0.6))
    return _plain(left, top, right, bottom, cut)[0], bars


def _rows(left: float, top: float, right: float, bottom: float, cut: float) -> Path:
    """Rows below rows: round as a union is drawn, with a line above and below."""
    bars = "".join(
        f"M{number(left + cut)} {number(y)}H{number(right - cut)}" for y in (top + cut * 0.4, bottom - cut * 0.4)
    )
    r = number(cut)
    round_ = (
        f"M{number(left + cut)} {number(top)}H{number(right - cut)}A{r} {r} 0 0 1 {number(right)} {number(top + cut)}"
        f"V{number(bottom - cut)}A{r} {r} 0 0 1 {number(right - cut)} {number(bottom)}H{number(left + cut)}"
        f"A{r} {r} 0 0 1 {number(left)} {number(bottom - cut)}V{number(top + cut)}"
        f"A{r} {r} 0 0 1 {number(left + cut)} {number(top)}Z"
    )
    return round_, bars


def _bow(left: float, top: float, right: float, bottom: float, cut: float) -> Path:
    """Two that meet: a rectangle with its sides drawn in, and a line beside each."""
    middle = (top + bottom) / 2
    bars = "".join(f"M{number(x)} {number(top)}V{number(bottom)}" for x in (left + 0.9 * cut, right - 0.9 * cut))
    return _polygon(
        (left, top), (right, top), (right - cut / 2, middle), (right, bottom), (left, bottom), (left + cut / 2, middle)
    ), bars


def _slant(left: float, top: float, right: float, bottom: float, cut: float) -> Path:
    """One of the two that meet."""
    return _polygon((left + cut, top), (right, top), (right - cut, bottom), (left, bottom)), ""


_OUTLINES: dict[str, Callable[[float, float, float, float, float], Path]] = {
    "Base": _drum,
    "SelectSources": _funnel,
    "RestrictSources": _waist,
    "ExcludeSources": _notch,
    "SampleSources": _torn,
    "KeepAttributes": _card,
    "RenameAttributes": _tag,
    "DeriveAttributes": _hexagon,
    "CombineAttributes": _columns,
    "ConcatSources": _rows,
    "CrossMatch": _bow,
    "MatchedSources": _slant,
}
