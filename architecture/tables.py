"""The table of rooms in Markdown, and its place in a page: between two comments, which stay."""

from __future__ import annotations

from collections.abc import Sequence

from architecture.rooms import ROOT, Floor, Room

__all__ = ["PAGES", "fill_page", "make_table"]

PAGES = (ROOT / "CONTRIBUTING.md", ROOT / "docs" / "explanation" / "architecture.md")
"""The pages with the table."""

_BEGIN, _END = "<!-- rooms: python -m architecture -->", "<!-- end of rooms -->"


def make_table(rooms: Sequence[Room], floors: Sequence[Floor]) -> str:
    """Return the rooms of each floor in Markdown, from top to bottom."""
    by_name = {room.name: room for room in rooms}
    lines = ["| room | |", "| --- | --- |"]
    for floor in floors:
        lines.append(f"| **{floor.title}** | |")
        lines += [f"| `{by_name[name].path}` | {by_name[name].sentence} |" for name in floor.rooms]
    return "\n".join(lines)


def fill_page(text: str, table: str) -> str:
    """Return the text of a page with the table in its place.

    Raises
    ------
    ValueError
        If the page has no place for the table.
    """
    before, begin, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not (begin and end):
        raise ValueError(f"expected {_BEGIN} and {_END} in the page")
    return f"{before}{_BEGIN}\n{table}\n{_END}{after}"
