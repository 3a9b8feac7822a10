"""The knowledge behind the facts of an archive, remembered, and extended by what a question is about.

Planning asks about a few catalogs, but all facts about catalogs made from the same base data bear on the answer, and so
do the definitions of the catalogs in these facts. These are the same for one request after the other. So the knowledge
that facts and the definitions of their catalogs give is built once, and each request extends a copy of it with the
definitions of its own catalogs.

Sound and complete: what is remembered consists of statements that the same facts and definitions give by themselves;
the extension adds every statement that all definitions together give and that is not among the remembered ones. So the
extended knowledge has all statements of knowledge built anew, and besides these only statements that are true of some
of the same definitions.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TypeVar

from provenn.catalogs.defined_attributes import DefinedAttributes
from provenn.criteria import build_theory
from provenn.definitions.ancestors import StoredDefinition
from provenn.digests import CatalogDigest
from provenn.knowledge.consequences import (
    CitedFact,
    DefinedSets,
    TracedKnowledge,
    build_knowledge,
    crosses_populations,
    relate_atoms,
    relate_base_sets,
    relate_continued_files,
)
from provenn.knowledge.file_facts import FileFacts
from provenn.knowledge.stored_facts import Fact
from provenn.logic import Statement

__all__ = ["build_extended_knowledge"]

V = TypeVar("V")

_MOST_KEPT = 8
"""The most sets of facts whose knowledge is remembered."""

_MOST_STATEMENTS = 20_000
"""The most statements of remembered knowledge: a copy of more takes longer than it saves."""


@dataclass(frozen=True, slots=True)
class _FactKnowledge:
    """The knowledge that facts and the definitions of their catalogs give.

    Parameters
    ----------
    traced
        The knowledge, which is copied and never asked.
    definitions
        The definitions, each after its dependencies.
    digests
        The digests of these.
    sets
        What the definitions state, each by itself.
    statements
        The statements of the knowledge.
    """

    traced: TracedKnowledge
    definitions: tuple[StoredDefinition, ...]
    digests: frozenset[CatalogDigest]
    sets: DefinedSets
    statements: frozenset[Statement]

    @classmethod
    def of(cls, definitions: tuple[StoredDefinition, ...], facts: Sequence[Fact]) -> _FactKnowledge | None:
        """Return what definitions and facts give; None if it cannot be extended, or is too large to be copied."""
        if crosses_populations(definitions):
            return None
        sets = DefinedSets.of(definitions)
        traced = build_knowledge(definitions, facts, sets)
        if len(traced.origins) > _MOST_STATEMENTS or not traced.knowledge.consistent:
            return None
        traced.knowledge.extend(())  # the first copy builds all sets, and later ones change nothing
        digests = frozenset(definition.digest for definition in definitions)
        return cls(traced, definitions, digests, sets, frozenset(traced.knowledge.facts))

    def extend(self, lineage: Sequence[StoredDefinition]) -> TracedKnowledge | None:
        """Return this knowledge with further definitions; None if it must be built anew."""
        new = [definition for definition in lineage if definition.digest not in self.digests]
        if crosses_populations(new):
            return None
        definitions = (*self.definitions, *new)
        find_attribute = DefinedAttributes(definitions).find
        sets = DefinedSets.of(new)
        cited: list[CitedFact] = []
        theory = None
        has_new_files = any(definition.is_base for definition in new)
        if has_new_files or not sets.definers.keys() <= self.sets.definers.keys():
            atoms = [*self.sets.atoms, *sets.atoms]
            cited, smaller_atoms = relate_atoms(atoms, find_attribute, FileFacts(definitions, find_attribute))
            theory = build_theory([*atoms, *smaller_atoms], find_attribute)
        cited += sets.statements
        if sets.bases:
            cited += relate_continued_files(definitions)
            cited += relate_base_sets(
                {
                    population: [*self.sets.bases.get(population, ()), *digests]
                    for population, digests in sets.bases.items()
                }
            )
        further = [(statement, origin) for statement, origin in cited if statement not in self.statements]
        knowledge = self.traced.knowledge.extend([statement for statement, _ in further], theory)
        origins = (*self.traced.origins, *(origin for _, origin in further))
        return TracedKnowledge(knowledge, origins, self.traced.facts)


_lock = Lock()
_kept: OrderedDict[tuple[Fact, ...], _FactKnowledge | None] = OrderedDict()
_seen: OrderedDict[tuple[Fact, ...], None] = OrderedDict()


def _recall(facts: tuple[Fact, ...]) -> tuple[bool, _FactKnowledge | None]:
    """Return whether facts are seen again, and their knowledge if it is remembered.

    Facts that are seen once, such as those of a run that observes further ones, are not worth remembering.
    """
    with _lock:
        if facts in _kept:
            _kept.move_to_end(facts)
            return True, _kept[facts]
        is_known = facts in _seen
        _note(_seen, facts, None)
        return is_known, None


def _note(memory: OrderedDict[tuple[Fact, ...], V], facts: tuple[Fact, ...], value: V) -> None:
    memory[facts] = value
    memory.move_to_end(facts)
    while len(memory) > _MOST_KEPT:
        memory.popitem(last=False)


def build_extended_knowledge(
    lineage: Sequence[StoredDefinition],
    facts: Sequence[Fact],
    read_definitions: Callable[[], tuple[StoredDefinition, ...]],
) -> TracedKnowledge | None:
    """Return the knowledge that definitions, facts, and the definitions of their catalogs give.

    The definitions of the catalogs of facts follow from the facts: a fact names catalogs by digests of their
    definitions. So the facts alone decide what is remembered, in whatever archive, and for whatever viewer.

    Parameters
    ----------
    lineage
        The definitions in question, each after its dependencies.
    facts
        The facts that bear on these.
    read_definitions
        Reads the definitions of the catalogs in the facts, with all their ancestors, each after its dependencies.

    Returns
    -------
    TracedKnowledge or None
        None if the knowledge must be built anew: the facts are seen for the first time, or lead to other populations,
        or contradict one another, or are too many.
    """
    key = tuple(facts)
    is_seen_again, remembered = _recall(key)
    if remembered is None and is_seen_again and key not in _kept:
        remembered = _FactKnowledge.of(read_definitions(), key)
        with _lock:
            _note(_kept, key, remembered)
    return None if remembered is None else remembered.extend(lineage)
