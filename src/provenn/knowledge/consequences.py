"""The consequences of definitions and facts: `Knowledge` with the origin of each statement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Literal

from provenn.catalogs.catalog import Facts
from provenn.catalogs.defined_attributes import DefinedAttributes
from provenn.catalogs.pair_sets import lift_label
from provenn.catalogs.restoring import facts_of
from provenn.criteria import Atom, build_theory, derive_term_facts, order_facts, region_facts, without_cells
from provenn.criteria.term_reading import FindAttribute
from provenn.definitions.ancestors import StoredDefinition
from provenn.digests import CatalogDigest
from provenn.knowledge.file_facts import FileFacts, StatedFacts
from provenn.knowledge.group_facts import Groups, list_presence_atoms
from provenn.knowledge.pair_facts import find_pair_facts
from provenn.knowledge.reference_facts import PartnerFacts, find_lifts
from provenn.knowledge.stored_facts import Fact
from provenn.logic import Knowledge, Statement, disjoint, outside
from provenn.logic import statement as parse_statement

__all__ = [
    "CitedFact",
    "DefinedSets",
    "FactOrigin",
    "TracedKnowledge",
    "build_knowledge",
    "crosses_populations",
    "relate_atoms",
    "relate_base_sets",
    "relate_continued_files",
]


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
        "observed"; "reference": follows for partners from what is true of the sources that refer to them; or "open
        universe": some object of the population is in none of its base sets.
    catalog
        The digest of the catalog, for a definition, for what files state, and for the partners of a catalog.
    fact
        The number of the fact, if it was declared or observed.
    reduction
        For what follows from what a term is made of: the label of the criterion, and the condition on other terms with
        which the statement compares it, over identities; the condition is empty where sets of sources are in it.
    premise
        For what follows from a reference: the written form of the statement that it follows from, if there is one.
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
        "reference",
        "open universe",
    ]
    catalog: CatalogDigest | None = None
    fact: int | None = None
    reduction: tuple[str, str] | None = None
    premise: str | None = None


_SHORT = 3
"""The number of facts up to which a proof is short: a single fact that suffices is sought for longer proofs only."""

_MOST_SINGLE = 20
"""The most facts that are tried one by one as the whole reason of a statement."""

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
        """Return the knowledge without the statements of some kinds of origin, and without their consequences."""
        kept = [
            (statement, origin)
            for statement, origin in zip(self.knowledge.facts, self.origins, strict=True)
            if origin.kind not in kinds and origin.premise is None
        ]
        facts = tuple(fact for fact in self.facts if fact.origin not in kinds)
        theory = self.knowledge.theory
        knowledge = Knowledge((statement for statement, _ in kept), open_universe=False, theory=theory)
        derived = [
            (fact, origin)
            for fact, origin in zip(self.knowledge.facts, self.origins, strict=True)
            if origin.premise is not None and knowledge.entails(parse_statement(origin.premise))
        ]
        for fact, _ in derived:
            knowledge.add(fact)
        return TracedKnowledge(knowledge, tuple(origin for _, origin in (*kept, *derived)), facts)

    def _without_derived(self) -> TracedKnowledge:
        """Return the knowledge without facts with a premise: every premise follows from the remaining facts."""
        kept = [
            (statement, origin)
            for statement, origin in zip(self.knowledge.facts, self.origins, strict=True)
            if origin.premise is None
        ]
        theory = self.knowledge.theory
        knowledge = Knowledge((statement for statement, _ in kept), open_universe=False, theory=theory)
        return TracedKnowledge(knowledge, tuple(origin for _, origin in kept), self.facts)

    def because(self, statement: Statement) -> tuple[CitedFact, ...]:
        """Return a minimal set of facts entailing a statement, or no facts if the statement does not follow.

        A fact that suffices by itself comes before longer proofs.

        Definitions come first: a definition says what a catalog is. A declared fact is cited only if the statement does
        not follow without declared facts.
        """
        reasons = self._find_reasons(statement)
        if any(origin.kind == "declared" for _, origin in reasons):
            certain = self.without("declared")
            if certain.knowledge.entails(statement):
                return certain.because(statement)
        return reasons

    def _find_single_reason(self, statement: Statement) -> CitedFact | None:
        """Return a fact that entails a statement by itself, if it is among the first that mention the same sets."""
        labels = set(statement.labels)
        mentions = (fact for fact in self.knowledge.facts if labels.issubset(fact.labels))
        for fact in islice(mentions, _MOST_SINGLE):
            if Knowledge([fact], open_universe=False).entails(statement):
                return self.cite(fact)
        return None

    def _find_reasons(self, statement: Statement) -> tuple[CitedFact, ...]:
        explanation = self.knowledge.explain(statement)
        facts, from_theory = ((), ()) if explanation is None else (explanation.facts, explanation.from_theory)
        single = self._find_single_reason(statement) if len(facts) > _SHORT else None
        if single is not None and single[1].premise is None:
            return (single,)
        readable = without_cells(facts)
        if readable != facts:
            shorter = Knowledge(readable, open_universe=False).explain(statement)
            facts = facts if shorter is None else shorter.facts
        reasons = [(fact, FactOrigin("criterion")) if fact in from_theory else self.cite(fact) for fact in facts]
        premises = [parse_statement(origin.premise) for _, origin in reasons if origin.premise is not None]
        if premises:  # a derived fact may also entail its own premise, but is no reason for it
            underived = self._without_derived()
            reasons += [reason for premise in premises for reason in underived.because(premise)]
        return tuple(dict.fromkeys(sorted(reasons, key=lambda reason: reason[1].kind != "definition")))

    def cite(self, fact: Statement) -> CitedFact:
        """Return a statement of the knowledge with the origin of the statement."""
        known = self.knowledge.facts
        return fact, self.origins[known.index(fact)] if fact in known else FactOrigin("sky")


@dataclass(frozen=True, slots=True)
class DefinedSets:
    """What definitions state about sets, each definition by itself.

    Parameters
    ----------
    statements
        The statements, each with its definition.
    atoms
        The atoms in the criteria.
    definers
        The first catalog with each atom, by the label of the atom.
    bases
        The base sets, by population.
    """

    statements: list[CitedFact]
    atoms: list[Atom]
    definers: dict[str, CatalogDigest]
    bases: dict[str, list[CatalogDigest]]

    @classmethod
    def of(cls, definitions: Iterable[StoredDefinition]) -> DefinedSets:
        """Read definitions."""
        sets = cls([], [], {}, {})
        for definition in definitions:
            digest = definition.digest
            statements, new_atoms = _recall_facts(definition)
            sets.atoms.extend(new_atoms)
            for atom in new_atoms:
                sets.definers.setdefault(atom.label, digest)
            if statements:
                origin = FactOrigin("definition", catalog=digest)
                sets.statements.extend((statement, origin) for statement in statements)
            if definition.is_base_set:
                sets.bases.setdefault(definition.population, []).append(digest)
        return sets


_MOST_REMEMBERED = 20_000
_remembered: dict[CatalogDigest, Facts] = {}


def _recall_facts(definition: StoredDefinition) -> Facts:
    """Return what a definition states, remembered by its digest, which is a digest of all that decides it."""
    facts = _remembered.get(definition.digest)
    if facts is None:
        facts = facts_of(definition.kind, definition.digest, definition.dependencies, definition.parameters)
        if len(_remembered) >= _MOST_REMEMBERED:
            _remembered.clear()
        _remembered[definition.digest] = facts
    return facts


def build_knowledge(
    definitions: Iterable[StoredDefinition], facts: Iterable[Fact] = (), defined: DefinedSets | None = None
) -> TracedKnowledge:
    """Return the knowledge from definitions and facts, with the origin of each statement.

    Parameters
    ----------
    definitions
        Definitions, each after its dependencies, as `read_cone` and `read_closed_cone` return them.
    facts
        Declared and observed facts about the catalogs.
    defined
        What the definitions state, if the caller has read them.
    """
    known_definitions = tuple(definitions)
    sets = DefinedSets.of(known_definitions) if defined is None else defined
    atoms = [*sets.atoms]
    find_attribute = DefinedAttributes(known_definitions).find
    sourced, smaller_atoms = relate_atoms(atoms, find_attribute, FileFacts(known_definitions, find_attribute))
    atoms += smaller_atoms
    sourced += sets.statements
    sourced += relate_continued_files(known_definitions)
    sourced += _relate_pairs(known_definitions, atoms, find_attribute)
    recorded = tuple(facts)
    sourced += [(fact.statement, FactOrigin(fact.origin, fact=fact.id)) for fact in recorded]
    atoms += _relate_partners(known_definitions, sourced, atoms, find_attribute)
    sourced += relate_base_sets(sets.bases)
    theory = build_theory(atoms, find_attribute)
    return TracedKnowledge(
        Knowledge((statement for statement, _ in sourced), open_universe=False, theory=theory),
        tuple(origin for _, origin in sourced),
        recorded,
    )


def relate_base_sets(bases: Mapping[str, Sequence[CatalogDigest]]) -> list[CitedFact]:
    """Return for each population that some object is outside all its base sets.

    This object may fulfil any criterion, so that the statement names no criteria.
    """
    return [(outside(*digests), FactOrigin("open universe")) for digests in bases.values()]


def crosses_populations(definitions: Sequence[StoredDefinition]) -> bool:
    """Return whether definitions state facts across populations: pairs, references, groups and rankings."""
    if find_lifts(definitions) or Groups.of(definitions).catalogs:
        return True
    return find_pair_facts(definitions, ()) is not None


def relate_atoms(
    atoms: Iterable[Atom], find_attribute: FindAttribute, files: StatedFacts | None = None
) -> tuple[list[CitedFact], tuple[Atom, ...]]:
    """Return the facts between the atoms of criteria, the facts from files, and the further atoms in these facts."""
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


def _relate_partners(
    definitions: Sequence[StoredDefinition],
    sourced: list[CitedFact],
    atoms: Sequence[Atom],
    find_attribute: FindAttribute,
) -> Sequence[Atom]:
    """Add the facts across populations to the facts known so far, and return the further atoms in the new facts."""
    partners, groups = PartnerFacts(find_lifts(definitions)), Groups.of(definitions)
    sourced += [(statement, FactOrigin("reference", catalog=digest)) for statement, digest in groups.define_images()]
    further_atoms = [*groups.lower_atoms(atoms), *list_presence_atoms(partners, groups, find_attribute)]
    lifted: list[CitedFact] = []
    if partners.lifts:
        lifted += partners.lift_statements(sourced, _find_defined)
        further_atoms += partners.lift_atoms([*atoms, *further_atoms])
        present = [statement for lift in partners.lifts for statement in lift.state_presence(find_attribute)]
        lifted += [(statement, FactOrigin("reference")) for statement in present]
    related, smaller_atoms = relate_atoms([*atoms, *further_atoms], find_attribute) if further_atoms else ([], ())
    further_atoms += smaller_atoms
    known = {statement for statement, _ in sourced}
    sourced += [(statement, origin) for statement, origin in (*related, *lifted) if statement not in known]

    def build(further: Sequence[Statement]) -> Knowledge:
        statements = (*(statement for statement, _ in sourced), *further)
        return Knowledge(statements, open_universe=False, theory=build_theory([*atoms, *further_atoms], find_attribute))

    compared = [
        (statement, FactOrigin("reference", premise=None if premise is None else str(premise)))
        for statement, premise in groups.relate(build, find_attribute)
    ]
    sourced += compared
    sourced += partners.lift_statements(compared, _find_defined)
    return further_atoms


def _find_defined(origin: FactOrigin) -> CatalogDigest | None:
    """Return the catalog whose definition states a fact; None for a fact from elsewhere."""
    return origin.catalog if origin.kind in ("definition", "reference") else None


def relate_continued_files(definitions: Iterable[StoredDefinition]) -> list[CitedFact]:
    """Return that base catalogs with the same attributes share no source: a single statement for all such catalogs.

    Sound: files continue given attributes only if no key of the files is in any base catalog of the archive with these
    attributes. Joined files are the files of several such base catalogs, and each key occurs once. Files written anew
    hold rows of such base catalogs, and these base catalogs stand here for the files.
    """
    labels: dict[CatalogDigest, dict[CatalogDigest, None]] = {}
    continuing: dict[CatalogDigest, CatalogDigest] = {}
    for definition in definitions:
        if definition.is_base:
            parameters = definition.parameters
            whole = parameters.get("part_of") or definition.digest
            origin = parameters.get("continues") or whole
            parts = [digest for digest, _ in parameters.get("joins", ())]
            parts += [digest for digest, *_ in parameters.get("rewrites", ())]
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
