"""The history of names: their changes, and the versions of a name, which are the catalogs that had it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import select

from provenn.database.tables import name_history
from provenn.definitions.catalog_names import CatalogName, make_unknown_name_error
from provenn.errors import UnknownCatalogError
from provenn.people.visibility import Visibility, is_visible_name

if TYPE_CHECKING:
    from provenn.database.transactions import Reading
    from provenn.digests import CatalogDigest

__all__ = ["NameChange", "find_version", "list_versions", "read_name_history"]


@dataclass(frozen=True, slots=True)
class NameChange:
    """A change of a name: it was put on a catalog, shown to others, or, if `catalog` is None, deleted.

    `files` says which files came and went, if the name moved from one version of files to another.
    """

    name: CatalogName
    catalog: CatalogDigest | None
    at: datetime
    by: str
    visibility: Visibility = "public"
    project: str | None = None
    files: str = ""


def read_name_history(reading: Reading, name: str) -> Sequence[NameChange]:
    """Return the changes of a name, the latest first; the name may have been deleted.

    Raises
    ------
    UnknownCatalogError
        If the viewer sees no change of such a name.
    """
    history = name_history.c
    columns = (history.name, history.catalog, history.at, history.by, history.visibility, history.project)
    query = select(*columns).where(history.name == name, is_visible_name(reading, name_history))
    query = query.order_by(history.id.desc())
    changes = [NameChange(*row) for row in reading.connection.execute(query)]
    if not changes:
        raise make_unknown_name_error(reading, name)
    return changes


def list_versions(reading: Reading, name: str) -> tuple[NameChange, ...]:
    """Return the changes that put a name on another catalog than before, the first one first.

    The version of a name is the position of its catalog in this list, from 1.

    Raises
    ------
    UnknownCatalogError
        If the viewer sees no change of such a name.
    """
    versions: list[NameChange] = []
    for change in reversed(read_name_history(reading, name)):
        if change.catalog is not None and (not versions or versions[-1].catalog != change.catalog):
            versions.append(change)
    return tuple(versions)


def find_version(reading: Reading, name: str, version: int) -> CatalogDigest:
    """Return the digest of the catalog that was the n-th version of a name.

    Raises
    ------
    UnknownCatalogError
        If there is no such name or version.
    """
    versions = list_versions(reading, name)
    digest = versions[version - 1].catalog if 0 < version <= len(versions) else None
    if digest is None:
        raise UnknownCatalogError(f"{name} has no version {version}", hint=f"its versions are 1 to {len(versions)}")
    return digest
