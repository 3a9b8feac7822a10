"""How much of a catalog is stored."""

from __future__ import annotations

from collections.abc import Mapping

from provenn.catalogs import Catalog

__all__ = ["measure_stored_share"]


def measure_stored_share(catalog: Catalog, stored_identities: Mapping[str, frozenset[str]]) -> float:
    """Return the stored share of a catalog's attributes, from 0 to 1.

    The key is in every fragment, and counts only if the catalog has no further attribute.

    Parameters
    ----------
    catalog
        The catalog.
    stored_identities
        The identities of the stored attributes, by the digest of the extent.
    """
    key = {attribute.identity for attribute in catalog.schema.key}
    attributes = {attribute.identity for attribute in catalog.schema.values()} - key or key
    return len(attributes & stored_identities.get(catalog.extent.digest, frozenset())) / len(attributes)
