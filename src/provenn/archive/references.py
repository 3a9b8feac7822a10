"""References of users to catalogs: by handle, by name, or by the beginning of the digest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from provenn.catalogs import Catalog as Definition
    from provenn.database.transactions import Reading
    from provenn.digests import CatalogDigest

__all__ = [
    "CatalogReference",
    "HasDigest",
    "choose_name",
    "describe_subject",
    "find_definitions",
    "find_digest",
    "find_names",
    "map_user_names",
]


_LONGEST_PHRASE = 60
"""The most characters of the words that stand for a catalog without a name."""


class HasDigest(Protocol):
    """The handle of a catalog, for functions that need only the identity."""

    @property
    def digest(self) -> CatalogDigest:
        """The digest of the catalog."""


CatalogReference = HasDigest | str
"""A handle, a name, or the beginning of a digest."""


def find_digest(reading: Reading, which: CatalogReference) -> CatalogDigest:
    """Return the digest of a catalog visible to the viewer."""
    from provenn.definitions import catalog_entries  # noqa: PLC0415 - a command starts without it

    if isinstance(which, str):
        return catalog_entries.resolve_catalog(reading, which)
    return which.digest if reading.viewer is None else catalog_entries.resolve_catalog(reading, which.digest)


def find_definitions(reading: Reading, which: Iterable[str]) -> list[Definition]:
    """Return the definitions of catalogs, by name or by the beginning of the digest."""
    from provenn.definitions import catalog_entries, catalog_store  # noqa: PLC0415 - a command starts without it

    digests = [catalog_entries.resolve_catalog(reading, reference) for reference in which]
    definitions = catalog_store.get_catalogs(reading, digests) if digests else {}
    return [definitions[digest] for digest in digests]


def find_names(reading: Reading, which: CatalogReference) -> tuple[str, ...]:
    """Return the names of a catalog, sorted."""
    from provenn.definitions import catalog_names  # noqa: PLC0415 - a command starts without it

    digest = find_digest(reading, which)
    return catalog_names.find_names_by_digest(reading, [digest]).get(digest, ())


def choose_name(reading: Reading, which: HasDigest) -> str:
    """Return the first name of a catalog that the viewer sees, or the beginning of its digest.

    The archive need not hold the catalog: a query is a catalog, too.
    """
    from provenn.definitions import catalog_names  # noqa: PLC0415 - a command starts without it
    from provenn.words.vocabulary import SHORT  # noqa: PLC0415

    names = catalog_names.find_names_by_digest(reading, [which.digest]).get(which.digest, ())
    return next(iter(names), which.digest[:SHORT])


def describe_subject(reading: Reading, catalog: Definition, label: str = "") -> str:
    """Return what messages call a catalog: its name, a label, a few words, or the beginning of its digest."""
    from provenn.definitions import catalog_names  # noqa: PLC0415 - a command starts without it
    from provenn.words.vocabulary import SHORT  # noqa: PLC0415

    near = (
        catalog,
        *catalog.dependencies,
        *(part for made_from in catalog.dependencies for part in made_from.dependencies),
    )
    members = {member.digest: member for member in near}
    words = {
        digest: next(iter(names), digest[:SHORT])
        for digest, names in catalog_names.find_names_by_digest(reading, list(members)).items()
    }
    if catalog.digest in words:
        return words[catalog.digest]
    if label:
        return label
    phrases = [words.get(part.digest) or _describe_by_names(part, words) for part in catalog.dependencies]
    phrase = catalog.describe_briefly(phrases) if all(phrases) else ""
    return phrase if phrase and len(phrase) <= _LONGEST_PHRASE else catalog.digest[:SHORT]


def _describe_by_names(catalog: Definition, words: Mapping[CatalogDigest, str]) -> str:
    """Return a few words for a catalog made from catalogs that have words; otherwise nothing."""
    phrases = [words.get(part.digest, "") for part in catalog.dependencies]
    return catalog.describe_briefly(phrases) if all(phrases) else ""


def map_user_names(digests: Sequence[CatalogDigest], which: Sequence[CatalogReference]) -> dict[CatalogDigest, str]:
    """Return the user's names of catalogs by digest; if the user names a catalog twice, the first name counts."""
    pairs = [
        (digest, reference) for digest, reference in zip(digests, which, strict=True) if isinstance(reference, str)
    ]
    return dict(reversed(pairs))
