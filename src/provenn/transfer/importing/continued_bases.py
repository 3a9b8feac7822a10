"""Imported base catalogs whose files were appended to others, and so have the attributes of these.

A source has one value of an attribute: no two base catalogs of an archive with the same attributes share a key. Each
archive makes sure of that when files are appended. Two archives that appended different files to the same base catalog
have compared only their own keys; so the one cannot take over the files of the other. Nor does an archive believe an
imported file that other files hold the rows of files known here: only the log of their table can say so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from provenn.catalogs import Base, list_bases
from provenn.definitions import catalog_store
from provenn.definitions.attributes import find_bases_with_attribute
from provenn.definitions.base_locations import find_base_locations
from provenn.digests import CatalogDigest
from provenn.transfer.importing.staging import StagedDefinition
from provenn.transfer.importing.taking import ImportSession

__all__ = ["check_continued_bases"]

_CONTINUES = '"continues":"'


def check_continued_bases(session: ImportSession, fresh: Collection[CatalogDigest]) -> None:
    """Refuse new base catalogs with the attributes of others, unless their keys were compared; store joined ones.

    Parameters
    ----------
    session
        The import, after its definitions were written.
    fresh
        The digests of the definitions that are new to the archive.

    Raises
    ------
    FileError
        If the archive holds base catalogs with these attributes that the file does not know, or with other columns; or
        if new files are said to hold rows of files that the archive knew before.
    """
    staged = session.staged.definitions
    new = [staged[digest] for digest in sorted(fresh) if _continues(staged[digest])]
    if not new:
        return
    known = [definition.digest for definition in staged.values() if definition.kind == Base.kind]
    restored = catalog_store.get_catalogs(session.unrestricted, known)
    bases_by_digest = {base.digest: base for base in list_bases(restored.values())}
    parts = {part.digest: part for base in bases_by_digest.values() for part in base.list_parts()}
    held = find_base_locations(session.unrestricted, parts).keys() - frozenset(fresh)
    catalog_store.add_catalogs(
        session.writing, *(part for digest, part in parts.items() if digest not in bases_by_digest)
    )
    for definition in new:
        _check_others(session, definition, bases_by_digest[definition.digest], parts, held)


def _continues(definition: StagedDefinition) -> bool:
    return definition.kind == Base.kind and _CONTINUES in definition.parameters


def _check_others(
    session: ImportSession,
    definition: StagedDefinition,
    base: Base,
    parts: Collection[CatalogDigest],
    held: Collection[CatalogDigest],
) -> None:
    """Refuse a base catalog if a base catalog outside the file has the same attributes, or if its columns differ.

    `parts` are the base catalogs that the file knows, `held` those of them that the archive knew before.
    """
    own = [attribute for attribute in base.schema.attributes if attribute.name not in base.key]
    digests = find_bases_with_attribute(session.unrestricted, own[0].identity) if own else []
    others = catalog_store.get_catalogs(session.unrestricted, digests) if digests else {}
    bases = list_bases(others.values())
    if _list_unknown(bases, parts):
        raise definition.line.make_error(
            "other files were appended to the same base catalog here, and nobody compared the keys of both; "
            "ingest the files themselves"
        )
    if base.rewrites and any(other.digest in held for other in bases):
        raise definition.line.make_error(
            "it is said to hold the rows of files that are known here; refresh their base catalog instead, which reads "
            "the log of the table"
        )
    if not all(base.fits_columns(other) for other in bases):
        raise definition.line.make_error("it has the attributes of a base catalog with other columns")


def _list_unknown(bases: Iterable[Base], parts: Collection[CatalogDigest]) -> list[Base]:
    """Return the base catalogs that are neither among some known ones nor parts of these."""
    return [base for base in bases if (base.part_of or base.digest) not in parts and base.digest not in parts]
