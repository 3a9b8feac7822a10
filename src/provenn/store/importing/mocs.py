"""Taking over large MOCs that definitions name by digest."""

from __future__ import annotations

from collections.abc import Sequence

from provenn.sky.moc_library import digest_of
from provenn.sky.mocs import canonical_cells
from provenn.store.importing.taking import Import
from provenn.store.moc_files import keep_cells
from provenn.store.portable import Line

__all__ = ["take_mocs"]


def take_mocs(taking: Import, lines: Sequence[Line]) -> int:
    """Keep the cells of MOCs, which must have the digests that are said; return how many came.

    A file that is written although the import fails later is garbage, to which nothing refers.
    """
    came = 0
    for line in lines:
        cells = line.text("cells")
        with line.readable("cells"):
            if digest_of(cells) != line.text("digest") or not cells.isascii() or canonical_cells(cells) != cells:
                raise line.wrong("its digest is not that of its cells, or they are not in order")
        came += keep_cells(taking.writing, cells)
    return came
