"""Finding the base catalog that an archive of format 0005 or older has of files which are ingested again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from sqlalchemy import or_, select

from provenn.catalogs import Base, Files
from provenn.errors import ProvennError, UnknownCatalogError
from provenn.store import catalog_store, names
from provenn.store.base_files import check_base
from provenn.store.database import Database
from provenn.store.folder import DataFolder
from provenn.store.tables import bases, catalogs

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
    if not _has_old_bases(database):
        return None
    old = replace(base, files=in_old_terms(base.files))
    with database.reading() as reading:
        try:
            found = catalog_store.get(reading, old.digest)
        except UnknownCatalogError:
            return None
        named = names.find(reading, name) == old.digest
    assert isinstance(found, Base), "its digest is that of a base"  # noqa: S101 - for the type checker
    there = replace(
        found, files=replace(found.files, location=base.files.location, fingerprints=old.files.fingerprints)
    )
    if not found.files.contents:
        if found.files.location == base.files.location:
            return read(there)
        if not _is_there(database, folder, found):
            return read(there) if named else None
        found = read(found)
    contents = dict(base.files.fingerprints)
    if Counter(text for _, text in found.files.contents) != Counter(contents.values()):
        return None
    return replace(there, files=replace(there.files, contents=base.files.fingerprints, was_late=found.files.was_late))


def _has_old_bases(database: Database) -> bool:
    old = or_(bases.c.caveat == "unverified", catalogs.c.notes.contains('"contents":{"', autoescape=True))
    query = select(bases.c.catalog).join(catalogs, catalogs.c.digest == bases.c.catalog).where(old).limit(1)
    with database.reading() as reading:
        return reading.connection.execute(query).first() is not None


def _is_there(database: Database, folder: DataFolder | None, base: Base) -> bool:
    """Tell whether the files of an old base catalog are where they were, as far as old fingerprints tell."""
    try:
        check_base(database, folder, base)
    except ProvennError:
        return False
    return True
