"""Which attributes catalogs have, and which they define: where a name is given to an identity for the first time.

A catalog that only has an attribute from its dependencies under the same name does not define it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, func, insert, select

from provenn.catalogs.catalog import Catalog
from provenn.catalogs.digest import content_digest
from provenn.store.cones import in_batches
from provenn.store.database import Reading
from provenn.store.tables import attributes, schemas
from provenn.store.visibility import everything_seen, seen

__all__ = [
    "Defined",
    "add_schemas",
    "defining",
    "index",
    "named",
    "names",
    "new_attributes",
    "populations",
    "schema_digest",
    "schema_names",
    "schema_size",
    "with_attribute",
    "words",
]

_END = "\n"  # no name has one in it


@dataclass(frozen=True, slots=True)
class Defined:
    """That a catalog defines an attribute under a name."""

    catalog: str
    name: str
    identity: str


def index(reading: Reading, catalogs: Iterable[Catalog]) -> None:
    """Take note of what catalogs define, inside the transaction that adds them."""
    rows = [
        {"catalog": one.digest, "name": name, "identity": identity, "population": one.population.name}
        for one in catalogs
        for name, identity in new_attributes(one)
    ]
    if rows:
        reading.connection.execute(insert(attributes), rows)


def new_attributes(catalog: Catalog) -> list[tuple[str, str]]:
    """Return the names and identities of the attributes that a catalog defines."""
    had = {(one.name, one.identity) for each in catalog.dependencies for one in each.schema.attributes}
    return [pair for one in catalog.schema.attributes if (pair := (one.name, one.identity)) not in had]


def add_schemas(reading: Reading, catalogs: Iterable[Catalog]) -> Mapping[str, str]:
    """Add the names of the attributes of catalogs, inside the transaction that adds these; return where, by digest.

    Most catalogs have the attributes of another one. So the names are kept once, and a name is looked for in few rows.
    """
    listed = {one.digest: schema_names(one) for one in catalogs}
    digests = {names: schema_digest(names) for names in set(listed.values())}
    held = {
        digest
        for batch in in_batches(digests.values())
        for digest in reading.connection.scalars(select(schemas.c.digest).where(schemas.c.digest.in_(batch)))
    }
    rows = [
        {"digest": digest, "attributes": schema_size(names), "names": names}
        for names, digest in sorted(digests.items())
        if digest not in held
    ]
    if rows:
        reading.connection.execute(insert(schemas), rows)
    return {one: digests[names] for one, names in listed.items()}


def schema_names(catalog: Catalog) -> str:
    """Return the names of all attributes of a catalog, in the one text that is kept of them."""
    return _END + "".join(name.casefold() + _END for name in catalog.schema.names)


def schema_digest(names: str) -> str:
    """Return the digest of such a text."""
    return content_digest("schema", names)


def schema_size(names: str) -> int:
    """Return how many attributes such a text names."""
    return names.count(_END) - 1


def with_attribute(beginning: str) -> Select[tuple[str]]:
    """Return the query of the schemas that have an attribute whose name begins so, in upper or lower case."""
    return select(schemas.c.digest).where(schemas.c.names.contains(_END + beginning.casefold(), autoescape=True))


_DEFINED = select(attributes.c.catalog, attributes.c.name, attributes.c.identity).order_by(attributes.c.catalog)


def named(reading: Reading, population: str, name: str, *, any_case: bool = False) -> list[Defined]:
    """Return where people defined attributes of a name, or of one that differs in case alone.

    What only a run needed is left out: what a name means must not depend on what was run.
    """
    same = func.lower(attributes.c.name) == name.lower() if any_case else attributes.c.name == name
    return _seen(reading, _DEFINED.where(attributes.c.population == population, same), by_person=True)


def defining(reading: Reading, identity: str) -> list[Defined]:
    """Return the definitions of an attribute, under whichever names."""
    return _seen(reading, _DEFINED.where(attributes.c.identity == identity))


def _seen(reading: Reading, query: Select[str, str, str], *, by_person: bool = False) -> list[Defined]:
    found = [Defined(*row) for row in reading.connection.execute(query)]
    there = seen(reading, {one.catalog for one in found}, by_person=by_person)
    return [one for one in found if one.catalog in there]


def words(reading: Reading, identities: Collection[str]) -> dict[str, str]:
    """Return a name of each attribute that some catalog defines, by identity; of several, the first."""
    query = select(attributes.c.identity, func.min(attributes.c.name)).group_by(attributes.c.identity)
    query = query.where(everything_seen(reading, attributes.c.catalog))
    return {
        identity: name
        for batch in in_batches(identities)
        for identity, name in reading.connection.execute(query.where(attributes.c.identity.in_(batch)))
    }


def names(reading: Reading, population: str) -> list[str]:
    """Return all names that people gave to attributes of a population, sorted."""
    query = select(attributes.c.name).where(attributes.c.population == population).distinct()
    return sorted(reading.connection.scalars(query.where(_by_people(reading))))


def populations(reading: Reading, name: str) -> list[str]:
    """Return the populations in which people gave an attribute a name, sorted."""
    query = select(attributes.c.population).where(attributes.c.name == name).distinct()
    return sorted(reading.connection.scalars(query.where(_by_people(reading))))


def _by_people(reading: Reading) -> ColumnElement[bool]:
    return everything_seen(reading, attributes.c.catalog, by_person=True)
