"""Attributes joined by concatenations from the different definitions of their members."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import exists, select

from provenn.batches import split_batches
from provenn.catalogs.verbs import CLASSES
from provenn.criteria import AttributeIdentity
from provenn.database.tables import attributes, catalogs, dependencies, fragment_attributes
from provenn.database.transactions import Reading

__all__ = ["find_joined_attributes", "find_stored_namesakes"]

_JOINING = [kind for kind, catalog_class in CLASSES.items() if catalog_class.profile.joins_attributes]


# Each attribute that fragments hold is looked up: left to itself, a database may walk through all joined attributes.
_STORED_JOINED = (
    select(fragment_attributes.c.identity)
    .where(
        exists()
        .where(attributes.c.identity == fragment_attributes.c.identity)
        .where(catalogs.c.digest == attributes.c.catalog, catalogs.c.kind.in_(_JOINING))
    )
    .limit(1)
)


def find_joined_attributes(reading: Reading, identities: Collection[AttributeIdentity]) -> frozenset[AttributeIdentity]:
    """Return the identities of attributes defined by concatenations below the definers of some attributes.

    The result contains every attribute that fragments hold and that is joined from any of the `identities`, and
    possibly more. If no fragment holds a joined attribute, the lineage is not searched.
    """
    if reading.connection.scalar(_STORED_JOINED) is None:
        return frozenset()
    joined: set[AttributeIdentity] = set()
    for batch in split_batches(identities):
        below = select(attributes.c.catalog).where(attributes.c.identity.in_(batch)).cte("below", recursive=True)
        further = select(dependencies.c.catalog).join(below, dependencies.c.dependency == below.c.catalog)
        below = below.union(further)
        query = (
            select(attributes.c.identity)
            .join(catalogs, catalogs.c.digest == attributes.c.catalog)
            .join(below, below.c.catalog == attributes.c.catalog)
            .where(catalogs.c.kind.in_(_JOINING))
        )
        joined.update(reading.connection.scalars(query.distinct()))
    return frozenset(joined)


def find_stored_namesakes(reading: Reading, population: str, names: Collection[str]) -> frozenset[AttributeIdentity]:
    """Return the identities of attributes that fragments hold and catalogs of a population define under some names.

    The outputs of a calculator have the same names in all catalogs. So the result contains every stored output of a
    calculator with outputs of these names, for the members of a concatenation and for the whole.
    """
    query = select(attributes.c.identity).join(
        fragment_attributes, fragment_attributes.c.identity == attributes.c.identity
    )
    query = query.where(attributes.c.population == population)
    identities: set[AttributeIdentity] = set()
    for batch in split_batches(names):
        identities.update(reading.connection.scalars(query.where(attributes.c.name.in_(batch)).distinct()))
    return frozenset(identities)
