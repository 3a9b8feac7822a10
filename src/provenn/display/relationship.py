"""A relationship as a row of its hypercubes: as SVG, as HTML for a notebook, as text for a terminal."""

from collections.abc import Iterable, Sequence
from math import log2

from provenn.batches import split_batches
from provenn.display.figure import (
    Figure,
    choose_signs,
    draw_text,
    render_document,
    stack_horizontally,
    stack_vertically,
)
from provenn.display.hypercube import hypercube_figure
from provenn.display.markup import make_element, make_printable, render
from provenn.display.text import hypercube_text, join_blocks
from provenn.display.venn_regions import MOST_DRAWN, Cells, check_hypercube, describe_hypercube

__all__ = ["describe_count", "relationship_figure", "relationship_html", "relationship_svg", "relationship_text"]

_WIDTH = 760.0


def relationship_svg(labels: Sequence[str], arrays: Iterable[Cells], *, total: int | None = None) -> str:
    """Draw the hypercubes of a relationship.

    Parameters
    ----------
    labels
        The sets, one for each dimension.
    arrays
        The hypercubes to show.
    total
        The number of all hypercubes, if only some of them are shown.

    Returns
    -------
    str
        A complete SVG document.
    """
    return _render_relationship(labels, list(arrays), total, inline=False)


def relationship_html(labels: Sequence[str], arrays: Iterable[Cells], *, kind: str, total: int) -> str:
    """Return a relationship for a notebook: a heading, and its hypercubes in the colours of the page."""
    heading = render(make_element("p", _write_heading(labels, kind, total)))
    return f"<div>\n{heading}\n{_render_relationship(labels, list(arrays), total, inline=True)}</div>\n"


def relationship_text(labels: Sequence[str], arrays: Iterable[Cells], *, kind: str, total: int) -> str:
    """Return a relationship for a terminal: a heading, and its hypercubes, at most 80 columns wide."""
    cubes = [check_hypercube(labels, array) for array in arrays]
    lines = [make_printable(_write_heading(labels, kind, total))]
    if len(labels) > MOST_DRAWN:
        lines.extend(f"- {make_printable(describe_hypercube(labels, array))}" for array in cubes)
    else:
        lines.extend(join_blocks([hypercube_text(array) for array in cubes]))
    lines.extend(_count_rest(len(cubes), total))
    return "\n".join(lines)


def relationship_figure(
    labels: Sequence[str],
    arrays: Sequence[Cells],
    *,
    total: int | None = None,
    order: Sequence[str] | None = None,
    size: float = 1.0,
    width: float = _WIDTH,
) -> Figure:
    """Return the hypercubes of a relationship as a figure, in rows up to this width, each hypercube of this size."""
    if not arrays and not total:
        return draw_text("no hypercube is possible", faint=True)
    if len(labels) > MOST_DRAWN:
        lines = [draw_text(describe_hypercube(labels, check_hypercube(labels, array))) for array in arrays]
        return stack_vertically([*lines, *_draw_rest(len(arrays), total)], gap=4, align=0)
    signs, key = choose_signs(labels)
    cubes = [hypercube_figure(labels, array, order=order, signs=signs, size=size) for array in arrays]
    gap = 18 * size
    cubes_per_row = max(1, int((width + gap) // (cubes[0].width + gap))) if cubes else 1
    rows = [stack_horizontally(row, gap=gap) for row in split_batches(cubes, cubes_per_row)]
    return stack_vertically([*rows, *key, *_draw_rest(len(arrays), total)], gap=16, align=0)


def _render_relationship(labels: Sequence[str], arrays: Sequence[Cells], total: int | None, *, inline: bool) -> str:
    """Return the hypercubes of a relationship as an SVG document."""
    count = len(arrays) if total is None else total
    texts = [f"Hypercube {i}: {describe_hypercube(labels, array)}" for i, array in enumerate(arrays, start=1)]
    return render_document(
        relationship_figure(labels, arrays, total=total),
        title=f"Relationship of {_list_labels(labels)}: {describe_count(count)}",
        description=" ".join([*texts, *_count_rest(len(arrays), count)]) or "No hypercube is possible.",
        inline=inline,
    )


def _write_heading(labels: Sequence[str], kind: str, total: int) -> str:
    """Return the heading of a relationship: sets, kind, and number of hypercubes."""
    all_of = "all " if kind == "tautology" else ""
    return f"Relationship of {_list_labels(labels)}: {kind}, {all_of}{describe_count(total)}"


def _list_labels(labels: Sequence[str]) -> str:
    """Return the labels of a relationship, in words."""
    return ", ".join(labels) if labels else "no sets"


def describe_count(count: int) -> str:
    """Return a number of hypercubes in words.

    >>> describe_count(0), describe_count(1), describe_count(65536), describe_count(2**64)
    ('no hypercubes', '1 hypercube', '65,536 hypercubes', '2**64 hypercubes')
    """
    return f"{_format_count(count)} hypercube{'' if count == 1 else 's'}"


def _format_count(count: int) -> str:
    """Return a number; a large one as a power of two."""
    # Python refuses to write the number of hypercubes of fourteen sets in full.
    if count < 10**15:
        return f"{count:,}" if count else "no"
    exponent = round(log2(count))
    return f"2**{exponent}" if count == 2**exponent else f"about 2**{exponent}"


def _count_rest(shown: int, total: int | None) -> list[str]:
    """Return a line with the number of hidden hypercubes, if any are hidden."""
    return [f"… and {_format_count(total - shown)} more"] if total is not None and total > shown else []


def _draw_rest(shown: int, total: int | None) -> list[Figure]:
    """Return the line on hidden hypercubes as a figure, if any are hidden."""
    return [draw_text(line, faint=True) for line in _count_rest(shown, total)]
