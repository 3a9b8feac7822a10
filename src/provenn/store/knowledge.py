"""What follows from definitions and facts: `Knowledge` with the origin of everything it was told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from provenn.catalogs.lineage import facts_of
from provenn.criteria import Atom, order_facts, region_facts, without_cells
from provenn.logic import Knowledge, Statement, outside
from provenn.store.cones import Definition
from provenn.store.facts import Fact

__all__ = ["Because", "Known", "Origin", "knowledge_of"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a fact comes from.

    Parameters
    ----------
    kind
        "definition" of a catalog; "criterion": what the order of values says; "sky": what the places of regions
        say; "declared" or "observed"; or "open universe": some object of the population is in none of its base sets.
    catalog
        The digest of the catalog, for a definition.
    fact
        The number of the fact, if it was declared or observed.
    """

    kind: Literal["definition", "criterion", "sky", "declared", "observed", "open universe"]
    catalog: str | None = None
    fact: int | None = None


Because = tuple[Statement, Origin]
"""A fact that a proof uses, and where it comes from."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known, and why.

    Parameters
    ----------
    knowledge
        What follows from the facts.
    origins
        The origin of each of ``knowledge.facts``, in their order.
    facts
        What was declared and observed, as it was recorded.
    """

    knowledge: Knowledge
    origins: tuple[Origin, ...]
    facts: tuple[Fact, ...] = ()

    def without(self, *kinds: str) -> Known:
        """Return what is known without what comes from some kinds of origins."""
        kept = [
            (said, origin)
            for said, origin in zip(self.knowledge.facts, self.origins, strict=True)
            if origin.kind not in kinds
        ]
        facts = tuple(fact for fact in self.facts if fact.origin not in kinds)
        knowledge = Knowledge((said for said, _ in kept), open_universe=False)
        return Known(knowledge, tuple(origin for _, origin in kept), facts)

    def because(self, said: Statement) -> tuple[Because, ...]:
        """Return why something is so: facts, none of which can be left out, or none at all if it does not follow.

        Definitions come first: they say what the catalogs are. A declared fact is cited only where nothing else will
        do.
        """
        found = self._because(said)
        if any(origin.kind == "declared" for _, origin in found):
            certain = self.without("declared")
            if certain.knowledge.entails(said):
                return certain.because(said)
        return found

    def _because(self, said: Statement) -> tuple[Because, ...]:
        explanation = self.knowledge.explain(said)
        facts = () if explanation is None else explanation.facts
        readable = without_cells(facts)
        if readable != facts:
            shorter = Knowledge(readable, open_universe=False).explain(said)
            facts = facts if shorter is None else shorter.facts
        told = ((fact, self._origin(fact)) for fact in facts)
        return tuple(sorted(told, key=lambda one: one[1].kind != "definition"))

    def _origin(self, fact: Statement) -> Origin:
        known = self.knowledge.facts
        return self.origins[known.index(fact)] if fact in known else Origin("sky")


def knowledge_of(definitions: Iterable[Definition], facts: Iterable[Fact] = ()) -> Known:
    """Return what follows from definitions and facts.

    Parameters
    ----------
    definitions
        Each after its dependencies, as `cone` and `closed_cone` give them.
    facts
        What was declared and observed about them.
    """
    atoms: list[Atom] = []
    defined: list[tuple[Statement, Origin]] = []
    bases: dict[str, list[str]] = {}
    for one in definitions:
        said, mentioned = facts_of(one.kind, one.digest, one.dependencies, one.parameters)
        atoms += mentioned
        if said:
            origin = Origin("definition", catalog=one.digest)
            defined += [(each, origin) for each in said]
        if one.is_base_set:
            bases.setdefault(one.population, []).append(one.digest)
    told = [(each, Origin("criterion")) for each in order_facts(atoms)]
    told += [(each, Origin("sky")) for each in region_facts(atoms)]
    told += defined
    held = tuple(facts)
    told += [(one.statement, Origin(one.origin, fact=one.id)) for one in held]
    # The object that is in no base set may fulfil any criterion, so that criteria are not named here.
    told += [(outside(*several), Origin("open universe")) for several in bases.values()]
    return Known(
        Knowledge((said for said, _ in told), open_universe=False),
        tuple(origin for _, origin in told),
        held,
    )
