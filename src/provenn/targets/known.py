"""Knowledge about catalogs, stored or not."""

from __future__ import annotations

from collections.abc import Sequence

from provenn.catalogs import Catalog, cone, list_bases
from provenn.database.transactions import Reading
from provenn.definitions import ancestors
from provenn.definitions.ancestors import StoredDefinition
from provenn.knowledge.consequences import TracedKnowledge, build_knowledge
from provenn.knowledge.limiting_facts import find_limiting_facts
from provenn.knowledge.remembered_knowledge import build_extended_knowledge
from provenn.knowledge.stored_facts import Fact, find_facts_touching
from provenn.logic import Knowledge

__all__ = [
    "build_definition",
    "collect_knowledge",
    "collect_limiting_data_knowledge",
    "collect_limiting_knowledge",
    "find_touching_facts",
]


def collect_knowledge(reading: Reading, *catalogs: Catalog, supposed: Sequence[Fact] = ()) -> TracedKnowledge:
    """Return the knowledge about some catalogs: definitions, all facts about their ancestors, and supposed facts."""
    return _extend_knowledge(reading, catalogs, find_touching_facts(reading, *catalogs), supposed)


def collect_limiting_knowledge(reading: Reading, *catalogs: Catalog, supposed: Sequence[Fact] = ()) -> TracedKnowledge:
    """Return all knowledge that helps to prove of sets made from catalogs that they are empty, inside others, or equal.

    This is `collect_knowledge` without the facts that other catalogs have sources.
    """
    return _extend_knowledge(reading, catalogs, _find_limiting_facts(reading, catalogs), supposed)


def collect_limiting_data_knowledge(reading: Reading, *catalogs: Catalog) -> Knowledge:
    """Return `collect_limiting_knowledge` without declared facts: what definitions and observations give."""
    limiting = [fact for fact in _find_limiting_facts(reading, catalogs) if fact.origin != "declared"]
    return _build_knowledge(reading, catalogs, limiting).knowledge


def find_touching_facts(reading: Reading, *catalogs: Catalog) -> Sequence[Fact]:
    """Return all facts about the ancestors of some catalogs."""
    return find_facts_touching(reading, [catalog.digest for catalog in list_bases(cone(*catalogs))])


def _find_limiting_facts(reading: Reading, catalogs: Sequence[Catalog]) -> Sequence[Fact]:
    lineage = {catalog.digest for catalog in cone(*catalogs)}
    return find_limiting_facts(find_touching_facts(reading, *catalogs), lineage)


def _extend_knowledge(
    reading: Reading, catalogs: Sequence[Catalog], touching: Sequence[Fact], supposed: Sequence[Fact]
) -> TracedKnowledge:
    """Return the knowledge that facts give with the definitions of catalogs, behind what is remembered of the facts."""
    if touching and not supposed:
        lineage = [build_definition(catalog) for catalog in cone(*catalogs)]
        mentioned = {digest for fact in touching for digest in fact.catalogs}
        extended = build_extended_knowledge(lineage, touching, lambda: ancestors.read_cone(reading, mentioned))
        if extended is not None:
            return extended
    return _build_knowledge(reading, catalogs, (*touching, *supposed))


def _build_knowledge(reading: Reading, catalogs: Sequence[Catalog], touching: Sequence[Fact]) -> TracedKnowledge:
    """Return the knowledge that the definitions of catalogs and some facts about their ancestors give."""
    lineage = {catalog.digest: catalog for catalog in cone(*catalogs)}
    definitions = [build_definition(catalog) for catalog in lineage.values()]
    mentioned = {digest for fact in touching for digest in fact.catalogs} - lineage.keys()
    further = ancestors.read_cone(reading, mentioned) if mentioned else ()
    return build_knowledge(
        (*definitions, *(definition for definition in further if definition.digest not in lineage)), touching
    )


def build_definition(catalog: Catalog) -> StoredDefinition:
    """Return the definition of a catalog as the archive would store it."""
    return StoredDefinition(
        catalog.digest,
        catalog.kind,
        catalog.population.name,
        catalog.parameters(),
        catalog.notes(),
        catalog.extent.digest,
        tuple(dependency.digest for dependency in catalog.dependencies),
    )
