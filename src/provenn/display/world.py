"""A possible world: as text for a terminal, as SVG, as HTML for a notebook.

A world is given by its inhabited regions, each as the labels of the sets it lies in. A set that no region lies in is
empty.
"""

from collections.abc import Collection, Sequence

import numpy as np

from provenn.display.figure import Figure, above, beside, document, shortened, signs_and_key, words
from provenn.display.geometry import ARRANGEMENTS
from provenn.display.hypercube import hypercube_figure
from provenn.display.markup import element, render, visible
from provenn.display.regions import MOST_DRAWN, Cells, description, region_name
from provenn.display.text import hypercube_text
from provenn.display.venn import RegionState, venn_figure

__all__ = ["Region", "world_cells", "world_figure", "world_html", "world_svg", "world_text"]

Region = frozenset[str]
"""The labels of the sets that a region lies in; it lies in no other set."""

_MOST_IN_TEXT = 4
_MOST_REGIONS = 12
_MOST_NAMES = 8


def world_cells(labels: Sequence[str], regions: Collection[Region]) -> Cells:
    """Return the hypercube of a world, reduced to some sets."""
    cells = np.zeros((2,) * len(labels), np.bool_)
    for region in regions:
        cells[tuple(int(label in region) for label in labels)] = True
    return cells


def world_text(labels: Sequence[str], regions: Collection[Region]) -> str:
    """Return a world for a terminal: its hypercube of these sets, if they are few, and all of it in words.

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
        lines += [f"{level:{width}}   {said}" for level, said in zip(levels, _levels(labels), strict=True)] + [""]
    return "\n".join([*lines, *(f"- {line}" for line in _sentences(labels, regions))])


def world_svg(labels: Sequence[str], regions: Collection[Region], *, title: str, inline: bool = False) -> str:
    """Draw a world, reduced to some sets, below its title; `inline` in the colours of a page that says the title."""
    figure = world_figure(labels, regions)
    if not inline:
        figure = above([words(shortened(title, 100), bold=True), figure], gap=16, align=0)
    return document(figure, title=title, description=_description(labels, regions), inline=inline)


def world_html(regions: Collection[Region]) -> str:
    """Return a world for a notebook: in words and, if the sets in it are few, as a picture."""
    labels = sorted(frozenset().union(*regions))
    lines = [element("li", line) for line in _sentences((), regions)]
    parts = [render(element("p", "A possible world:")), render(element("ul", *lines))]
    if labels and len(labels) <= MOST_DRAWN:
        figure, said = world_figure(labels, regions), _description(labels, regions)
        parts.append(document(figure, title="A possible world", description=said, inline=True))
    return "<div>\n" + "\n".join(parts) + "\n</div>\n"


def world_figure(labels: Sequence[str], regions: Collection[Region]) -> Figure:
    """Return a world, reduced to some sets, as a figure.

    Of few sets that is a Venn diagram with the hypercube beside it, of more the hypercube alone, of many words.
    """
    if len(labels) > MOST_DRAWN:
        return above([words(line) for line in _sentences(labels, regions)], gap=4, align=0)
    cells = world_cells(labels, regions)
    signs, key = signs_and_key(labels)
    cube = hypercube_figure(labels, cells, signs=signs)
    if len(labels) not in ARRANGEMENTS:
        return above([cube, *key])
    states = [RegionState.INHABITED if cell else RegionState.EMPTY for cell in cells.flat]
    return beside([venn_figure(labels, states), cube], gap=36)


def _description(labels: Sequence[str], regions: Collection[Region]) -> str:
    if len(labels) > MOST_DRAWN:
        return "; ".join(_sentences(labels, regions))
    return description(labels, world_cells(labels, regions))


def _levels(labels: Sequence[str]) -> list[str]:
    """Return what the lines of a hypercube are, from top to bottom."""
    names = ", ".join(visible(shortened(label, 20)) for label in labels)
    if len(labels) == 1:
        return ["outside", f"in {names}"]
    between = ["in two", "in three"][: len(labels) - 2]
    return ["outside", f"in one: {names}", *between, "in both" if len(labels) == 2 else "in all"]


def _sentences(labels: Sequence[str], regions: Collection[Region]) -> list[str]:
    """Return a world in words: first the regions in the given sets, then the others, small ones before large ones."""

    def place(region: Region) -> tuple[bool, int, list[str]]:
        return region.isdisjoint(labels), len(region), sorted(region)

    if not regions:
        return ["nothing exists"]
    said = [_sentence(labels, region) for region in sorted(regions, key=place)[:_MOST_REGIONS]]
    more = len(regions) - len(said)
    return [*said, f"… and something in {more:,} more regions"] if more else said


def _sentence(labels: Sequence[str], region: Region) -> str:
    if not region:
        return "something is outside all sets"
    inside = [*(label for label in labels if label in region), *sorted(region.difference(labels))]
    names, more = inside[:_MOST_NAMES], len(inside) - _MOST_NAMES
    if more > 0:
        names.append(f"{more:,} other sets")
    return visible(f"something is {region_name(names, [1] * len(names))} only")
