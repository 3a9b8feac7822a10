"""Origins of attributes and of selections in the dependencies of a catalog: column lineage, a single step back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from provenn.catalogs.schema import Attribute, Schema
from provenn.criteria import AttributeIdentity
from provenn.digests import CatalogDigest

__all__ = ["ColumnOrigin", "Comparison", "build_key_origins", "build_origins", "find_same_attributes"]

Comparison = tuple[str, str, str]
"""An attribute, an operator, and a number in its written form."""


@dataclass(frozen=True, slots=True)
class ColumnOrigin:
    """An attribute of a dependency, as the origin of an attribute or of a selection.

    Parameters
    ----------
    catalog
        The digest of the dependency.
    attribute
        The name of the attribute in the dependency.
    type, subtype
        OpenLineage's words for the kind of dependence: ``DIRECT`` and ``IDENTITY``, ``INDIRECT`` and ``FILTER``, …
    description
        The expression or criterion, as the user wrote it.
    """

    catalog: CatalogDigest
    attribute: str
    type: str = "DIRECT"
    subtype: str = "IDENTITY"
    description: str = ""


def build_origins(
    digest: CatalogDigest, attributes: Iterable[Attribute], kind: str, subtype: str, text: str
) -> tuple[ColumnOrigin, ...]:
    """Return some attributes of a catalog as origins."""
    return tuple(ColumnOrigin(digest, attribute.name, kind, subtype, text) for attribute in attributes)


def build_key_origins(schemas: Mapping[CatalogDigest, Schema], subtype: str, text: str) -> tuple[ColumnOrigin, ...]:
    """Return the key attributes of catalogs as origins of a selection.

    Parameters
    ----------
    schemas
        The schemas of the catalogs, by digest.
    subtype, text
        OpenLineage's word for the selection, and its description.
    """
    return tuple(
        ColumnOrigin(digest, key.name, "INDIRECT", subtype, text)
        for digest, schema in schemas.items()
        for key in schema.key
    )


def find_same_attributes(
    attribute: Attribute, providers: Mapping[CatalogDigest, Mapping[AttributeIdentity, Attribute]]
) -> tuple[ColumnOrigin, ...]:
    """Return the attributes of catalogs with the same identity as origins.

    Parameters
    ----------
    attribute
        The attribute.
    providers
        The attributes of each catalog by identity, by the digest of the catalog.
    """
    return tuple(
        ColumnOrigin(digest, attributes[attribute.identity].name)
        for digest, attributes in providers.items()
        if attribute.identity in attributes
    )
