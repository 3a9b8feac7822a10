"""Tables that fit a terminal: cells are folded between words, and a table that stays too wide becomes a list."""

import re
from collections.abc import Sequence
from itertools import zip_longest
from textwrap import wrap

__all__ = ["fit_table", "fold_reason"]

_GAP = "  "
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d)")
_JOINED = "\N{NO-BREAK SPACE}"


def fit_table(lines: Sequence[Sequence[str]], width: int | None) -> list[str]:
    r"""Return the lines of a table, the first of which is its header, in at most `width` characters where possible.

    In a table that is too wide, columns without a value are left out, and the widest columns are folded, never inside a
    word or a time. If that does not suffice, each row becomes a list of its cells, a line each.

    >>> print(*fit_table([("fact", "reason"), ("#1", "the ranges of declination differ")], 24), sep="\n")
    fact  reason
    #1    the ranges of
          declination differ
    """
    cells = [[_MOMENT.sub(rf"\1{_JOINED}\2", cell) for cell in line] for line in lines]
    widths = _measure(cells)
    if width is not None and _add_gaps(widths) > width:
        used = [i for i, column in enumerate(zip(*cells[1:], strict=True)) if any(column)]
        cells = [[line[i] for i in used] for line in cells]
        widths = _measure(cells)
        least = [max(len(word) for cell in column for word in cell.split(" ")) for column in zip(*cells, strict=True)]
        if _add_gaps(least) > width:
            return _list_rows(lines)
        widths = _narrow(widths, least, width)
    rows = (_fold_row(line, widths) for line in cells)
    return [line.replace(_JOINED, " ") for row in rows for line in row]


def fold_reason(statement: str, because: str, column: int, width: int | None) -> list[str]:
    """Return a fact of a proof and its origin: on one line, or on two where one would be too long."""
    line = f"  {statement:{column}}   {because}"
    if width is None or len(line) <= width:
        return [line]
    return [f"  {statement}", *wrap(because, width - 6, initial_indent="      ", subsequent_indent="      ")]


def _measure(lines: Sequence[Sequence[str]]) -> list[int]:
    """Return the width of each column: that of its widest cell."""
    return [max(map(len, column)) for column in zip(*lines, strict=True)]


def _add_gaps(widths: Sequence[int]) -> int:
    """Return the width of a table with these columns."""
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _narrow(widths: Sequence[int], least: Sequence[int], available: int) -> list[int]:
    """Return narrower columns: the widest is narrowed first, down to its longest word."""
    narrowed = list(widths)
    while _add_gaps(narrowed) > available:
        widest = max((i for i, width in enumerate(narrowed) if width > least[i]), key=lambda i: narrowed[i])
        narrowed[widest] -= 1
    return narrowed


def _fold_row(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    """Return the lines of a row, whose cells are folded between words."""
    folded = [
        [cell] if len(cell) <= width else wrap(cell, width, break_long_words=False, break_on_hyphens=False)
        for cell, width in zip(cells, widths, strict=True)
    ]
    return [
        _GAP.join(part.ljust(width) for part, width in zip(parts, widths, strict=True)).rstrip()
        for parts in zip_longest(*folded, fillvalue="")
    ]


def _list_rows(lines: Sequence[Sequence[str]]) -> list[str]:
    """Return each row as a list of its cells with the words of the header; rows are separated by an empty line."""
    header, *rows = lines
    indent = max(map(len, header))
    listed: list[str] = []
    for row in rows:
        listed += [""] if listed else []
        listed += [f"{word:{indent}}  {cell}" for word, cell in zip(header, row, strict=True) if cell]
    return listed
