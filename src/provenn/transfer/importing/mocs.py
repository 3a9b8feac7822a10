"""Importing the large MOCs named by definitions."""

from __future__ import annotations

from collections.abc import Sequence

from provenn.definitions.moc_files import keep_cells
from provenn.files.data_folder import DataFolder
from provenn.sky.moc_library import hash_cells
from provenn.sky.mocs import write_canonical_cells
from provenn.transfer.portable_files import Line

__all__ = ["take_mocs"]


def take_mocs(folder: DataFolder | None, lines: Sequence[Line]) -> int:
    """Check the cells of MOCs against the digests, and store the cells; return the number of new MOCs.

    If the import fails later, the written files are unreferred garbage.
    """
    new_count = 0
    for line in lines:
        cells = line.get_text("cells")
        with line.report_errors("cells"):
            if (
                hash_cells(cells) != line.get_text("digest")
                or not cells.isascii()
                or write_canonical_cells(cells) != cells
            ):
                raise line.make_error("its digest does not match its cells, or they are not in order")
        new_count += keep_cells(folder, cells)
    return new_count
