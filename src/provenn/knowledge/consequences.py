"""The consequences of definitions and facts: `Knowledge` with the origin of each statement."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from provenn.catalogs.defined_attributes import DefinedAttributes
from provenn.catalogs.pair_sets import lift_label
from provenn.catalogs.restoring import facts_of
from provenn.criteria import Atom, build_theory, derive_term_facts, order_facts, region_facts, without_cells
from provenn.criteria.term_facts import FindAttribute
from provenn.definitions.ancestors import StoredDefinition
from provenn.digests import CatalogDigest
from provenn.knowledge.file_facts import FileFacts, StatedFacts
from provenn.knowledge.pair_facts import find_pair_facts
from provenn.knowledge.stored_facts import Fact
from provenn.logic import Knowledge, Statement, disjoint, outside

__all__ = ["CitedFact", "FactOrigin", "TracedKnowledge", "build_knowledge", "relate_atoms"]


@dataclass(frozen=True, slots=True)
class FactOrigin:
    """The origin of a statement in proofs.

    Parameters
    ----------
    kind
        "definition" of a catalog; "criterion": follows from the order of values, or from what terms are made of;
        "values": follows from the values that functions of a term have together;
        "sky": follows from the positions of regions; "footers", "folders" or "pixels": the files of a base catalog
        state it, in their footers, in the names of their folders, or in their pixels of the sky; "declared" or
        "observed"; or "open universe": some object of the population is in none of its base sets.
    catalog
        The digest of the catalog, for a definition and for what files state.
    fact
        The number of the fact, if it was declared or observed.
    reduction
        For what follows from what a term is made of: the label of the criterion, and the condition on other terms with
        which the statement compares it, over identities; the condition is empty where sets of sources are in it.
    """

    kind: Literal[
        "definition",
        "criterion",
        "values",
        "sky",
        "footers",
        "folders",
        "pixels",
        "declared",
        "observed",
        "open universe",
    ]
    catalog: CatalogDigest | None = None
    fact: int | None = None
    reduction: tuple[str, str] | None = None


CitedFact = tuple[Statement, FactOrigin]
"""A statement that a proof uses, and its origin."""


@dataclass(frozen=True, slots=True)
class TracedKnowledge:
    """Knowledge with the origin of each statement.

    Parameters
    ----------
    knowledge
        The knowledge, which decides what follows from its statements.
    origins
        The origin of each of ``knowledge.facts``, in their order.
    facts
        The declared and observed facts, as they were recorded.
    """

    knowledge: Knowledge
    origins: tuple[FactOrigin, ...]
    facts: tuple[Fact, ...] = ()

    def without(self, *kinds: str) -> TracedKnowledge:
        """Return the knowledge without the statements of some kinds of origin."""
        kept = [
            (statement, origin)
            for statement, origin in zip(self.knowledge.facts, self.origins, strict=True)
            if origin.kind not in kinds
        ]
        facts = tuple(fact for fact in self.facts if fact.origin not in kinds)
        theory = self.knowledge.theory
        knowledge = Knowledge((statement for statement, _ in kept), open_universe=False, theory=theory)
        return TracedKnowledge(knowledge, tuple(origin for _, origin in kept), facts)

    def because(self, statement: Statement) -> tuple[CitedFact, ...]:
        """Return a minimal set of facts entailing a statement, or no facts if the statement does not follow.

        Definitions come first: they say what the catalogs are. A declared fact is cited only if the statement does not
        follow without declared facts.
        """
        reasons = self._find_reasons(statement)
        if any(origin.kind == "declared" for _, origin in reasons):
            certain = self.without("declared")
            if certain.knowledge.entails(statement):
                return certain.because(statement)
        return reasons

    def _find_reasons(self, statement: Statement) -> tuple[CitedFact, ...]:
        explanation = self.knowledge.explain(statement)
        facts, from_theory = ((), ()) if explanation is None else (explanation.facts, explanation.from_theory)
        readable = without_cells(facts)
        if readable != facts:
            shorter = Knowledge(readable, open_universe=False).explain(statement)
            facts = facts if shorter is None else shorter.facts
        reasons = ((fact, FactOrigin("criterion")) if fact in from_theory else self.cite(fact) for fact in facts)
        return tuple(sorted(reasons, key=lambda reason: reason[1].kind != "definition"))

    def cite(self, fact: Statement) -> CitedFact:
        """Return a statement of the knowledge with its origin."""
        known = self.knowledge.facts
        return fact, self.origins[known.index(fact)] if fact in known else FactOrigin("sky")


def build_knowledge(definitions: Iterable[StoredDefinition], facts: Iterable[Fact] = ()) -> TracedKnowledge:
    """Return the knowledge from definitions and facts, with the origin of each statement.

    Parameters
    ----------
    definitions
        Definitions, each after its dependencies, as `read_cone` and `read_closed_cone` return them.
    facts
        Declared and observed facts about the catalogs.
    """
    atoms: list[Atom] = []
    from_definitions: list[CitedFact] = []
    bases: dict[str, list[CatalogDigest]] = {}
    known_definitions = tuple(definitions)
    for definition in known_definitions:
        kind, digest = definition.kind, definition.digest
        statements, new_atoms = facts_of(kind, digest, definition.dependencies, definition.parameters)
        atoms += new_atoms
        if statements:
            origin = FactOrigin("definition", catalog=digest)
            from_definitions += [(statement, origin) for statement in statements]
        if definition.is_base_set:
            bases.setdefault(definition.population, []).append(digest)
    find_attribute = DefinedAttributes(known_definitions).find
    sourced, smaller_atoms = relate_atoms(atoms, find_attribute, FileFacts(known_definitions, find_attribute))
    atoms += smaller_atoms
    sourced += from_definitions
    sourced += _relate_continued_files(known_definitions)
    sourced += _relate_pairs(known_definitions, atoms, find_attribute)
    recorded = tuple(facts)
    sourced += [(fact.statement, FactOrigin(fact.origin, fact=fact.id)) for fact in recorded]
    # The object outside all base sets may fulfil any criterion, so that this statement names no criteria.
    sourced += [(outside(*digests), FactOrigin("open universe")) for digests in bases.values()]
    theory = build_theory(atoms, find_attribute)
    return TracedKnowledge(
        Knowledge((statement for statement, _ in sourced), open_universe=False, theory=theory),
        tuple(origin for _, origin in sourced),
        recorded,
    )


def relate_atoms(
    atoms: Iterable[Atom], find_attribute: FindAttribute, files: StatedFacts | None = None
) -> tuple[list[CitedFact], tuple[Atom, ...]]:
    """Return the facts between the atoms of criteria, what files state, and the further atoms in these facts."""
    known = tuple(atoms)
    reduced = derive_term_facts(known, find_attribute)
    stated, bounding_atoms = files.state((*known, *reduced.atoms)) if files is not None else ([], [])
    smaller_atoms = (*reduced.atoms, *bounding_atoms)
    related = (*known, *smaller_atoms)
    cited: list[CitedFact] = [
        (fact.statement, FactOrigin("criterion", reduction=(fact.label, fact.condition))) for fact in reduced.facts
    ]
    cited += [(fact.statement, FactOrigin(fact.where, catalog=fact.catalog)) for fact in stated]
    cited += [(statement, FactOrigin("values")) for statement in reduced.relations]
    cited += [(statement, FactOrigin("criterion")) for statement in order_facts(related)]
    cited += [(statement, FactOrigin("sky")) for statement in region_facts(related)]
    return cited, smaller_atoms


def _relate_continued_files(definitions: Iterable[StoredDefinition]) -> list[CitedFact]:
    """Return that base catalogs share no source if they have the same attributes: one statement for all of them.

    Sound: files continue the attributes of others only if no key of theirs is in any base catalog of the archive with
    these attributes. Joined files are those of several such base catalogs, and a key occurs once in them.
    """
    labels: dict[CatalogDigest, dict[CatalogDigest, None]] = {}
    continuing: dict[CatalogDigest, CatalogDigest] = {}
    for definition in definitions:
        if definition.is_base:
            parameters = definition.parameters
            whole = parameters.get("part_of") or definition.digest
            origin = parameters.get("continues") or whole
            parts = [digest for digest, _ in parameters.get("joins", ())]
            labels.setdefault(origin, {}).update(dict.fromkeys(parts or [whole]))
            if parameters.get("continues"):
                continuing[origin] = definition.digest
    return [
        (disjoint(*labels[origin]), FactOrigin("definition", catalog=digest))
        for origin, digest in continuing.items()
        if len(labels[origin]) > 1
    ]


def _relate_pairs(
    definitions: Sequence[StoredDefinition], atoms: Iterable[Atom], find_attribute: FindAttribute
) -> list[CitedFact]:
    """Return the facts about pairs; the facts between atoms hold for the sources on each side as well."""
    pairs = find_pair_facts(definitions, atoms)
    if pairs is None:
        return []
    cited: list[CitedFact] = [(statement, FactOrigin("sky")) for statement in pairs.order]
    for side, lifted in pairs.lifted.items():
        related, _ = relate_atoms(lifted.values(), find_attribute)
        cited += [
            (statement.relabelled(partial(lift_label, side)), FactOrigin(origin.kind)) for statement, origin in related
        ]
    cited += [(statement, FactOrigin("definition", catalog=digest)) for digest, statement in pairs.statements]
    return cited
