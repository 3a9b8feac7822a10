"""A relationship as the row of its hypercubes: as SVG, as HTML for a notebook, as text for a terminal."""

from collections.abc import Iterable, Sequence
from math import log2

from provenn.display.figure import Figure, above, beside, document, signs_and_key, words
from provenn.display.hypercube import hypercube_figure
from provenn.display.markup import element, render, visible
from provenn.display.regions import MOST_DRAWN, Cells, checked, description
from provenn.display.text import hypercube_text, side_by_side

__all__ = ["counted", "relationship_figure", "relationship_html", "relationship_svg", "relationship_text"]

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
        How many there are, where that is more than are shown.

    Returns
    -------
    str
        A complete SVG document.
    """
    return _document(labels, list(arrays), total, inline=False)


def relationship_html(labels: Sequence[str], arrays: Iterable[Cells], *, kind: str, total: int) -> str:
    """Return a relationship for a notebook: what it is, and its hypercubes in the colours of the page."""
    heading = render(element("p", _heading(labels, kind, total)))
    return f"<div>\n{heading}\n{_document(labels, list(arrays), total, inline=True)}</div>\n"


def relationship_text(labels: Sequence[str], arrays: Iterable[Cells], *, kind: str, total: int) -> str:
    """Return a relationship for a terminal: what it is, and its hypercubes, at most 80 columns wide."""
    shown = [checked(labels, array) for array in arrays]
    lines = [visible(_heading(labels, kind, total))]
    if len(labels) > MOST_DRAWN:
        lines.extend(f"- {visible(description(labels, array))}" for array in shown)
    else:
        lines.extend(side_by_side([hypercube_text(array) for array in shown]))
    lines.extend(_more(len(shown), total))
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
    """Return the hypercubes of a relationship as a figure, in rows of this width, each hypercube of this size."""
    if not arrays and not total:
        return words("no hypercube is possible", faint=True)
    if len(labels) > MOST_DRAWN:
        lines = [words(description(labels, checked(labels, array))) for array in arrays]
        return above([*lines, *_more_words(len(arrays), total)], gap=4, align=0)
    signs, key = signs_and_key(labels)
    drawn = [hypercube_figure(labels, array, order=order, signs=signs, size=size) for array in arrays]
    gap = 18 * size
    fit = max(1, int((width + gap) // (drawn[0].width + gap))) if drawn else 1
    rows = [beside(drawn[start : start + fit], gap=gap) for start in range(0, len(drawn), fit)]
    return above([*rows, *key, *_more_words(len(arrays), total)], gap=16, align=0)


def _document(labels: Sequence[str], arrays: Sequence[Cells], total: int | None, *, inline: bool) -> str:
    count = len(arrays) if total is None else total
    texts = [f"Hypercube {i}: {description(labels, array)}" for i, array in enumerate(arrays, start=1)]
    return document(
        relationship_figure(labels, arrays, total=total),
        title=f"Relationship of {_named(labels)}: {counted(count)}",
        description=" ".join([*texts, *_more(len(arrays), count)]) or "No hypercube is possible.",
        inline=inline,
    )


def _heading(labels: Sequence[str], kind: str, total: int) -> str:
    return f"Relationship of {_named(labels)}: {kind}, {'all ' if kind == 'tautology' else ''}{counted(total)}"


def _named(labels: Sequence[str]) -> str:
    return ", ".join(labels) if labels else "no sets"


def counted(count: int) -> str:
    """Return a number of hypercubes in words.

    >>> counted(0), counted(1), counted(65536), counted(2**64)
    ('no hypercubes', '1 hypercube', '65,536 hypercubes', '2**64 hypercubes')
    """
    return f"{_number(count)} hypercube{'' if count == 1 else 's'}"


def _number(count: int) -> str:
    # A tautology of fourteen sets has more hypercubes than Python is willing to write down.
    if count < 10**15:
        return f"{count:,}" if count else "no"
    exponent = round(log2(count))
    return f"2**{exponent}" if count == 2**exponent else f"about 2**{exponent}"


def _more(shown: int, total: int | None) -> list[str]:
    return [f"… and {_number(total - shown)} more"] if total is not None and total > shown else []


def _more_words(shown: int, total: int | None) -> list[Figure]:
    return [words(line, faint=True) for line in _more(shown, total)]
