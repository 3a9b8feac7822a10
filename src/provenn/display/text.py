"""Hypercubes for the terminal, and numbers as people write them."""

from collections.abc import Iterator, Sequence
from itertools import combinations, zip_longest

from provenn.display.regions import Cells, checked

__all__ = ["hypercube_text", "side_by_side", "size_text"]


def hypercube_text(array: Cells) -> str:
    """Return a hypercube in lines: the outside, what is in one set, what is in two, …, what is in all.

    Within a line the regions of the first sets come first, as they do in the drawing.

    >>> import numpy as np
    >>> print(hypercube_text(np.array([[True, False], [True, True]])))
     ●
    ● ○
     ●
    """
    n = array.ndim
    cells = checked("?" * n, array)
    levels = [
        " ".join(
            "●" if cells[tuple(int(i in inside) for i in range(n))] else "○" for inside in combinations(range(n), k)
        )
        for k in range(n + 1)
    ]
    width = max(map(len, levels))
    return "\n".join(level.center(width).rstrip() for level in levels)


def side_by_side(blocks: Sequence[str], *, width: int = 80, gap: int = 3) -> Iterator[str]:
    """Yield lines that show blocks of text beside each other, as many in a row as fit in `width`."""
    lines = [block.split("\n") for block in blocks]
    column = max((len(line) for block in lines for line in block), default=0)
    fit = max(1, (width + gap) // (column + gap))
    for start in range(0, len(lines), fit):
        if start:
            yield ""
        for row in zip_longest(*lines[start : start + fit], fillvalue=""):
            yield (" " * gap).join(line.ljust(column) for line in row).rstrip()


def size_text(size: int) -> str:
    """Return a number of bytes for people.

    >>> size_text(999), size_text(12_345), size_text(10**12)
    ('999 B', '12.3 kB', '1.0 TB')
    """
    value, unit = float(size), "B"
    for larger in ("kB", "MB", "GB", "TB", "PB"):
        if value < 1000:
            break
        value, unit = value / 1000, larger
    return f"{value:.0f} B" if unit == "B" else f"{value:.1f} {unit}"
