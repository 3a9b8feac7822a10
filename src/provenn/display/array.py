"""A hypercube as its array, in text and as a table in a table."""

import sys
from collections.abc import Sequence
from itertools import product

import numpy as np

from provenn.display.figure import ACCENT, Figure, draw_text, render_document, shorten_label
from provenn.display.markup import make_element
from provenn.display.venn_regions import MOST_DRAWN, Cells, check_hypercube, describe_hypercube
from provenn.errors import PictureError

__all__ = ["array_figure", "array_svg", "array_text"]

_HEIGHT = 24.0
_TEXT = 12.0


def array_text(array: Cells) -> str:
    """Return the array in NumPy's notation, in full.

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
    cells = check_hypercube(labels, array)
    return render_document(
        array_figure(labels, cells),
        title=f"Array of {', '.join(labels)}" if labels else "Array of no sets",
        description=describe_hypercube(labels, cells),
    )


def array_figure(labels: Sequence[str], array: Cells) -> Figure:
    """Return an array as a figure: dimensions go to the right and down in turn, the last dimension to the right."""
    n = len(labels)
    if n > MOST_DRAWN:
        raise PictureError(f"an array of {n} sets is too large to draw", hint="print it instead")
    across = [i for i in range(n) if (n - i) % 2]
    down = [i for i in range(n) if not (n - i) % 2]
    heads = [
        [draw_text(f"{sign} {shorten_label(label, 12)}", size=_TEXT, centred=True) for sign in "∉∈"] for label in labels
    ]
    cell_width = max([54.0, *(head.width + 8 for pair in heads[-1:] for head in pair)])
    columns, rows = _compute_spans(len(across), cell_width), _compute_spans(len(down), _HEIGHT)
    left = sum(heads[i][0].width + 8 for i in down)
    top = len(across) * _TEXT * 1.6

    parts = []
    for index in product((0, 1), repeat=n):
        x = left + sum(span for i, span in zip(across, columns, strict=True) if index[i])
        y = top + sum(span for i, span in zip(down, rows, strict=True) if index[i])
        parts.append(_draw_cell(cell_width, full=bool(array[index])).place_at(x, y))
        # a heading is placed with the first cell of its group, in the middle of the group
        for level, i in enumerate(across):
            if not any(index[j] for j in [*across[level + 1 :], *down]):
                width = _measure_extent(columns[level + 1 :], cell_width)
                head = heads[i][index[i]]
                parts.append(head.place_at(x + (width - head.width) / 2, level * _TEXT * 1.6))
        for level, i in enumerate(down):
            if not any(index[j] for j in [*down[level + 1 :], *across]):
                height = _measure_extent(rows[level + 1 :], _HEIGHT)
                head = heads[i][index[i]]
                x_head = sum(heads[j][0].width + 8 for j in down[:level])
                parts.append(head.place_at(x_head, y + (height - head.height) / 2))
    return Figure(left + _measure_extent(columns, cell_width), top + _measure_extent(rows, _HEIGHT), tuple(parts))


def _compute_spans(count: int, cell: float) -> list[float]:
    """Return the distance of index 1 from index 0 in each dimension of one orientation, the widest first."""
    spans: list[float] = []
    for level in range(count):
        spans.insert(0, _measure_extent(spans, cell) + 2 + 6 * level)
    return spans


def _measure_extent(spans: Sequence[float], cell: float) -> float:
    """Return the width or height of cells with these spans."""
    return sum(spans) + cell


def _draw_cell(width: float, *, full: bool) -> Figure:
    """Return a cell of the array as a figure."""
    text = draw_text(str(full), size=12, bold=full, faint=not full, mono=True, centred=True)
    box = make_element(
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
    return Figure(width, _HEIGHT, (box, text.place_at((width - text.width) / 2, 4)))
