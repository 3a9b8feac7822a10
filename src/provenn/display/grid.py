"""Tables whose cells may span several columns: as text, and as a figure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Generic, TypeVar

from provenn.display.figure import Figure
from provenn.display.markup import format_number, make_element

__all__ = ["Cell", "grid_figure", "grid_text"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Cell(Generic[T]):
    """The content of a cell, and the number of spanned columns."""

    content: T
    span: int = 1


# The sign where lines meet, by whether a line goes up and whether a line goes down.
_INNER = {(True, True): "┼", (True, False): "┴", (False, True): "┬", (False, False): "─"}


def grid_text(rows: Sequence[Sequence[Cell[str]]]) -> str:
    """Return a table as text; the lines of a cell are centred together.

    >>> print(grid_text([[Cell("ab", 2)], [Cell("a"), Cell("b")]]))
    ┌───┐
    │ab │
    ├─┬─┤
    │a│b│
    └─┴─┘
    """
    widths = _compute_widths([[(_measure_width(cell.content), cell.span) for cell in row] for row in rows], gap=1)
    edges = [0, *accumulate(int(width) + 1 for width in widths)]
    starts = [set(accumulate((cell.span for cell in row), initial=0)) for row in rows]
    lines = []
    for i, row in enumerate(rows):
        lines.append(_draw_rule(edges, starts[i - 1] if i else set(), starts[i]))
        column, blocks = 0, []
        for cell in row:
            blocks.append(_centre_block(cell.content, edges[column + cell.span] - edges[column] - 1))
            column += cell.span
        height = max(map(len, blocks))
        padded = [block + [" " * len(block[0])] * (height - len(block)) for block in blocks]
        lines.extend(f"│{'│'.join(line)}│" for line in zip(*padded, strict=True))
    lines.append(_draw_rule(edges, starts[-1], set()))
    return "\n".join(lines)


def _measure_width(block: str) -> int:
    """Return the length of the longest line of a block."""
    return max(map(len, block.split("\n")))


def _centre_block(block: str, width: int) -> list[str]:
    """Return the lines of a block, centred together and padded to a width."""
    margin = " " * ((width - _measure_width(block)) // 2)
    return [(margin + line).ljust(width) for line in block.split("\n")]


def grid_figure(rows: Sequence[Sequence[Cell[Figure]]], padding: float = 7.0) -> Figure:
    """Return a table as a figure."""
    widths = _compute_widths([[(cell.content.width + 2 * padding, cell.span) for cell in row] for row in rows], gap=0)
    edges = [0.0, *accumulate(widths)]
    parts, lines, y = [], [], 0.0
    for row in rows:
        height = max(cell.content.height for cell in row) + 2 * padding
        column = 0
        for cell in row:
            left, right = edges[column], edges[column + cell.span]
            x = (left + right - cell.content.width) / 2
            parts.append(cell.content.place_at(x, y + (height - cell.content.height) / 2))
            if column:
                lines.append(f"M{format_number(left)} {format_number(y)}V{format_number(y + height)}")
            column += cell.span
        if y:
            lines.append(f"M0 {format_number(y)}H{format_number(edges[-1])}")
        y += height
    border = make_element(
        "rect", width=edges[-1], height=y, rx=4.0, fill="none", stroke="currentColor", stroke_opacity=0.4
    )
    inner = make_element("path", d="".join(lines), stroke="currentColor", stroke_opacity=0.4)
    return Figure(edges[-1], y, (border, inner, *parts))


def _compute_widths(rows: Iterable[Sequence[tuple[float, int]]], *, gap: float) -> list[float]:
    """Return the widths of the columns: as narrow as single cells allow, then widened for cells that span columns."""
    rows = list(rows)
    widths = [0.0] * sum(span for _, span in rows[0])
    for is_single in (True, False):
        for row in rows:
            column = 0
            for width, span in row:
                columns = slice(column, column + span)
                shortfall = width - sum(widths[columns]) - gap * (span - 1)
                if (span == 1) == is_single and shortfall > 0:
                    widths[column + span - 1] += shortfall
                column += span
    return widths


def _draw_rule(edges: Sequence[int], above: set[int], below: set[int]) -> str:
    """Return a horizontal line between two rows; `above` and `below` are the columns where their cells begin."""
    last = len(edges) - 1
    line = ""
    for column, (start, stop) in enumerate(zip(edges, [*edges[1:], edges[-1] + 1], strict=True)):
        sign = _INNER[column in above, column in below]
        if column in (0, last):
            sign = {"┼": "├┤", "┴": "└┘", "┬": "┌┐"}[sign][column == last]
        line += sign + "─" * (stop - start - 1)
    return line
