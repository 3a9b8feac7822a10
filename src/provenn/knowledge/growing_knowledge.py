"""The knowledge about a population, which grows with the archive instead of being built anew.

A new catalog adds the statements of its definition, and relations of its criteria to all others; a new fact adds its
statement. Nothing that was proved before becomes wrong by that, so that simulated objects and proofs stay. Whatever
does more than add (a retracted fact, a catalog that is no longer visible, a new base set, facts across populations) is
left to building everything anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from provenn.catalogs.defined_attributes import DefinedAttributes
from provenn.criteria import build_theory
from provenn.database.transactions import Reading
from provenn.definitions.ancestors import read_cone
from provenn.definitions.populations import find_catalogs_in_population
from provenn.digests import CatalogDigest
from provenn.knowledge.consequences import DefinedSets, build_knowledge, crosses_populations, relate_atoms
from provenn.knowledge.file_facts import FileFacts
from provenn.knowledge.stored_facts import find_facts_touching, read_whole_population
from provenn.logic import Knowledge, Statement, equal, subset
from provenn.logic.knowledge.valued_objects import BEYOND
from provenn.logic.statements import Property, SetComparison
from provenn.logic.terms import Op, Term, chain, term

__all__ = ["GrowingKnowledge", "place_new_sets"]

_STATED = frozenset(["definition", "declared", "observed", "reference", "open universe"])
"""The origins of statements that are not relations of criteria."""


class GrowingKnowledge:
    """The knowledge about all catalogs of a population that a viewer sees.

    Parameters
    ----------
    reading
        The transaction from which the knowledge is built.
    population
        The name of the population.

    Attributes
    ----------
    knowledge
        The knowledge.
    catalogs
        The digests of the catalogs of the population that the viewer sees directly.
    """

    def __init__(self, reading: Reading, population: str) -> None:
        definitions, facts = read_whole_population(reading, population)
        sets = DefinedSets.of(definitions)
        traced = build_knowledge(definitions, facts, sets)
        self.knowledge: Knowledge = traced.knowledge
        self._population = population
        self.catalogs: frozenset[CatalogDigest] = find_catalogs_in_population(reading, population)
        self._digests = {definition.digest for definition in definitions}
        self._bases = [definition.digest for definition in definitions if definition.is_base]
        self._facts = {fact.id for fact in facts}
        self._definers = sets.definers
        self._is_local = not crosses_populations(definitions)
        self._relations = {
            statement
            for statement, origin in zip(traced.knowledge.facts, traced.origins, strict=True)
            if origin.kind not in _STATED
        }

    def grow(self, reading: Reading) -> bool:
        """Add what is new in the archive; return False if the knowledge must be built anew instead."""
        catalogs = find_catalogs_in_population(reading, self._population)
        if not self._is_local or not self.catalogs <= catalogs:
            return False
        further = catalogs - self.catalogs
        cone = read_cone(reading, further) if further else ()
        definitions = [definition for definition in cone if definition.digest not in self._digests]
        if any(definition.is_base_set for definition in definitions) or crosses_populations(cone):
            return False
        known = self._digests.union(definition.digest for definition in definitions)
        facts = {fact.id: fact for fact in find_facts_touching(reading, self._bases)}
        new_facts = [fact for number, fact in facts.items() if number not in self._facts]
        if not self._facts <= facts.keys() or not all(known.issuperset(fact.catalogs) for fact in new_facts):
            return False
        sets = DefinedSets.of(definitions)
        new_atoms = sets.definers.keys() - self._definers.keys()
        if new_atoms:
            self._definers = {**sets.definers, **self._definers}
            self._relate_criteria(reading)
        self.knowledge.add(*(statement for statement, _ in sets.statements))
        self.knowledge.add(*(fact.statement for fact in new_facts))
        self.catalogs, self._digests, self._facts = catalogs, known, set(facts)
        return True

    def _relate_criteria(self, reading: Reading) -> None:
        """Add the relations between all criteria that are not known yet."""
        # The viewer may not see base catalogs that make up a version; see `add_constituents`.
        definitions = read_cone(replace(reading, viewer=None), {*self._definers.values(), *self._bases})
        atoms = DefinedSets.of(definitions).atoms
        find_attribute = DefinedAttributes(definitions).find
        cited, smaller_atoms = relate_atoms(atoms, find_attribute, FileFacts(definitions, find_attribute))
        relations = [statement for statement, _ in cited if statement not in self._relations]
        self._relations.update(relations)
        self.knowledge.add(*place_new_sets(relations, frozenset(self.knowledge.labels)), *relations)
        theory = build_theory([*atoms, *smaller_atoms], find_attribute)
        if theory is not None:
            self.knowledge.replace_theory(theory)


def place_new_sets(relations: Sequence[Statement], known: Collection[str]) -> list[Statement]:
    """Return definitions of new sets that the relations allow, so that few simulated objects contradict the relations.

    A set that contains some known sets and lies inside others is the union of the former and a part of the latter.
    These definitions say no more than the relations, which are added as well.
    """
    placed: list[Statement] = []
    smaller_by_label: dict[str, list[Term]] = {}
    larger_by_label: dict[str, list[Term]] = {}
    for relation in relations:
        for smaller, larger in _list_inclusions(relation):
            if larger.label is not None:
                smaller_by_label.setdefault(larger.label, []).append(smaller)
            if smaller.label is not None:
                larger_by_label.setdefault(smaller.label, []).append(larger)
    passed = set(known)
    for label in dict.fromkeys(label for relation in relations for label in relation.labels):
        if label in passed:
            continue
        inside = _find_passed(label, smaller_by_label, passed)
        around = _find_passed(label, larger_by_label, passed)
        rest = term(label + BEYOND)
        if inside:
            if around:
                placed.append(subset(rest, chain(Op.AND, tuple(around))))
            placed.append(equal(label, chain(Op.OR, (*inside, rest))))
        elif around:
            placed.append(subset(label, chain(Op.AND, tuple(around))))
        passed.add(label)
    return placed


def _find_passed(label: str, neighbours: Mapping[str, Sequence[Term]], passed: Collection[str]) -> list[Term]:
    """Return the nearest sets of passed labels on one side of a set: directly, or beyond sets of other new labels."""
    nearest: dict[Term, None] = {}
    visited = {label}
    stack = [label]
    while stack:
        for neighbour in neighbours.get(stack.pop(), ()):
            if all(other in passed for other in neighbour.labels):
                nearest[neighbour] = None
            elif neighbour.label is not None and neighbour.label not in visited:
                visited.add(neighbour.label)
                stack.append(neighbour.label)
    return list(nearest)


def _list_inclusions(relation: Statement) -> Iterable[tuple[Term, Term]]:
    """Return the pairs of sets of which the first lies inside the second, by a statement."""
    if isinstance(relation, SetComparison) and relation.operator == "<=":
        return [(relation.left, relation.right)]
    if isinstance(relation, Property) and relation.name == "disjoint" and len(relation.arguments) == 2:
        left, right = relation.arguments
        return [(left, ~right), (right, ~left)]
    return []
