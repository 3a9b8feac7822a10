"""Finding the base catalog of an archive of format 0005 or older for files ingested again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlalchemy import select

from provenn.catalogs import Base, Files
from provenn.data.changed_files import check_base
from provenn.database.tables import bases
from provenn.database.transactions import Database
from provenn.definitions import catalog_names, catalog_store
from provenn.errors import ProvennError, UnknownCatalogError
from provenn.files.data_folder import DataFolder
from provenn.people.visibility import filter_visible

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
    """Return the old base catalog with the definition and the files of a new base catalog, or None.

    Old fingerprints do not show every change. So files at another place than the files of the old catalog count as the
    same only if all bytes are equal; or if the old files are gone, and the name of the ingestion is on the old catalog.

    Parameters
    ----------
    database, folder
        The archive.
    base
        The new base catalog.
    name
        The name for the new base catalog.
    in_old_terms
        Returns files with the fingerprints that an older archive would record.
    read
        Reads and records the contents of the files of an old base catalog.
    """
    known_base = _find_base_by_contents(database, base)
    if known_base is not None:
        return _relocate_base(known_base, base)
    if not _has_unread_bases(database):
        return None
    old = replace(base, files=in_old_terms(base.files))
    with database.reading() as reading:
        try:
            stored_base = catalog_store.get_catalog(reading, old.digest)
        except UnknownCatalogError:
            return None
        is_named = catalog_names.find_named_digest(reading, name) == old.digest
    if not isinstance(stored_base, Base) or stored_base.files.basis != "unverified":
        return None
    if stored_base.files.location != base.files.location and _are_files_there(database, folder, stored_base):
        known_base = read(stored_base)
        return _relocate_base(known_base, base) if known_base.files.content == base.files.content else None
    if stored_base.files.location == base.files.location or is_named:
        place = replace(stored_base.files, location=base.files.location, fingerprints=old.files.fingerprints)
        return read(replace(stored_base, files=place))
    return None


def _find_base_by_contents(database: Database, base: Base) -> Base | None:
    """Return the old base catalog with the definition and the recorded file contents of a new base catalog."""
    wanted = _get_definition(base)
    query = select(bases.c.catalog).where(bases.c.content == base.files.content, bases.c.catalog != base.digest)
    with database.reading() as reading:
        for digest in filter_visible(reading, reading.connection.scalars(query).all()):
            stored_base = catalog_store.get_catalog(reading, digest)
            if isinstance(stored_base, Base) and stored_base.files.is_old and _get_definition(stored_base) == wanted:
                return stored_base
    return None


def _get_definition(base: Base) -> dict[str, Any]:
    """Return the parameters of a base catalog except the digest of the files."""
    return {key: value for key, value in base.parameters().items() if key != "files"}


def _relocate_base(known_base: Base, base: Base) -> Base:
    """Return an old base catalog with the place and the fingerprints of a new base catalog's files."""
    place = replace(known_base.files, location=base.files.location)
    return replace(known_base, files=place.known_as(dict(base.files.fingerprints)))


def _has_unread_bases(database: Database) -> bool:
    """Whether the archive holds base catalogs with contents never read."""
    query = select(bases.c.catalog).where(bases.c.caveat == "unverified").limit(1)
    with database.reading() as reading:
        return reading.connection.execute(query).first() is not None


def _are_files_there(database: Database, folder: DataFolder | None, base: Base) -> bool:
    """Return whether the files of an old base catalog are in place, as far as old fingerprints show."""
    try:
        check_base(database, folder, base)
    except ProvennError:
        return False
    return True
