"""The tables and tests of a project, population by population, with the knowledge about each.

Sets of different populations are never compared, so questions are asked within a single population. A test on partners
can say something about the rows referring to the partners. So the populations come in an order, and the tests of
earlier populations are facts about later populations: no test is used to prove itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from provenn.catalogs import Catalog, HavingSources, cone
from provenn.dbt.project_knowledge import gather_knowledge, make_fact
from provenn.dbt.tables import ProjectTable, Violation
from provenn.digests import CatalogDigest
from provenn.knowledge.consequences import TracedKnowledge
from provenn.logic import Statement, empty, subset
from provenn.logic.terms import Op, Term, chain, term

__all__ = ["PopulationView", "RootKey", "SourceRoots", "is_premise", "make_views", "state_emptiness", "unite_rows"]


@dataclass(frozen=True)  # without slots, for the knowledge that is built when it is needed
class PopulationView:
    """The tables and tests of a population.

    Parameters
    ----------
    population
        The name of the population.
    tables
        The tables whose rows are sources of the population.
    violations
        The tests whose failing rows are sources of the population.
    asserted
        The tests of other populations that are facts here.
    """

    population: str
    tables: tuple[ProjectTable, ...]
    violations: tuple[Violation, ...]
    asserted: tuple[Violation, ...]

    @property
    def catalogs(self) -> tuple[Catalog, ...]:
        """The catalogs of tables and tests."""
        own = (table.definition for table in self.tables)
        return (*own, *(violation.rows for violation in (*self.violations, *self.asserted)))

    @cached_property
    def known(self) -> TracedKnowledge:
        """The consequences of definitions, and of the tests of other populations."""
        facts = [
            make_fact(number, violation.rows, violation.test.name) for number, violation in enumerate(self.asserted, 1)
        ]
        return gather_knowledge(self.catalogs, facts)

    @cached_property
    def defined(self) -> TracedKnowledge:
        """The consequences of definitions alone."""
        return gather_knowledge(self.catalogs) if self.asserted else self.known

    def find_premises(self, catalog: Catalog, usable: Callable[[Violation], bool]) -> list[Violation]:
        """Return the tests of this population that may say something about the sources of a catalog."""
        sets = set(catalog.extent.labels)
        return [
            violation
            for violation in self.violations
            if is_premise(violation) and usable(violation) and not sets.isdisjoint(violation.rows.extent.labels)
        ]


def is_premise(violation: Violation) -> bool:
    """Return whether a build stops if a test fails, so that every result of a build fulfils the test."""
    return violation.test.is_error


def unite_rows(violations: Iterable[Violation]) -> Term | None:
    """Return the rows that would make any of some tests fail; None without tests."""
    terms = tuple(term(violation.rows.digest) for violation in violations)
    return chain(Op.OR, terms) if terms else None


def state_emptiness(catalog: Catalog, premises: Iterable[Violation]) -> Statement:
    """Return the statement that a catalog is empty if some tests pass.

    Each test denies the existence of certain rows. So the catalog is empty exactly if the tests deny all of its rows.
    """
    excluded = unite_rows(premises)
    return empty(catalog.digest) if excluded is None else subset(catalog.digest, excluded)


def make_views(tables: Sequence[ProjectTable], violations: Sequence[Violation]) -> list[PopulationView]:
    """Return all populations of a project, if possible partners before the populations that refer to the partners.

    Tables of a population from different base tables have nothing to do with each other, and get views of their own.
    """
    roots = SourceRoots()
    catalogs = [*(table.definition for table in tables), *(violation.rows for violation in violations)]
    keys = roots.group(catalogs)
    own_tables: dict[RootKey, list[ProjectTable]] = {}
    for table, key in zip(tables, keys, strict=False):
        own_tables.setdefault(key, []).append(table)
    own_tests: dict[RootKey, list[Violation]] = {}
    for violation, key in zip(violations, keys[len(tables) :], strict=True):
        own_tests.setdefault(key, []).append(violation)
    lineages = {
        key: cone(
            *(table.definition for table in own_tables.get(key, ())),
            *(violation.rows for violation in own_tests.get(key, ())),
        )
        for key in dict.fromkeys(keys)
    }
    touched = {key: dict.fromkeys(roots.find_keys(lineage)) for key, lineage in lineages.items()}
    views: list[PopulationView] = []
    earlier: set[RootKey] = set()
    for key in _order_populations(lineages, roots):
        asserted = [
            violation
            for other in touched[key]
            if other in earlier
            for violation in own_tests.get(other, ())
            if is_premise(violation)
        ]
        views.append(
            PopulationView(key[0], tuple(own_tables.get(key, ())), tuple(own_tests.get(key, ())), tuple(asserted))
        )
        earlier.add(key)
    return views


RootKey = tuple[str, str]
"""A population, and one of the base tables that its sources come from."""


class SourceRoots:
    """The base tables of the sources of catalogs, joined where sources come from several base tables."""

    def __init__(self) -> None:
        self._roots: dict[CatalogDigest, tuple[CatalogDigest, ...]] = {}
        self._joined: dict[RootKey, RootKey] = {}

    def group(self, catalogs: Sequence[Catalog]) -> list[RootKey]:
        """Return a key for each catalog: catalogs that may share sources have the same key."""
        for catalog in cone(*catalogs):
            own = catalog.dependencies[:1] if catalog.profile.crosses_populations else catalog.dependencies
            roots = dict.fromkeys(root for dependency in own for root in self._roots[dependency.digest])
            self._roots[catalog.digest] = tuple(roots) or (catalog.digest,)
            first, *others = (self._find((catalog.population.name, root)) for root in self._roots[catalog.digest])
            for other in others:
                self._joined[self._find(other)] = self._find(first)
        return [self.find_key(catalog) for catalog in catalogs]

    def find_key(self, catalog: Catalog) -> RootKey:
        """Return the key of a catalog."""
        return self._find((catalog.population.name, self._roots[catalog.digest][0]))

    def find_keys(self, catalogs: Iterable[Catalog]) -> list[RootKey]:
        """Return the keys of catalogs."""
        return [self.find_key(catalog) for catalog in catalogs]

    def _find(self, key: RootKey) -> RootKey:
        while key in self._joined and self._joined[key] != key:
            key = self._joined[key]
        return key


def _order_populations(lineages: Mapping[RootKey, Sequence[Catalog]], roots: SourceRoots) -> list[RootKey]:
    """Return populations, each after the populations of its partners, except where populations refer to each other.

    Knowing which sources have members says little about the members. So a population comes before the population of
    its members.
    """
    links = {
        key: [
            other
            for catalog in lineage
            if roots.find_key(catalog) == key and not isinstance(catalog, HavingSources)
            for other in dict.fromkeys(roots.find_keys(catalog.dependencies))
            if other in lineages
        ]
        for key, lineage in lineages.items()
    }
    ordered: dict[RootKey, None] = {}
    entered: set[RootKey] = set()
    for start in links:
        stack = [start]
        while stack:
            entered.add(stack[-1])
            missing = next((other for other in links[stack[-1]] if other not in entered), None)
            if missing is None:
                ordered.setdefault(stack.pop())
            else:
                stack.append(missing)
    return list(ordered)
