"""Stored results of calculators, and bringing results up to date for a new definition of their catalog."""

from __future__ import annotations

from collections.abc import Sequence

from provenn.archive.context import Context
from provenn.archive.references import describe_subject
from provenn.catalogs import Catalog, cone, list_joined_bases
from provenn.criteria import AttributeIdentity
from provenn.data import fragments
from provenn.database.transactions import Reading
from provenn.definitions import catalog_store
from provenn.digests import CatalogDigest
from provenn.targets.keeping import Keep
from provenn.targets.plan import Plan
from provenn.targets.planning import plan_catalog

__all__ = ["compute_results", "find_stored_pairs", "find_stored_results", "list_own_identities"]


def find_stored_results(reading: Reading, digests: Sequence[CatalogDigest]) -> list[CatalogDigest]:
    """Return the catalogs whose fragments hold results of calculators, in order."""
    catalogs = catalog_store.get_catalogs(reading, digests) if digests else {}
    own = {digest: list_own_identities(catalogs[digest]) for digest in digests}
    held = {
        identity
        for fragment in fragments.find_by_attributes(reading, set().union(*own.values()))
        for identity in fragment.identities
    }
    return [digest for digest in digests if own[digest] & held]


def find_stored_pairs(reading: Reading, digests: Sequence[CatalogDigest]) -> frozenset[CatalogDigest]:
    """Return the catalogs of all pairs of a match, if stored themselves."""
    catalogs = catalog_store.get_catalogs(reading, digests) if digests else {}
    pairs = {digest: catalog for digest, catalog in catalogs.items() if _holds_all_pairs(catalog)}
    return frozenset(
        digest
        for digest, catalog in pairs.items()
        if any(fragment.catalog == digest for fragment in fragments.find_by_extent(reading, catalog.extent.digest))
    )


def _holds_all_pairs(catalog: Catalog) -> bool:
    """Return whether a catalog has all pairs of a match, with attributes of the match alone."""
    current = catalog
    while (match := current.find_pairing()) is None and len(current.row_parents) == 1:
        (current,) = current.row_parents
    return (
        match is not None
        and catalog.schema.by_identity.keys() <= match.schema.by_identity.keys()
        and (catalog.extent == match.extent)
    )


def list_own_identities(catalog: Catalog) -> set[AttributeIdentity]:
    """Return the identities of a catalog's attributes beyond its files, and of the attributes' pieces."""
    return _list_identities([catalog]) - _list_identities(_list_lineage_bases(catalog))


def _list_identities(catalogs: Sequence[Catalog]) -> set[AttributeIdentity]:
    """Return the identities of the attributes of catalogs, and of their pieces."""
    attributes = [attribute for catalog in catalogs for attribute in catalog.schema.attributes]
    return {identity for attribute in attributes for identity in (attribute.identity, *attribute.piece_identities)}


def _list_lineage_bases(catalog: Catalog) -> list[Catalog]:
    """Return the versions of files in the lineage of a catalog."""
    return [member for member in cone(catalog) if list_joined_bases(member) is not None]


def compute_results(context: Context, catalog: Catalog, keep: Keep = "worthwhile") -> None:
    """Compute and store the missing results of calculators for a catalog; or all, by `keep`."""
    from provenn.targets.storing import keep_parts  # noqa: PLC0415 - most commands compute nothing

    def replan() -> Plan:
        return context.read(plan_catalog, catalog, context.read(describe_subject, catalog))

    is_more_kept = keep != "worthwhile"  # than what is calculated
    keep_parts(context.workshop.pipeline(), replan(), replan, keep, is_final_needed=is_more_kept)
