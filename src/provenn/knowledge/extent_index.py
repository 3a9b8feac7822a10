"""The index of a population: all its catalogs as sets, for questions about which catalogs relate to a catalog.

The index holds what the definitions of the whole population state, and the relations of their criteria: truths that
are the same for every viewer. It holds no declared or observed fact. A question adds the facts that the viewer may
know, and its answer is reduced to the catalogs that the viewer sees. The index grows by the definitions that are new,
and can be stored: a digest is made from the content of a definition, so what was read for a digest stays true.

Criteria that compare several attributes have consequences that no fact states, which a theory finds. The simulated
objects of such a population have values (`valued_objects`).

Populations with facts across populations (cross-matches, references, groups) have no index: `GrowingKnowledge` answers
for these.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from graphlib import TopologicalSorter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, func, select, true

from provenn.batches import split_batches
from provenn.catalogs.defined_attributes import DefinedAttributes
from provenn.catalogs.restoring import facts_of, find_class
from provenn.criteria import build_theory
from provenn.database.tables import catalogs, dependencies
from provenn.database.transactions import Reading
from provenn.definitions.ancestors import StoredDefinition, read_cone, restore_definition
from provenn.digests import CatalogDigest
from provenn.knowledge.consequences import DefinedSets, relate_atoms, relate_continued_files
from provenn.knowledge.extent_labels import ExtentLabels
from provenn.knowledge.file_facts import FileFacts
from provenn.knowledge.growing_knowledge import place_new_sets
from provenn.knowledge.stored_facts import find_facts_touching
from provenn.logic import Statement, outside
from provenn.logic.knowledge.graph import EMPTY
from provenn.logic.knowledge.set_index import IndexView, SetIndex, SetRelation

__all__ = ["ExtentIndex", "IndexedState"]

_MANY = 1_000  # new catalogs, from which they are kept in arrays


@dataclass(frozen=True, slots=True)
class IndexedState:
    """The catalogs of a population at the time they were indexed.

    Parameters
    ----------
    catalogs
        The number of catalogs.
    newest
        When the newest was added.
    """

    catalogs: int = 0
    newest: datetime | None = None


class ExtentIndex:
    """The index of a population.

    Parameters
    ----------
    population
        The name of the population.
    labels, sets, bases, definers, state
        A stored index; by default an empty one.
    """

    def __init__(
        self,
        population: str,
        *,
        labels: ExtentLabels | None = None,
        sets: SetIndex | None = None,
        bases: Collection[CatalogDigest] = (),
        definers: dict[str, CatalogDigest] | None = None,
        state: IndexedState | None = None,
    ) -> None:
        self.population = population
        self.labels = ExtentLabels() if labels is None else labels
        self.sets = SetIndex(self.labels) if sets is None else sets
        self.bases = dict.fromkeys(bases)
        self.definers = {} if definers is None else definers
        self.state = IndexedState() if state is None else state
        self.is_usable = True
        self.new_catalogs = 0  # since the index was stored
        self.stored_objects = self.sets.signatures.objects
        self._views: dict[Hashable, tuple[Hashable, IndexView]] = {}
        self._version = 0
        self._is_grown = False  # in this process
        self._is_outdated = False  # the index must be built anew
        self._definitions: dict[CatalogDigest, StoredDefinition] = {}  # those that criteria and base catalogs need
        self._relations: set[Statement] = set()  # that this process added
        self._distinct = _DistinctLiterals(self.labels)

    # -- growing -------------------------------------------------------------------------------------------------

    def grow(self, reading: Reading) -> bool:
        """Add the catalogs that are new in the archive; return False if the index must be built anew.

        All catalogs of the population are added, also those that the viewer does not see.
        """
        if not self.is_usable:
            return True  # no definition is ever taken back
        whole = replace(reading, viewer=None)
        if self.sets.valued.known and self.sets.valued.theory is None:
            self._relate_criteria(whole)  # a stored index
        state = _read_state(whole, self.population)
        if state == self.state:
            return True
        if state.catalogs < self.state.catalogs:
            return self._is_grown  # a transaction that began earlier, or an older copy of the archive
        digests: Collection[CatalogDigest] | None = None
        if self.state.catalogs:
            digests = _find_newer(whole, self.population, self.state.newest)
            if self.state.catalogs + len(digests) != state.catalogs:
                stored = set(_find_newer(whole, self.population, None))
                known = set(self.labels.list_catalogs())
                if not known <= stored:
                    return False  # the archive is another one
                digests = stored - known
        self._add(whole, _Definitions(whole, self.population, digests))
        if self._is_outdated:
            return False
        self.state, self._is_grown = state, True
        return True

    def _add(self, reading: Reading, definitions: _Definitions) -> None:
        """Add definitions."""
        statements: dict[CatalogDigest, Sequence[Statement]] = {}
        needs_relations = False
        for definition in definitions:
            digest = definition.digest
            outside_population = [
                dependency
                for dependency in definition.dependencies
                if dependency not in definitions.dependencies_of and dependency not in self.labels
            ]
            stated, atoms = facts_of(definition.kind, digest, definition.dependencies, definition.parameters)
            if outside_population or _crosses_populations(definition):
                self._give_up()
                return
            statements[digest] = stated
            if definition.is_base_set:
                self.bases[digest] = None
                needs_relations = True
            for atom in atoms:
                if atom.label not in self.definers:
                    self.definers[atom.label] = digest
                    needs_relations = True
        order = TopologicalSorter(definitions.dependencies_of).static_order()
        ordered = [statement for digest in order for statement in statements.pop(digest, ())]
        new = definitions.dependencies_of.keys()
        if needs_relations:
            self._relate_criteria(reading)
        if self._is_outdated:
            return
        self.sets.add(ordered)
        self.sets.mention(new)  # nothing is stated of a base set
        for digest in new:
            self.labels.add_catalog(digest)
        if not self.sets.is_exact:
            self._give_up()
            return
        self._note_empty(new)
        if len(new) > _MANY:
            self.labels.compact()
            self._distinct = _DistinctLiterals(self.labels)
        self.new_catalogs += len(new)
        self._version += 1

    def _give_up(self) -> None:
        """Free the memory of an index that cannot answer."""
        self.is_usable = False
        self.labels = ExtentLabels()
        self.sets = SetIndex(self.labels)
        self._definitions, self._relations = {}, set()
        self._distinct = _DistinctLiterals(self.labels)

    def _relate_criteria(self, reading: Reading) -> None:
        """Add the relations between all criteria, and between base catalogs."""
        needed = {*self.definers.values(), *self.bases}.difference(self._definitions)
        for definition in read_cone(reading, needed):
            self._definitions.setdefault(definition.digest, definition)
        definitions = tuple(self._definitions.values())
        atoms = DefinedSets.of(definitions).atoms
        find_attribute = DefinedAttributes(definitions).find
        cited, smaller_atoms = relate_atoms(atoms, find_attribute, FileFacts(definitions, find_attribute))
        theory = build_theory([*atoms, *smaller_atoms], find_attribute)
        relations = [statement for statement, _ in cited if statement not in self._relations]
        self._relations.update(relations)
        known = {label for relation in relations for label in relation.labels if label in self.labels}
        placed = place_new_sets(relations, known) if known else []
        continued = [statement for statement, _ in relate_continued_files(definitions)]
        self.sets.add([*placed, *relations])
        self.sets.add(continued)
        if theory is not None:
            if self.state.catalogs and not self.sets.valued.known:
                self._is_outdated = True  # no object has values
                return
            self.sets.consult(theory)

    def _note_empty(self, digests: Collection[CatalogDigest]) -> None:
        """Note which new catalogs are empty by definition, and simulate objects in the others."""
        literals = {digest: self.labels[digest] for digest in digests}
        empty = self.sets.find_empty(literals.values())
        for digest, literal in literals.items():
            if literal in empty:
                self.labels[digest] = EMPTY

    # -- asking --------------------------------------------------------------------------------------------------

    def find_related(
        self, reading: Reading, state: Hashable, digest: CatalogDigest, relation: SetRelation
    ) -> list[CatalogDigest] | None:
        """Return the other catalogs in a relation to a catalog, whether or not the viewer sees them.

        Parameters
        ----------
        reading
            The transaction.
        state
            A value that changes whenever the viewer's facts do.
        digest
            The catalog.
        relation
            The relation.

        Returns
        -------
        list of CatalogDigest or None
            The catalogs, sorted; None if the index cannot answer: facts leave a choice, or contradict each other.
        """
        view = self._open_view(reading, state)
        if view is None:
            return None
        literals, places = self._distinct.find()
        related = view.find_related(relation, self.labels[digest], literals)
        return [other for other in self.labels.select_catalogs(related[places]) if other != digest]

    def _open_view(self, reading: Reading, state: Hashable) -> IndexView | None:
        key = reading.viewer, reading.who
        seen, view = self._views.get(key, (None, None))
        if view is None or seen != (self._version, state):
            facts = [fact.statement for fact in find_facts_touching(reading, list(self.bases))]
            view = self.sets.open_view([*facts, outside(*self.bases)])
            if view is None:
                return None
            self._views[key] = (self._version, state), view
        return view


class _DistinctLiterals:
    """The different literals of catalogs: few of those that were there at first are the same as those of new ones."""

    def __init__(self, labels: ExtentLabels) -> None:
        self._labels = labels
        self._first: tuple[NDArray[np.int64], NDArray[np.int64], int] | None = None

    def find(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return literals that include those of all catalogs, and the place of each catalog's literal among them."""
        all_literals = self._labels.list_literals()
        if self._first is None:
            distinct, places = np.unique(all_literals, return_inverse=True)
            self._first = distinct, places, len(all_literals)
        distinct, places, known = self._first
        new = all_literals[known:]
        if not len(new):
            return distinct, places
        return (
            np.concatenate((distinct, new)),
            np.concatenate((places, np.arange(len(distinct), len(distinct) + len(new)))),
        )


