"""Finding the base catalog that an archive of format 0005 or older has of files which are ingested again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlalchemy import select

from provenn.catalogs import Base, Files
from provenn.errors import ProvennError, UnknownCatalogError
from provenn.store import catalog_store, names
from provenn.store.base_files import check_base
from provenn.store.database import Database
from provenn.store.folder import DataFolder
from provenn.store.tables import bases
from provenn.store.visibility import seen

__all__ = ["find_old_base"]


def find_old_base(
    database: Database,
    folder: DataFolder | None,
    base: Base,
    name: str,
    *,
    in_old_terms: Callable[[Files], Files],
    read: Callable[[Base], Base],
) -> Base | None:
    """Return the old base catalog that has the definition and the files of a new one, or None if there is none.

    Old fingerprints do not show every change. So files at another place than those of the old catalog are the same only
    if all bytes are; or if the old ones are gone, and it is the name of the old catalog under which these are ingested.

    Parameters
    ----------
    database, folder
        The archive.
    base
        The new base catalog.
    name
        The name under which it is ingested.
    in_old_terms
        Returns files as an older archive would know them.
    read
        Reads the contents of the files of an old base catalog, and records them.
    """
    known = _with_contents(database, base)
    if known is not None:
        return _seen_at(known, base)
    if not _has_unread_bases(database):
        return None
    old = replace(base, files=in_old_terms(base.files))
    with database.reading() as reading:
        try:
            found = catalog_store.get(reading, old.digest)
        except UnknownCatalogError:
            return None
        is_named = names.find(reading, name) == old.digest
    if not isinstance(found, Base) or found.files.basis != "unverified":
        return None
    if found.files.location != base.files.location and _is_there(database, folder, found):
        known = read(found)
        return _seen_at(known, base) if known.files.content == base.files.content else None
    if found.files.location == base.files.location or is_named:
        place = replace(found.files, location=base.files.location, fingerprints=old.files.fingerprints)
        return read(replace(found, files=place))
    return None


def _with_contents(database: Database, base: Base) -> Base | None:
    """Return the old base catalog whose files were read, and hold what those of a new one with its definition hold."""
    wanted = _definition(base)
    query = select(bases.c.catalog).where(bases.c.content == base.files.content, bases.c.catalog != base.digest)
    with database.reading() as reading:
        for digest in seen(reading, reading.connection.scalars(query).all()):
            found = catalog_store.get(reading, digest)
            if isinstance(found, Base) and found.files.is_old and _definition(found) == wanted:
                return found
    return None


def _definition(base: Base) -> dict[str, Any]:
    """Return all that a definition says but for the digest of the files."""
    return {key: value for key, value in base.parameters().items() if key != "files"}


def _seen_at(known: Base, base: Base) -> Base:
    """Return an old base catalog whose files lie where those of a new one do, and hold the same."""
    place = replace(known.files, location=base.files.location)
    return replace(known, files=place.known_as(dict(base.files.fingerprints)))


def _has_unread_bases(database: Database) -> bool:
    query = select(bases.c.catalog).where(bases.c.caveat == "unverified").limit(1)
    with database.reading() as reading:
        return reading.connection.execute(query).first() is not None


def _is_there(database: Database, folder: DataFolder | None, base: Base) -> bool:
    """Tell whether the files of an old base catalog are where they were, as far as old fingerprints tell."""
    try:
        check_base(database, folder, base)
    except ProvennError:
        return False
    return True
