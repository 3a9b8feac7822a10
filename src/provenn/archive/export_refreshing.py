"""Exports brought up to date: followed files are written anew when their contents have changed.

The files are replaced in a single step when the new files are complete, so a killed process leaves the old or the new
files. Before writing, a refresh records its intent: the next refresh then recognises the files as written by provenn.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from provenn.archive.context import Context, HasContext
from provenn.archive.data import Data
from provenn.archive.export_records import check_permit, identify_content, list_own_exports
from provenn.archive.handle import Catalog
from provenn.archive.references import find_definitions
from provenn.archive.target import Target
from provenn.data.followed_exports import FollowedExport, begin_writing, record_written, stamp_files
from provenn.errors import ProvennError
from provenn.targets.planning import Missing

__all__ = ["RefreshedExport", "refresh_exports"]

State = Literal["unchanged", "written", "planned", "left alone"]


@dataclass(frozen=True, slots=True)
class RefreshedExport:
    """The effects of a refresh on exported files.

    Attributes
    ----------
    path
        The file or folder.
    name
        The name of the catalog that it follows.
    state
        ``"unchanged"``; ``"written"`` anew; ``"planned"``, if it would be written anew; or ``"left alone"``.
    rows
        The number of rows in the files.
    why
        Why the files are left alone; otherwise empty.
    """

    path: str
    name: str
    state: State
    rows: int
    why: str = ""

    def __str__(self) -> str:
        words = {
            "unchanged": "unchanged",
            "written": f"written anew, {self.rows:,} rows",
            "planned": f"to be written anew: {self.name} changes",
            "left alone": f"left alone: {self.why}",
        }
        return f"{self.path}: {words[self.state]}"


def refresh_exports(
    archive: HasContext, *, names: Collection[str] | None = None, changing: Collection[str] | None = None
) -> list[RefreshedExport]:
    """Write the followed exports of the caller anew, if the contents have changed.

    An unwritable export is left alone, and says why: the remaining exports are written.

    Parameters
    ----------
    archive
        The archive.
    names
        Only the exports that follow these names; by default all.
    changing
        Only say what would be done, if catalogs with these names changed.
    """
    context = archive.context
    if context.database.read_only:
        return []
    exports: Sequence[FollowedExport] = context.read(list_own_exports)
    chosen = [export for export in exports if names is None or export.request.name in names]
    return [_refresh_export(archive, export, changing) for export in chosen]


def _refresh_export(archive: HasContext, export: FollowedExport, changing: Collection[str] | None) -> RefreshedExport:
    name = export.request.name
    try:
        data, content = _find_data(archive, export)
        is_current = content == export.content and export.begun_at is None
        if is_current and name not in (changing or ()):
            return RefreshedExport(export.path, name, "unchanged", export.rows)
        why = _find_obstacle(archive.context, export)
        if why:
            return RefreshedExport(export.path, name, "left alone", export.rows, why)
        if changing is not None:
            return RefreshedExport(export.path, name, "planned", export.rows)
        return RefreshedExport(export.path, name, "written", _write(archive.context, export, data, content))
    except ProvennError as error:
        return RefreshedExport(export.path, name, "left alone", export.rows, error.message)


def _find_data(archive: HasContext, export: FollowedExport) -> tuple[Data, str]:
    """Return the current data of an export, by name, and a digest of their content."""
    request = export.request
    if request.attributes is None:
        (definition,) = archive.context.read(find_definitions, [request.name])
        return Catalog(archive, definition), definition.digest
    missing: Missing = next((choice for choice in get_args(Missing) if choice == request.missing), "error")
    target = Target.of(
        archive, request.name, request.attributes, where=request.where, missing=missing, keep="worthwhile"
    )
    return target, identify_content(target.plan(), target.request.sources)


def _find_obstacle(context: Context, export: FollowedExport) -> str:
    """Return why files must not be replaced; empty if permitted."""
    if Path(export.path).is_symlink():
        return "it is a link now"
    if export.begun_at is None and stamp_files(export.path) not in ("", export.stamp):
        return "it was changed since it was exported; export it again to replace it"
    return check_permit(context, export.path)


def _write(context: Context, export: FollowedExport, data: Data, content: str) -> int:
    context.write(begin_writing, export.path)
    options: dict[str, Any] = {**export.options, "overwrite": True}
    written = data.write(export.path, **options)
    context.write(record_written, export.path, content, stamp_files(export.path), written.rows)
    return written.rows
