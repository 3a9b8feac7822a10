"""The paper's example as a picture: the lineage, what each catalog knows, what follows from all of it."""

from collections.abc import Iterable

import numpy as np

from provenn.cli.example_view import QUESTION, USE, Example
from provenn.display.figure import Figure, above, beside, document, framed, words
from provenn.display.markup import Element, element, number
from provenn.display.relationship import counted, relationship_figure
from provenn.logic import Relationship

__all__ = ["picture"]

_ORDER = "ABCD"
_BOX = (128.0, 48.0)
_CATALOGS = {
    "A": ("a base catalog", 72.0, 0.0),
    "B": ("a selection of A", 0.0, 92.0),
    "C": ("new attributes", 144.0, 92.0),
    "D": ("B and C combined", 72.0, 184.0),
}
_LINKS = (("A", "B"), ("A", "C"), ("B", "D"), ("C", "D"))


def picture(steps: Example) -> str:
    """Draw the example."""
    every = len(Relationship.tautology(*steps.together.labels))
    count = len(steps.together)
    rows = [
        (
            _titled("1 · The lineage: nothing but A is stored", above([_lineage(), _legend()], gap=28)),
            _titled("2 · What each catalog knows", _stacked(_fact(*one) for one in steps.local.items())),
        ),
        (
            _titled(f"3 · Together: {count} of {every:,} hypercubes remain", _row(steps.together, 1.0)),
            _stacked(
                [
                    _titled("4 · The same, of B and D alone", _row(steps.reduced, 0.7)),
                    _titled(f"5 · What {QUESTION} allows", _row(steps.wanted, 0.7)),
                ]
            ),
        ),
    ]
    wide = max(left.width for left, _ in rows)
    proof = [words(steps.verdict, size=16, bold=True, centred=True), words(USE, centred=True)]
    return document(
        above(
            [
                _stacked(
                    [beside([Figure(wide, left.height, left.parts), right], gap=56, align=0) for left, right in rows],
                    gap=30,
                ),
                framed(above(proof, gap=6)),
            ],
            gap=30,
        ),
        title="How provenn proves that two catalogs hold the same sources",
        description="A is a base catalog, B a selection of A, C has new attributes for the sources of A, D combines B "
        f"and C. What each catalog knows of its dependencies leaves {count} hypercubes of A, B, C and D. In all of "
        "them B equals D.",
    )


def _stacked(figures: Iterable[Figure], gap: float = 16.0) -> Figure:
    return above(list(figures), gap=gap, align=0)


def _titled(title: str, figure: Figure) -> Figure:
    return above([words(title, size=14, bold=True), figure], gap=12, align=0)


def _fact(said: str, one: Relationship) -> Figure:
    count = words(counted(len(one)), size=12, faint=True)
    return above([beside([words(said, mono=True), count], gap=14), _row(one, 0.5)], gap=8, align=0)


def _row(one: Relationship, size: float) -> Figure:
    return relationship_figure(one.labels, list(one.arrays()), order=_ORDER, size=size, width=650)


def _legend() -> Figure:
    lines = [
        "● a region that holds something, ○ an empty one",
        "top: outside all sets; bottom: inside all of them",
        "a set has the same direction everywhere",
    ]
    return above([words(line, size=12, faint=True, centred=True) for line in lines], gap=3)


def _lineage() -> Figure:
    width, height = _BOX
    boxes = [_box(label, caption).at(x, y) for label, (caption, x, y) in _CATALOGS.items()]
    return Figure(
        max(x for _, x, _ in _CATALOGS.values()) + width,
        max(y for _, _, y in _CATALOGS.values()) + height,
        (*(_arrow(*link) for link in _LINKS), *boxes),
    )


def _box(label: str, caption: str) -> Figure:
    width, height = _BOX
    stored = label == "A"
    frame = element(
        "rect",
        width=width,
        height=height,
        rx=8.0,
        stroke="currentColor",
        stroke_width=1.25,
        fill_opacity=0.08 if stored else 0.0,
        **({} if stored else {"stroke_dasharray": "4 3"}),
    )
    texts = above([words(label, size=15, bold=True, centred=True), words(caption, size=12, centred=True)], gap=1)
    return Figure(width, height, (frame, texts.at((width - texts.width) / 2, (height - texts.height) / 2)))


def _arrow(start: str, stop: str) -> Element:
    """Return an arrow from the lower edge of one box to the upper edge of another."""
    width, height = _BOX
    (_, x1, y1), (_, x2, y2) = _CATALOGS[start], _CATALOGS[stop]
    shift = width / 4 if x2 > x1 else -width / 4
    tail = np.array([x1 + width / 2 + shift, y1 + height])
    tip = np.array([x2 + width / 2 - shift / 2, y2 - 1])
    back = (tail - tip) / np.hypot(*(tail - tip)) * 7
    side = np.array([-back[1], back[0]]) * 0.6
    path = [tail, tip, tip + back + side, tip, tip + back - side]
    return element(
        "path",
        d="M" + "L".join(f"{number(x)} {number(y)}" for x, y in path),
        stroke="currentColor",
        fill="none",
    )
