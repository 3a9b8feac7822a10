"""The attributes of catalogs, inherited or newly defined.

A catalog defines an attribute if it gives the attribute's identity a name for the first time. A catalog that only has
an attribute from its dependencies, under the same name, does not define it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, Select, bindparam, func, insert, select

from provenn.batches import split_batches
from provenn.database.tables import attributes, catalogs, schemas
from provenn.digests import CatalogDigest, content_digest
from provenn.people.visibility import filter_visible, is_visible

if TYPE_CHECKING:
    from provenn.catalogs.catalog import Catalog
    from provenn.criteria import AttributeIdentity
    from provenn.database.transactions import Reading

__all__ = [
    "AttributeDefinition",
    "add_schemas",
    "compute_schema_digest",
    "count_schema_attributes",
    "find_bases_with_attribute",
    "find_definers_of_extent",
    "find_definitions_by_identity",
    "find_definitions_by_name",
    "find_names_by_identity",
    "format_schema_names",
    "index_attributes",
    "list_attribute_names",
    "list_new_attributes",
    "list_populations_with_attribute",
    "select_schemas_with_attribute",
]

_END = "\n"  # no name contains a line break


@dataclass(frozen=True, slots=True)
class AttributeDefinition:
    """An attribute definition: the digest of the defining catalog, and the attribute's name and identity."""

    catalog: CatalogDigest
    name: str
    identity: AttributeIdentity


def index_attributes(reading: Reading, catalogs: Iterable[Catalog]) -> None:
    """Record the new attributes of catalogs, inside the transaction that adds the catalogs."""
    rows = [
        {"catalog": catalog.digest, "name": name, "identity": identity, "population": catalog.population.name}
        for catalog in catalogs
        for name, identity in list_new_attributes(catalog)
    ]
    if rows:
        reading.connection.execute(insert(attributes), rows)


def list_new_attributes(catalog: Catalog) -> list[tuple[str, AttributeIdentity]]:
    """Return the names and identities of the attributes that a catalog defines."""
    inherited = {
        (attribute.name, attribute.identity)
        for dependency in catalog.dependencies
        for attribute in dependency.schema.attributes
    }
    return [
        pair
        for attribute in catalog.schema.attributes
        if (pair := (attribute.name, attribute.identity)) not in inherited
    ]


_STORED_SCHEMAS = select(schemas.c.digest).where(schemas.c.digest.in_(bindparam("digests", expanding=True)))


def add_schemas(reading: Reading, catalogs: Iterable[Catalog]) -> Mapping[str, str]:
    """Add the schemas of new catalogs; return the digest of each catalog's schema, by the catalog's digest.

    Call this inside the transaction that adds the catalogs. Many catalogs have the same attributes. So
    the names are stored once per schema, and a search for a name reads few rows.
    """
    names_by_catalog = {catalog.digest: format_schema_names(catalog) for catalog in catalogs}
    digests = {names: compute_schema_digest(names) for names in set(names_by_catalog.values())}
    stored = {
        digest
        for batch in split_batches(digests.values())
        for digest in reading.connection.scalars(_STORED_SCHEMAS, {"digests": batch})
    }
    rows = [
        {"digest": digest, "attributes": count_schema_attributes(names), "names": names}
        for names, digest in sorted(digests.items())
        if digest not in stored
    ]
    if rows:
        reading.connection.execute(insert(schemas), rows)
    return {catalog: digests[names] for catalog, names in names_by_catalog.items()}


def format_schema_names(catalog: Catalog) -> str:
    """Return the names of all attributes of a catalog, joined into the text for ``schemas.names``."""
    return _END + "".join(name.casefold() + _END for name in catalog.schema.names)


def compute_schema_digest(names: str) -> str:
    """Return the digest of a text from `format_schema_names`."""
    return content_digest("schema", names)


def count_schema_attributes(names: str) -> int:
    """Return the number of attributes in a text from `format_schema_names`."""
    return names.count(_END) - 1


