"""The paper's example as a picture: the lineage, the relationship of each catalog, and the conclusion."""

from collections.abc import Iterable

import numpy as np

from provenn.cli.example_view import QUESTION, USE, Example
from provenn.display.figure import (
    Figure,
    draw_text,
    frame_figure,
    render_document,
    stack_horizontally,
    stack_vertically,
)
from provenn.display.markup import Element, format_number, make_element
from provenn.display.relationship import describe_count, relationship_figure
from provenn.logic import Relationship

__all__ = ["example_svg"]

_ORDER = "ABCD"
_BOX = (128.0, 48.0)
_CATALOGS = {
    "A": ("a base catalog", 72.0, 0.0),
    "B": ("a selection of A", 0.0, 92.0),
    "C": ("new attributes", 144.0, 92.0),
    "D": ("B and C combined", 72.0, 184.0),
}
_LINKS = (("A", "B"), ("A", "C"), ("B", "D"), ("C", "D"))


def example_svg(steps: Example) -> str:
    """Draw the example as SVG."""
    total = len(Relationship.tautology(*steps.together.labels))
    count = len(steps.together)
    rows = [
        (
            _add_title(
                "1 · The lineage: nothing but A is stored", stack_vertically([_draw_lineage(), _draw_legend()], gap=28)
            ),
            _add_title(
                "2 · What each catalog knows", _stack_figures(_draw_fact(*item) for item in steps.local.items())
            ),
        ),
        (
            _add_title(f"3 · Together: {count} of {total:,} hypercubes remain", _draw_row(steps.together, 1.0)),
            _stack_figures(
                [
                    _add_title("4 · The same, of B and D alone", _draw_row(steps.reduced, 0.7)),
                    _add_title(f"5 · What {QUESTION} allows", _draw_row(steps.wanted, 0.7)),
                ]
            ),
        ),
    ]
    left_width = max(left.width for left, _ in rows)
    proof = [draw_text(steps.verdict, size=16, bold=True, centred=True), draw_text(USE, centred=True)]
    return render_document(
        stack_vertically(
            [
                _stack_figures(
                    [
                        stack_horizontally([Figure(left_width, left.height, left.parts), right], gap=56, align=0)
                        for left, right in rows
                    ],
                    gap=30,
                ),
                frame_figure(stack_vertically(proof, gap=6)),
            ],
            gap=30,
        ),
        title="How provenn proves that two catalogs hold the same sources",
        description="A is a base catalog, B a selection of A, C has new attributes for the sources of A, D combines B "
        f"and C. What each catalog knows of its dependencies leaves {count} hypercubes of A, B, C and D. In all of "
        "them B equals D.",
    )


def _stack_figures(figures: Iterable[Figure], gap: float = 16.0) -> Figure:
    """Return figures from top to bottom, with their left sides level."""
    return stack_vertically(list(figures), gap=gap, align=0)


def _add_title(title: str, figure: Figure) -> Figure:
    """Return a figure below a title."""
    return stack_vertically([draw_text(title, size=14, bold=True), figure], gap=12, align=0)


def _draw_fact(statement: str, relationship: Relationship) -> Figure:
    """Return a statement, the number of hypercubes, and the hypercubes as a figure."""
    count = draw_text(describe_count(len(relationship)), size=12, faint=True)
    return stack_vertically(
        [stack_horizontally([draw_text(statement, mono=True), count], gap=14), _draw_row(relationship, 0.5)],
        gap=8,
        align=0,
    )


def _draw_row(relationship: Relationship, size: float) -> Figure:
    """Return the hypercubes of a relationship as a figure."""
    return relationship_figure(relationship.labels, list(relationship.arrays()), order=_ORDER, size=size, width=650)


def _draw_legend() -> Figure:
    """Return the legend as a figure."""
    lines = [
        "● a region that holds something, ○ an empty one",
        "top: outside all sets; bottom: inside all of them",
        "a set has the same direction everywhere",
    ]
    return stack_vertically([draw_text(line, size=12, faint=True, centred=True) for line in lines], gap=3)


def _draw_lineage() -> Figure:
    """Return the lineage of the four catalogs as a figure."""
    width, height = _BOX
    boxes = [_draw_box(label, caption).place_at(x, y) for label, (caption, x, y) in _CATALOGS.items()]
    return Figure(
        max(x for _, x, _ in _CATALOGS.values()) + width,
        max(y for _, _, y in _CATALOGS.values()) + height,
        (*(_draw_arrow(*link) for link in _LINKS), *boxes),
    )


def _draw_box(label: str, caption: str) -> Figure:
    """Return the box of a catalog; dashed borders mark catalogs without stored data."""
    width, height = _BOX
    stored = label == "A"
    frame = make_element(
        "rect",
        width=width,
        height=height,
        rx=8.0,
        stroke="currentColor",
        stroke_width=1.25,
        fill_opacity=0.08 if stored else 0.0,
        **({} if stored else {"stroke_dasharray": "4 3"}),
    )
    texts = stack_vertically(
        [draw_text(label, size=15, bold=True, centred=True), draw_text(caption, size=12, centred=True)], gap=1
    )
    return Figure(width, height, (frame, texts.place_at((width - texts.width) / 2, (height - texts.height) / 2)))


def _draw_arrow(start: str, stop: str) -> Element:
    """Return an arrow from the lower edge of a box to the upper edge of another."""
    width, height = _BOX
    (_, x1, y1), (_, x2, y2) = _CATALOGS[start], _CATALOGS[stop]
    shift = width / 4 if x2 > x1 else -width / 4
    tail = np.array([x1 + width / 2 + shift, y1 + height])
    tip = np.array([x2 + width / 2 - shift / 2, y2 - 1])
    back = (tail - tip) / np.hypot(*(tail - tip)) * 7
    side = np.array([-back[1], back[0]]) * 0.6
    path = [tail, tip, tip + back + side, tip, tip + back - side]
    return make_element(
        "path",
        d="M" + "L".join(f"{format_number(x)} {format_number(y)}" for x, y in path),
        stroke="currentColor",
        fill="none",
    )
