"""The session of an import, and functions shared by all parts of an import."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from sqlalchemy import Table, insert, select, tuple_

from provenn.database.staged_rows import StagedRows
from provenn.database.transactions import Writing
from provenn.digests import CatalogDigest
from provenn.people.visibility import check_visibility
from provenn.transfer.importing.held_catalogs import refuse_missing
from provenn.transfer.importing.staging import StagedFile
from provenn.transfer.portable_files import Line

__all__ = ["ImportSession", "insert_missing", "read_ownership", "require_held"]


@dataclass(slots=True)
class ImportSession:
    """The import of a staged file, within one transaction.

    Parameters
    ----------
    writing, prefix, staged
        The transaction, the prefix for every name, and the contents of the file.
    rows, held_before
        The rows of the definitions, if they were written in batches before; and the digests of the definitions for
        which no rows were written, because the archive held them then.
    catalogs
        The digests of the catalogs that imported facts mention.
    kept
        The names of attributes whose preferences in the archive differ from the file, and stay.
    """

    writing: Writing
    prefix: str
    staged: StagedFile
    rows: StagedRows | None = None
    held_before: frozenset[CatalogDigest] = frozenset()
    catalogs: set[CatalogDigest] = field(default_factory=set)
    kept: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    repeated: dict[int, Literal["held", "retracted"]] = field(default_factory=dict)

    @property
    def unrestricted(self) -> Writing:
        """The transaction without a viewer, to see the whole archive whatever the importer may see."""
        return replace(self.writing, viewer=None)

    def choose_author(self, author: str) -> str:
        """Return the person to record: the author in the file, or the importer if the importer has limited rights."""
        return author if self.writing.viewer is None else self.writing.who


def require_held(session: ImportSession, line: Line, digests: Collection[CatalogDigest]) -> None:
    """Refuse catalogs missing from both the file and the archive, as far as the importer sees the archive."""
    outside = [digest for digest in digests if digest not in session.staged.definitions]
    if outside:
        refuse_missing(session.writing, dict.fromkeys(outside, line))


def insert_missing(writing: Writing, table: Table, key: tuple[str, ...], rows: dict[Any, dict[str, Any]]) -> int:
    """Insert the rows with new keys; return the number of inserted rows."""
    columns = [table.c[name] for name in key]
    query = select(*columns).where(tuple_(*columns).in_(list(rows)))
    held = {tuple(row) for row in writing.connection.execute(query)} if rows else set()
    missing = [row for row_key, row in rows.items() if row_key not in held]
    if missing:
        writing.connection.execute(insert(table), missing)
    return len(missing)


def read_ownership(session: ImportSession, line: Line, content: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """Return owner, visibility and project of an imported name."""
    with line.report_errors("visibility"):
        part = Line(line.number, line.kind, content)
        visibility, project = part.get_text("visibility"), part.get_optional_text("project")
        check_visibility(visibility, project)
        return {"owner": session.choose_author(part.get_text("owner")), "visibility": visibility, "project": project}
