"""What is known of catalogs, whether the archive holds them already or they are only thought of."""

from __future__ import annotations

from provenn.catalogs import Base, Catalog, cone
from provenn.logic import Knowledge
from provenn.store import cones
from provenn.store.cones import Definition
from provenn.store.database import Reading
from provenn.store.facts import facts_touching
from provenn.store.knowledge import Known, knowledge_of

__all__ = ["known_of", "shown_by_data"]


def known_of(reading: Reading, *catalogs: Catalog) -> Known:
    """Return all that bears on some catalogs: their definitions, and every fact about what they are made from."""
    own = {one.digest: one for one in cone(*catalogs)}
    definitions = [_definition(one) for one in own.values()]
    touching = facts_touching(reading, [one.digest for one in own.values() if isinstance(one, Base)])
    mentioned = {label for one in touching for label in one.statement.labels} - own.keys()
    further = cones.cone(reading, mentioned) if mentioned else ()
    return knowledge_of((*definitions, *(one for one in further if one.digest not in own)), touching)


def shown_by_data(reading: Reading, *catalogs: Catalog) -> Knowledge:
    """Return what definitions and observations say of catalogs: all that `known_of` knows without any declaration."""
    known = known_of(reading, *catalogs)
    facts = zip(known.knowledge.facts, known.origins, strict=True)
    return Knowledge((said for said, origin in facts if origin.kind != "declared"), open_universe=False)


def _definition(one: Catalog) -> Definition:
    return Definition(
        one.digest,
        one.kind,
        one.population.name,
        one.parameters(),
        one.notes(),
        one.extent.digest,
        tuple(each.digest for each in one.dependencies),
    )
