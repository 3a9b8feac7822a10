"""Hypercubes for a terminal, and lists and sizes for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, zip_longest
from typing import TYPE_CHECKING

from provenn.batches import split_batches

if TYPE_CHECKING:
    from provenn.display.venn_regions import Cells

__all__ = ["hypercube_text", "join_blocks", "join_words"]


def hypercube_text(array: Cells) -> str:
    """Return a hypercube in lines: the outside, the regions in one set, in two sets, …, in all sets.

    Within a line the regions of the first sets come first, as in the drawing.

    >>> import numpy as np
    >>> print(hypercube_text(np.array([[True, False], [True, True]])))
     ●
    ● ○
     ●
    """
    from provenn.display.venn_regions import check_hypercube  # noqa: PLC0415 - a command starts without it

    n = array.ndim
    cells = check_hypercube("?" * n, array)
    levels = [
        " ".join(
            "●" if cells[tuple(int(i in members) for i in range(n))] else "○" for members in combinations(range(n), k)
        )
        for k in range(n + 1)
    ]
    width = max(map(len, levels))
    return "\n".join(level.center(width).rstrip() for level in levels)


def join_words(words: Sequence[str], most: int = 12) -> str:
    """Return words as an English list; words beyond `most` are counted.

    >>> join_words(["hip"]), join_words(["hip", "vmag", "plx"]), join_words("abcde", most=3)
    ('hip', 'hip, vmag and plx', 'a, b, c and 2 more')
    """
    shown = [*words[:most], f"{len(words) - most} more"] if len(words) > most else [*words]
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


def join_blocks(blocks: Sequence[str], *, width: int = 80, gap: int = 3) -> Iterator[str]:
    """Yield lines that show blocks of text beside each other, as many in a row as `width` allows."""
    lines = [block.split("\n") for block in blocks]
    column_width = max((len(line) for block in lines for line in block), default=0)
    blocks_per_row = max(1, (width + gap) // (column_width + gap))
    for number, batch in enumerate(split_batches(lines, blocks_per_row)):
        if number:
            yield ""
        for row in zip_longest(*batch, fillvalue=""):
            yield (" " * gap).join(line.ljust(column_width) for line in row).rstrip()