def _crosses_populations(definition: StoredDefinition) -> bool:
    """Return whether a definition states facts across populations, or about groups."""
    catalog_class = find_class(definition.kind)
    profile = catalog_class.profile
    if profile.compares_groups or profile.pairs_sources:
        return True
    return catalog_class.find_lift(definition.dependencies, definition.parameters) is not None


def _read_state(reading: Reading, population: str) -> IndexedState:
    """Return the number of catalogs of a population, and when the newest was added."""
    query = select(func.count(), func.max(catalogs.c.created_at)).where(catalogs.c.population == population)
    return IndexedState(*reading.connection.execute(query).one())


def _find_newer(reading: Reading, population: str, since: datetime | None) -> list[CatalogDigest]:
    """Return the digests of the catalogs of a population that were added after a time, or of all."""
    is_newer: ColumnElement[bool] = true() if since is None else catalogs.c.created_at > since
    query = select(catalogs.c.digest).where(is_newer, catalogs.c.population == population)
    return list(reading.connection.scalars(query))


class _Definitions:
    """The stored definitions of some catalogs, or of all of a population, read one after the other."""

    def __init__(self, reading: Reading, population: str, digests: Collection[CatalogDigest] | None) -> None:
        self._reading = reading
        self._conditions: list[ColumnElement[bool]] = (
            [catalogs.c.population == population]
            if digests is None
            else [catalogs.c.digest.in_(batch) for batch in split_batches(sorted(digests))]
        )
        self.dependencies_of = self._read_dependencies()

    def _read_dependencies(self) -> dict[CatalogDigest, tuple[CatalogDigest, ...]]:
        links_by_digest: dict[CatalogDigest, tuple[CatalogDigest, ...]] = {}
        linked = select(catalogs.c.digest, dependencies.c.dependency).outerjoin_from(
            catalogs, dependencies, dependencies.c.catalog == catalogs.c.digest
        )
        for condition in self._conditions:
            query = linked.where(condition).order_by(catalogs.c.digest, dependencies.c.position)
            for digest, dependency in self._reading.connection.execute(query):
                links_by_digest[digest] = (
                    links_by_digest.get(digest, ())
                    if dependency is None
                    else (*links_by_digest.get(digest, ()), dependency)
                )
        same = {digest: digest for digest in links_by_digest}  # one text for each digest
        return {digest: tuple(same.get(link, link) for link in links) for digest, links in links_by_digest.items()}

    def __iter__(self) -> Iterator[StoredDefinition]:
        columns = (catalogs.c.digest, catalogs.c.kind, catalogs.c.population, catalogs.c.extent)
        for condition in self._conditions:
            query = select(*columns, catalogs.c.parameters, catalogs.c.notes).where(condition)
            rows: Any = self._reading.connection.execution_options(yield_per=1000).execute(query)
            for digest, *head in rows:
                yield restore_definition(digest, head, self.dependencies_of[digest])
