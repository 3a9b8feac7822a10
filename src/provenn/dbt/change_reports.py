"""Changes between two versions for people and programs: text, Markdown for a pull request, JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from provenn.dbt.comparing import TableChange
from provenn.dbt.differing import ProjectChanges
from provenn.display.text import join_words

__all__ = ["describe_changes", "encode_changes"]

_ROWS: Final = {
    "equal": "the same rows",
    "narrowed": "fewer rows, at most: the new rows are among the old ones",
    "widened": "more rows, at least: the old rows are among the new ones",
    "disjoint": "no row in common",
    "unknown": "rows not proved to be the same",
    "added": "new",
    "removed": "gone",
}


def describe_changes(changes: ProjectChanges, *, markdown: bool = False) -> str:
    """Return changes in words; in Markdown, as a table for a comment on a pull request."""
    affected = changes.affected
    lines = ["### What this change does to the tables" if markdown else _count(changes)]
    if markdown:
        lines += ["", _count(changes)]
    if affected and markdown:
        lines += ["", "| table | | rows | columns | a row that differs |", "| --- | --- | --- | --- | --- |"]
        lines += [_write_row(change) for change in affected]
    elif affected:
        lines += [""]
        lines += [line for change in affected for line in _describe_change(change)]
    if changes.unaffected:
        names = [f"`{name}`" for name in changes.unaffected] if markdown else list(changes.unaffected)
        lines += ["", f"Proved to be the same, though their SQL or that of a parent has changed: {join_words(names)}"]
    notes = [f"{name}: {reason}" for name, reason in changes.unread]
    if notes:
        lines += ["", "Not understood:", *(["", *(f"- {note}" for note in notes)] if markdown else _indent(notes))]
    return "\n".join(lines)


def _indent(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _count(changes: ProjectChanges) -> str:
    """Return the numbers of changes in a sentence."""
    edited, affected, same = len(changes.edited), len(changes.affected), len(changes.unaffected)
    return f"{edited} edited, {affected} affected, {same} proved to be the same, {changes.untouched} not touched at all"


def _describe_change(change: TableChange) -> list[str]:
    """Return a change as lines."""
    lines = [f"{change.name}: {change.rows}: {_ROWS[change.rows]}"]
    details = [_describe_columns(change), *_describe_rows(change)]
    details += [f"as long as {join_words(change.rests_on)} passes"] if change.rests_on else []
    details += [change.reason] if change.reason else []
    return lines + [f"  {detail}" for detail in details if detail]


def _describe_columns(change: TableChange) -> str:
    """Return the changes of the columns, in words; empty without changes."""
    parts = [
        *([f"added {join_words(change.added)}"] if change.added else []),
        *([f"removed {join_words(change.removed)}"] if change.removed else []),
        *([f"renamed {join_words([f'{old} to {new}' for old, new in change.renamed])}"] if change.renamed else []),
        *([f"redefined {join_words(change.redefined)}"] if change.redefined else []),
    ]
    return f"columns: {', '.join(parts)}" if parts else ""


def _describe_rows(change: TableChange) -> list[str]:
    return [
        *([f"only the old one would hold a row with {change.lost}"] if change.lost else []),
        *([f"only the new one would hold a row with {change.gained}"] if change.gained else []),
    ]


def _write_row(change: TableChange) -> str:
    """Return a change as a row of a table in Markdown."""
    columns = _describe_columns(change).removeprefix("columns: ")
    rows = _ROWS[change.rows] + (f" (as long as {join_words(change.rests_on)} passes)" if change.rests_on else "")
    witnesses = "; ".join(
        [
            *([f"lost: `{change.lost}`"] if change.lost else []),
            *([f"gained: `{change.gained}`"] if change.gained else []),
        ]
    )
    cells = (f"`{change.name}`", f"**{change.rows}**", rows, columns, witnesses)
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def encode_changes(changes: ProjectChanges) -> dict[str, Any]:
    """Return changes as JSON."""
    return {
        "edited": list(changes.edited),
        "untouched": changes.untouched,
        "unaffected": list(changes.unaffected),
        "affected": [
            {
                "name": change.name,
                "rows": change.rows,
                "added": list(change.added),
                "removed": list(change.removed),
                "renamed": [list(pair) for pair in change.renamed],
                "redefined": list(change.redefined),
                "lost": change.lost,
                "gained": change.gained,
                "rests_on": list(change.rests_on),
                "reason": change.reason,
            }
            for change in changes.affected
        ],
        "unread": [{"name": name, "reason": reason} for name, reason in changes.unread],
    }
