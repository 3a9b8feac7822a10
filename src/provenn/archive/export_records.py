"""Following an export: the exports to follow, and the permitted places of their files.

An archive is data, and may come from any author: statements of an archive about outside files are not believed. An
export is written anew only for the person behind the record, and only if this person's own configuration permits this
file for this archive.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from provenn.archive.context import Context
from provenn.catalogs import Catalog
from provenn.catalogs.roots import lies_within
from provenn.data.followed_exports import (
    ExportRequest,
    FollowedExport,
    check_follower,
    list_exports,
    record_export,
    stamp_files,
)
from provenn.database.transactions import Reading, Writing
from provenn.definitions import catalog_names
from provenn.digests import content_digest
from provenn.errors import CatalogNameError, ReadOnlyArchiveError, StoreError
from provenn.gate import permits
from provenn.gate.local_paths import expand_home
from provenn.hints import Hint

if TYPE_CHECKING:
    from provenn.spark.writing import WrittenFiles
    from provenn.targets.plan import Plan

__all__ = [
    "ExportPlace",
    "check_permit",
    "choose_followed_name",
    "follow_export",
    "identify_content",
    "list_own_exports",
]


@dataclass(frozen=True, slots=True)
class ExportPlace:
    """A permitted place of a followed export on this machine.

    Attributes
    ----------
    path
        The absolute path.
    permit
        The permit to write there for the archive.
    """

    path: str
    permit: str

    @classmethod
    def of(cls, context: Context, path: str | PathLike[str]) -> ExportPlace:
        """Check a place for a followed export.

        Raises
        ------
        StoreError
            If the place is not a path on this machine, or lies outside the folders that the archive may use.
        ReadOnlyArchiveError
            If the archive cannot record the export.
        NotYoursError
            If another person exports to this place.
        """
        text = fspath(path)
        if "://" in text or text.startswith("file:"):
            raise StoreError(
                f"only files on this machine can be followed, not {text}",
                hint=Hint("write them without follow=", command="write them without --follow"),
            )
        absolute = str(expand_home(text).absolute())
        roots = context.workshop.roots
        if roots is not None and not lies_within(absolute, roots):
            raise StoreError(
                f"{absolute} lies in no folder that may be used here",
                hint="the administrator allows folders with: provenn serve --root PATH",
            )
        if context.database.read_only:
            raise ReadOnlyArchiveError(
                "a read-only archive follows no exports",
                hint=Hint("write them without follow=", command="write them without --follow"),
            )
        context.read(check_follower, absolute)
        return cls(absolute, f"export:{content_digest('export', [context.database.place, absolute])}")


def choose_followed_name(reading: Reading, catalog: Catalog, follow: bool | str) -> str:
    """Return the name followed by an export of a catalog.

    Raises
    ------
    CatalogNameError
        If the catalog does not have the name, has no name, or has several and none was chosen.
    """
    names = catalog_names.find_names_by_digest(reading, [catalog.digest]).get(catalog.digest, ())
    if isinstance(follow, str):
        if follow not in names:
            raise CatalogNameError(
                f"{follow} is not a name of this catalog now",
                hint="an export follows a name, not a version or a digest",
            )
        return follow
    if len(names) != 1:
        listing = ", ".join(names)
        raise CatalogNameError(
            f"the catalog has several names: {listing}"
            if names
            else "only an export of a named catalog can be followed",
            hint=f'say which one to follow: follow="{names[0]}"' if names else "name the catalog first",
        )
    return names[0]


def identify_content(plan: Plan, sources: Catalog) -> str:
    """Return a digest of the result of a plan: with the same digest, files would hold the same rows.

    The digest belongs to the requested catalog, if any. Where some sources have no value, no such catalog exists; then
    the sources and the attributes, each with the providing catalog, decide.
    """
    if plan.catalog is not None:
        return plan.catalog.digest
    provided = [[entry.name, entry.attribute.identity, entry.provider.digest] for entry in plan.provided]
    return content_digest("export", [sources.digest, provided])


def follow_export(
    context: Context,
    place: ExportPlace,
    request: ExportRequest,
    *,
    options: Mapping[str, Any],
    content: str,
    written: WrittenFiles,
) -> None:
    """Record written files as a followed export of the caller, and permit writing the files anew."""
    stamp = stamp_files(place.path)

    def record(writing: Writing) -> None:
        export = FollowedExport(
            place.path, request, dict(options), content, stamp, written.rows, writing.who, writing.when
        )
        record_export(writing, export)

    context.write(record)
    permits.allow(place.permit)


def check_permit(context: Context, path: str) -> str:
    """Return why an export must not be written anew; empty if permitted."""
    place = ExportPlace.of(context, path)
    if permits.is_allowed(place.permit):
        return ""
    return f"you have not allowed this archive to write it: provenn allow {place.permit}"


def list_own_exports(reading: Reading) -> list[FollowedExport]:
    """Return the followed exports recorded by the caller."""
    return [export for export in list_exports(reading) if export.by == reading.who]
