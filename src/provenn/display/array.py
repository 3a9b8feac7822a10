"""A hypercube as its array."""

import sys
from collections.abc import Sequence
from itertools import product

import numpy as np

from provenn.display.figure import ACCENT, Figure, document, shortened, words
from provenn.display.markup import element
from provenn.display.regions import MOST_DRAWN, Cells, checked, description
from provenn.errors import PictureError

__all__ = ["array_figure", "array_svg", "array_text"]

_HEIGHT = 24.0
_TEXT = 12.0


def array_text(array: Cells) -> str:
    """Return the array as NumPy reads and writes it, whole.

    >>> print(array_text(np.array([[True, False], [False, True]])))
    array([[ True, False],
           [False,  True]])
    """
    return f"array({np.array2string(array, separator=', ', prefix='array(', threshold=sys.maxsize)})"


def array_svg(labels: Sequence[str], array: Cells) -> str:
    """Draw the array of a hypercube, as a table in a table.

    Parameters
    ----------
    labels
        The sets, one for each dimension.
    array
        Booleans of shape ``(2,) * n``: whether each region holds anything; index 1 is inside.

    Returns
    -------
    str
        A complete SVG document. The last set goes to the right, the one before it down, and so on.
    """
    cells = checked(labels, array)
    return document(
        array_figure(labels, cells),
        title=f"Array of {', '.join(labels)}" if labels else "Array of no sets",
        description=description(labels, cells),
    )


def array_figure(labels: Sequence[str], array: Cells) -> Figure:
    """Return an array as a figure: dimensions go to the right and down in turn, the last one to the right."""
    n = len(labels)
    if n > MOST_DRAWN:
        raise PictureError(f"an array of {n} sets is too large to draw", hint="print it instead")
    across = [i for i in range(n) if (n - i) % 2]
    down = [i for i in range(n) if not (n - i) % 2]
    heads = [[words(f"{sign} {shortened(label, 12)}", size=_TEXT, centred=True) for sign in "∉∈"] for label in labels]
    cell = max([54.0, *(head.width + 8 for pair in heads[-1:] for head in pair)])
    columns, rows = _spans(len(across), cell), _spans(len(down), _HEIGHT)
    left = sum(heads[i][0].width + 8 for i in down)
    top = len(across) * _TEXT * 1.6

    parts = []
    for index in product((0, 1), repeat=n):
        x = left + sum(span for i, span in zip(across, columns, strict=True) if index[i])
        y = top + sum(span for i, span in zip(down, rows, strict=True) if index[i])
        parts.append(_cell(cell, full=bool(array[index])).at(x, y))
        # a heading stands over the first cell of what it heads, in the middle of all of it
        for level, i in enumerate(across):
            if not any(index[j] for j in [*across[level + 1 :], *down]):
                width = _extent(columns[level + 1 :], cell)
                head = heads[i][index[i]]
                parts.append(head.at(x + (width - head.width) / 2, level * _TEXT * 1.6))
        for level, i in enumerate(down):
            if not any(index[j] for j in [*down[level + 1 :], *across]):
                height = _extent(rows[level + 1 :], _HEIGHT)
                head = heads[i][index[i]]
                x_head = sum(heads[j][0].width + 8 for j in down[:level])
                parts.append(head.at(x_head, y + (height - head.height) / 2))
    return Figure(left + _extent(columns, cell), top + _extent(rows, _HEIGHT), tuple(parts))


def _spans(count: int, cell: float) -> list[float]:
    """Return how far index 1 lies from index 0 in each dimension of one orientation, the widest first."""
    spans: list[float] = []
    for level in range(count):
        spans.insert(0, _extent(spans, cell) + 2 + 6 * level)
    return spans


def _extent(spans: Sequence[float], cell: float) -> float:
    return sum(spans) + cell


def _cell(width: float, *, full: bool) -> Figure:
    text = words(str(full), size=12, bold=full, faint=not full, mono=True, centred=True)
    box = element(
        "rect",
        class_="full" if full else "open",
        width=width,
        height=_HEIGHT,
        rx=3.0,
        stroke="currentColor",
        stroke_opacity=0.5,
        fill=ACCENT,
        fill_opacity=0.28 if full else 0.0,
    )
    return Figure(width, _HEIGHT, (box, text.at((width - text.width) / 2, 4)))
