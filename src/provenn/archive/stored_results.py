"""Stored results of calculators, and how they are brought up to date for a new definition of their catalog."""

from __future__ import annotations

from collections.abc import Sequence

from provenn.archive.context import Context
from provenn.catalogs import Catalog, cone, list_joined_bases
from provenn.criteria import AttributeIdentity
from provenn.data import fragments
from provenn.database.transactions import Reading
from provenn.definitions import catalog_store
from provenn.digests import CatalogDigest
from provenn.targets.plan import Plan
from provenn.targets.planning import plan_catalog

__all__ = ["compute_results", "find_stored_results", "list_own_identities"]


def find_stored_results(reading: Reading, digests: Sequence[CatalogDigest]) -> list[CatalogDigest]:
    """Return the catalogs of which fragments hold results of calculators, in order."""
    catalogs = catalog_store.get_catalogs(reading, digests) if digests else {}
    own = {digest: list_own_identities(catalogs[digest]) for digest in digests}
    held = {
        identity
        for fragment in fragments.find_by_attributes(reading, set().union(*own.values()))
        for identity in fragment.identities
    }
    return [digest for digest in digests if own[digest] & held]


def list_own_identities(catalog: Catalog) -> set[AttributeIdentity]:
    """Return the identities of the attributes of a catalog that are not in its files, and of their pieces."""
    return _list_identities([catalog]) - _list_identities(_list_lineage_bases(catalog))


def _list_identities(catalogs: Sequence[Catalog]) -> set[AttributeIdentity]:
    """Return the identities of the attributes of catalogs, and of their pieces."""
    attributes = [attribute for catalog in catalogs for attribute in catalog.schema.attributes]
    return {identity for attribute in attributes for identity in (attribute.identity, *attribute.piece_identities)}


def _list_lineage_bases(catalog: Catalog) -> list[Catalog]:
    """Return the versions of files in the lineage of a catalog."""
    return [member for member in cone(catalog) if list_joined_bases(member) is not None]


def compute_results(context: Context, catalog: Catalog) -> None:
    """Compute what calculators give for a catalog, as far as it is not stored, and store it."""
    from provenn.targets.storing import keep_parts  # noqa: PLC0415 - most commands compute nothing

    def replan() -> Plan:
        return context.read(plan_catalog, catalog, catalog.digest[:12])

    keep_parts(context.workshop.pipeline(), replan(), replan, "worthwhile", is_final_needed=False)
