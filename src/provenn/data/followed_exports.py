"""Followed exports: files outside the archive that a refresh writes anew when their catalog has changed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import delete, insert, select, update

from provenn.database.tables import exports
from provenn.database.transactions import Reading, Writing
from provenn.digests import content_digest
from provenn.errors import CorruptArchiveError, NotYoursError, StoreError
from provenn.people import audit_log

__all__ = [
    "ExportRequest",
    "FollowedExport",
    "begin_writing",
    "check_follower",
    "list_exports",
    "record_export",
    "record_written",
    "remove_export",
    "stamp_files",
]


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """The content of a followed export.

    Parameters
    ----------
    name
        The name of the catalog; what it is on decides what is written.
    attributes
        The requested attributes; None for all attributes of the catalog.
    where, missing
        As for a target.
    """

    name: str
    attributes: tuple[str, ...] | None = None
    where: str | None = None
    missing: str = "error"


@dataclass(frozen=True, slots=True)
class FollowedExport:
    """Files outside the archive that a refresh writes anew.

    Attributes
    ----------
    path
        The file or folder.
    request
        Its content.
    options
        The format, the attributes by whose values it is partitioned, and whether it is a single file.
    content
        The digest of what the files hold.
    stamp
        What the files looked like when they were written; see `stamp_files`.
    rows
        How many rows they hold.
    by, at
        Who exports them, and when they were written last.
    begun_at
        When a refresh began to write them anew; None unless it was interrupted, or still writes.
    """

    path: str
    request: ExportRequest
    options: dict[str, Any]
    content: str
    stamp: str
    rows: int
    by: str
    at: datetime
    begun_at: datetime | None = None


def stamp_files(path: str) -> str:
    """Return a digest of names, sizes and times of a file or of all files of a folder; empty if there are none."""
    place = Path(path)
    files = [place] if place.is_file() else sorted(file for file in place.rglob("*") if file.is_file())
    if not files:
        return ""
    facts = [(file, file.stat()) for file in files]
    return content_digest("export", [[str(file), fact.st_size, fact.st_mtime_ns] for file, fact in facts])


def record_export(writing: Writing, export: FollowedExport) -> None:
    """Record a followed export of the writer, in place of an earlier one of the same files.

    Raises
    ------
    NotYoursError
        If another person exports to the same files.
    """
    check_follower(writing, export.path)
    request = export.request
    values = {
        "name": request.name,
        "request": json.dumps([request.attributes, request.where, request.missing]),
        "options": json.dumps(export.options),
        "content": export.content,
        "stamp": export.stamp,
        "rows": export.rows,
        "by": writing.who,
        "at": writing.when,
        "begun_at": None,
    }
    if _find_follower(writing, export.path) is None:
        writing.connection.execute(insert(exports), {"path": export.path, **values})
    else:
        writing.connection.execute(update(exports).where(exports.c.path == export.path).values(values))
    audit_log.record_action(writing, "follow export", export.path, request.name)


def begin_writing(writing: Writing, path: str) -> None:
    """Record that an export is about to be rewritten: until `record_written`, the files may be old or new."""
    writing.connection.execute(update(exports).where(exports.c.path == path).values(begun_at=writing.when))


def record_written(writing: Writing, path: str, content: str, stamp: str, rows: int) -> None:
    """Record that files were written anew."""
    values = {"content": content, "stamp": stamp, "rows": rows, "at": writing.when, "begun_at": None}
    writing.connection.execute(update(exports).where(exports.c.path == path).values(values))


def list_exports(reading: Reading) -> Sequence[FollowedExport]:
    """Return the followed exports of the viewer, or all of them without a viewer, sorted by path.

    Raises
    ------
    CorruptArchiveError
        If a row has no meaning.
    """
    query = select(exports).order_by(exports.c.path)
    if reading.viewer is not None:
        query = query.where(exports.c.by == reading.viewer)
    return [_read_row(row) for row in reading.connection.execute(query)]


def remove_export(writing: Writing, path: str) -> None:
    """Stop following an export; the files stay.

    Raises
    ------
    StoreError
        If the viewer follows no such export.
    """
    if path not in {export.path for export in list_exports(writing)}:
        raise StoreError(f"{path} is no followed export")
    writing.connection.execute(delete(exports).where(exports.c.path == path))
    audit_log.record_action(writing, "stop following", path)


def check_follower(reading: Reading, path: str) -> None:
    """Make sure that no other person follows an export to the same files.

    Raises
    ------
    NotYoursError
        If another person does.
    """
    follower = _find_follower(reading, path)
    if follower not in (None, reading.who):
        raise NotYoursError(f"{follower} exports to {path}", hint="choose another file")


def _find_follower(reading: Reading, path: str) -> str | None:
    return reading.connection.scalar(select(exports.c.by).where(exports.c.path == path))


def _read_row(row: Any) -> FollowedExport:  # noqa: ANN401 - a row of SQLAlchemy
    try:
        attributes, where, missing = json.loads(row.request)
        options = json.loads(row.options)
        names = None if attributes is None else tuple(attributes)
        is_text = all(isinstance(text, str) for text in (*(names or ()), where or "", missing, *options))
    except (ValueError, TypeError):
        is_text = False
    if not is_text or not isinstance(options, dict):
        raise CorruptArchiveError(f"the row of the export {row.path} in exports has no meaning")
    request = ExportRequest(row.name, names, where, missing)
    return FollowedExport(row.path, request, options, row.content, row.stamp, row.rows, row.by, row.at, row.begun_at)
