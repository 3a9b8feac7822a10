"""Catalogs as users refer to them: by handle, by name, or by the beginning of the digest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from provenn.catalogs import Catalog as Definition
from provenn.database.transactions import Reading
from provenn.definitions import catalog_names, catalog_store
from provenn.digests import CatalogDigest
from provenn.words.vocabulary import SHORT

__all__ = [
    "CatalogReference",
    "HasDigest",
    "choose_name",
    "find_definitions",
    "find_digest",
    "find_names",
    "map_user_names",
]


class HasDigest(Protocol):
    """The handle of a catalog, for functions that need only its identity."""

    @property
    def digest(self) -> CatalogDigest:
        """The digest of the catalog."""


CatalogReference = HasDigest | str
"""A handle, a name, or the beginning of a digest."""


def find_digest(reading: Reading, which: CatalogReference) -> CatalogDigest:
    """Return the digest of a catalog that the viewer sees."""
    if isinstance(which, str):
        return catalog_store.resolve_catalog(reading, which)
    return which.digest if reading.viewer is None else catalog_store.resolve_catalog(reading, which.digest)


def find_definitions(reading: Reading, which: Iterable[str]) -> list[Definition]:
    """Return the definitions of catalogs, by name or by the beginning of the digest."""
    digests = [catalog_store.resolve_catalog(reading, reference) for reference in which]
    definitions = catalog_store.get_catalogs(reading, digests) if digests else {}
    return [definitions[digest] for digest in digests]


def find_names(reading: Reading, which: CatalogReference) -> tuple[str, ...]:
    """Return the names of a catalog, sorted."""
    digest = find_digest(reading, which)
    return catalog_names.find_names_by_digest(reading, [digest]).get(digest, ())


def choose_name(reading: Reading, which: HasDigest) -> str:
    """Return the first name of a catalog, or the beginning of its digest."""
    return next(iter(find_names(reading, which)), which.digest[:SHORT])


def map_user_names(digests: Sequence[CatalogDigest], which: Sequence[CatalogReference]) -> dict[CatalogDigest, str]:
    """Return the user's names of catalogs by digest; if the user names a catalog twice, the first name counts."""
    pairs = [
        (digest, reference) for digest, reference in zip(digests, which, strict=True) if isinstance(reference, str)
    ]
    return dict(reversed(pairs))
