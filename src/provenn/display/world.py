"""A possible world: as text for a terminal, as SVG, as HTML for a notebook.

A world is a collection of inhabited regions, each given by the labels of its sets. A set without inhabited regions is
empty.
"""

from collections.abc import Collection, Sequence

import numpy as np

from provenn.display.figure import (
    Figure,
    choose_signs,
    draw_text,
    render_document,
    shorten_label,
    stack_horizontally,
    stack_vertically,
)
from provenn.display.geometry import ARRANGEMENTS
from provenn.display.hypercube import hypercube_figure
from provenn.display.markup import make_element, make_printable, render
from provenn.display.text import hypercube_text
from provenn.display.venn import RegionState, venn_figure
from provenn.display.venn_regions import MOST_DRAWN, Cells, describe_hypercube, name_region

__all__ = ["RegionLabels", "world_cells", "world_figure", "world_html", "world_svg", "world_text"]

RegionLabels = frozenset[str]
"""The labels of all sets that contain a region."""

_MOST_IN_TEXT = 4
_MOST_REGIONS = 12
_MOST_NAMES = 8


def world_cells(labels: Sequence[str], regions: Collection[RegionLabels]) -> Cells:
    """Return the hypercube of a world, reduced to some sets."""
    cells = np.zeros((2,) * len(labels), np.bool_)
    for region in regions:
        cells[tuple(int(label in region) for label in labels)] = True
    return cells


def world_text(labels: Sequence[str], regions: Collection[RegionLabels]) -> str:
    """Return a world for a terminal: the hypercube, if there are few sets, and all regions in words.

    >>> print(world_text(["A", "B"], [frozenset(), frozenset({"A", "C"})]))
     ●    outside
    ● ○   in one: A, B
     ○    in both
    <BLANKLINE>
    - something is in A and C only
    - something is outside all sets
    """
    lines = []
    if 0 < len(labels) <= _MOST_IN_TEXT:
        levels = hypercube_text(world_cells(labels, regions)).split("\n")
        width = max(map(len, levels))
        lines += [f"{level:{width}}   {name}" for level, name in zip(levels, _name_levels(labels), strict=True)] + [""]
    return "\n".join([*lines, *(f"- {line}" for line in _list_sentences(labels, regions))])


def world_svg(labels: Sequence[str], regions: Collection[RegionLabels], *, title: str, inline: bool = False) -> str:
    """Draw a world, reduced to some sets, below its title; an `inline` picture leaves the title to the page."""
    figure = world_figure(labels, regions)
    if not inline:
        figure = stack_vertically([draw_text(shorten_label(title, 100), bold=True), figure], gap=16, align=0)
    return render_document(figure, title=title, description=_describe_world(labels, regions), inline=inline)


def world_html(regions: Collection[RegionLabels]) -> str:
    """Return a world for a notebook: in words and, if there are few sets, as a picture."""
    labels = sorted(frozenset().union(*regions))
    lines = [make_element("li", line) for line in _list_sentences((), regions)]
    parts = [render(make_element("p", "A possible world:")), render(make_element("ul", *lines))]
    if labels and len(labels) <= MOST_DRAWN:
        figure, description = world_figure(labels, regions), _describe_world(labels, regions)
        parts.append(render_document(figure, title="A possible world", description=description, inline=True))
    return "<div>\n" + "\n".join(parts) + "\n</div>\n"


def world_figure(labels: Sequence[str], regions: Collection[RegionLabels]) -> Figure:
    """Return a world, reduced to some sets, as a figure.

    Few sets are drawn as a Venn diagram beside the hypercube, more sets as the hypercube alone, many sets in words.
    """
    if len(labels) > MOST_DRAWN:
        return stack_vertically([draw_text(line) for line in _list_sentences(labels, regions)], gap=4, align=0)
    cells = world_cells(labels, regions)
    signs, key = choose_signs(labels)
    cube = hypercube_figure(labels, cells, signs=signs)
    if len(labels) not in ARRANGEMENTS:
        return stack_vertically([cube, *key])
    states = [RegionState.INHABITED if cell else RegionState.EMPTY for cell in cells.flat]
    return stack_horizontally([venn_figure(labels, states), cube], gap=36)


def _describe_world(labels: Sequence[str], regions: Collection[RegionLabels]) -> str:
    """Return a world, reduced to some sets, in words."""
    if len(labels) > MOST_DRAWN:
        return "; ".join(_list_sentences(labels, regions))
    return describe_hypercube(labels, world_cells(labels, regions))


def _name_levels(labels: Sequence[str]) -> list[str]:
    """Return the names of the lines of a hypercube, from top to bottom."""
    names = ", ".join(make_printable(shorten_label(label, 20)) for label in labels)
    if len(labels) == 1:
        return ["outside", f"in {names}"]
    between = ["in two", "in three"][: len(labels) - 2]
    return ["outside", f"in one: {names}", *between, "in both" if len(labels) == 2 else "in all"]


def _list_sentences(labels: Sequence[str], regions: Collection[RegionLabels]) -> list[str]:
    """Return a world in words: first the regions in the given sets, then the others, small ones before large ones."""

    def sort_key(region: RegionLabels) -> tuple[bool, int, list[str]]:
        return region.isdisjoint(labels), len(region), sorted(region)

    if not regions:
        return ["nothing exists"]
    sentences = [_describe_region(labels, region) for region in sorted(regions, key=sort_key)[:_MOST_REGIONS]]
    more = len(regions) - len(sentences)
    return [*sentences, f"… and something in {more:,} more regions"] if more else sentences


def _describe_region(labels: Sequence[str], region: RegionLabels) -> str:
    """Return a region of a world in words."""
    if not region:
        return "something is outside all sets"
    inside = [*(label for label in labels if label in region), *sorted(region.difference(labels))]
    names, more = inside[:_MOST_NAMES], len(inside) - _MOST_NAMES
    if more > 0:
        names.append(f"{more:,} other sets")
    return make_printable(f"something is {name_region(names, [1] * len(names))} only")