def select_schemas_with_attribute(beginning: str) -> Select[tuple[str]]:
    """Return the query for schemas with an attribute whose name begins with a text, ignoring case."""
    return select(schemas.c.digest).where(schemas.c.names.contains(_END + beginning.casefold(), autoescape=True))


_DEFINITIONS = select(attributes.c.catalog, attributes.c.name, attributes.c.identity).order_by(attributes.c.catalog)


def find_definitions_by_name(
    reading: Reading, population: str, name: str, *, any_case: bool = False
) -> list[AttributeDefinition]:
    """Return the definitions, by people, of attributes with a name; with `any_case`, ignoring case.

    Catalogs needed only by runs are left out: the meaning of a name must not depend on earlier runs.
    """
    has_name = func.lower(attributes.c.name) == name.lower() if any_case else attributes.c.name == name
    query = _DEFINITIONS.where(attributes.c.population == population, has_name)
    return _read_visible_definitions(reading, query, by_person=True)


def find_definitions_by_identity(reading: Reading, identity: AttributeIdentity) -> list[AttributeDefinition]:
    """Return the definitions of an attribute, under any name."""
    return _read_visible_definitions(reading, _DEFINITIONS.where(attributes.c.identity == identity))


def find_definers_of_extent(reading: Reading, identity: AttributeIdentity, extent: str) -> list[CatalogDigest]:
    """Return the digests of the visible catalogs that define an attribute and have an extent, by its digest."""
    query = _DEFINITIONS.join(catalogs, catalogs.c.digest == attributes.c.catalog)
    query = query.where(attributes.c.identity == identity, catalogs.c.extent == extent)
    return [definition.catalog for definition in _read_visible_definitions(reading, query)]


def _read_visible_definitions(
    reading: Reading, query: Select[CatalogDigest, str, AttributeIdentity], *, by_person: bool = False
) -> list[AttributeDefinition]:
    definitions = [AttributeDefinition(*row) for row in reading.connection.execute(query)]
    visible = filter_visible(reading, {definition.catalog for definition in definitions}, by_person=by_person)
    return [definition for definition in definitions if definition.catalog in visible]


def find_bases_with_attribute(reading: Reading, identity: AttributeIdentity) -> list[CatalogDigest]:
    """Return the digests of the base catalogs that define an attribute, except for joined ones; for every viewer."""
    query = select(attributes.c.catalog).join(catalogs, catalogs.c.digest == attributes.c.catalog)
    query = query.where(attributes.c.identity == identity, catalogs.c.kind == "Base")
    is_joined = catalogs.c.parameters.contains('"joins":[[', autoescape=True)
    return list(reading.connection.scalars(query.where(~is_joined).order_by(attributes.c.catalog)))


def find_names_by_identity(reading: Reading, identities: Collection[AttributeIdentity]) -> dict[AttributeIdentity, str]:
    """Return the alphabetically first name of each attribute defined by a visible catalog, by identity."""
    query = select(attributes.c.identity, func.min(attributes.c.name)).group_by(attributes.c.identity)
    query = query.where(is_visible(reading, attributes.c.catalog))
    return {
        identity: name
        for batch in split_batches(identities)
        for identity, name in reading.connection.execute(query.where(attributes.c.identity.in_(batch)))
    }


def list_attribute_names(reading: Reading, population: str) -> list[str]:
    """Return all attribute names given by people in a population, sorted."""
    query = select(attributes.c.name).where(attributes.c.population == population).distinct()
    return sorted(reading.connection.scalars(query.where(_is_defined_by_people(reading))))


def list_populations_with_attribute(reading: Reading, name: str) -> list[str]:
    """Return the populations with an attribute of this name, given by people, sorted."""
    query = select(attributes.c.population).where(attributes.c.name == name).distinct()
    return sorted(reading.connection.scalars(query.where(_is_defined_by_people(reading))))


def _is_defined_by_people(reading: Reading) -> ColumnElement[bool]:
    return is_visible(reading, attributes.c.catalog, by_person=True)
