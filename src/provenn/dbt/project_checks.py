"""Check a project: find models with equal rows, models that lose rows, and tests that need not run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from provenn.catalogs import Catalog, ConcatSources, cone
from provenn.dbt.findings import Contradiction, Findings, LostRows, SameRows, UnionOverlap, UnreadPart
from provenn.dbt.implied_tests import (
    ImpliedTest,
    find_implied_tests,
    find_implied_unique_tests,
    shrink_premises,
)
from provenn.dbt.population_views import PopulationView, make_views, state_emptiness
from provenn.dbt.project_knowledge import collect_catalogs, gather_knowledge, is_renaming, make_vocabulary, name_steps
from provenn.dbt.resources import DataTest, DbtManifest
from provenn.dbt.tables import ProjectTable, ProjectTables, QueryTranslator, Violation
from provenn.dbt.unions import Union, find_unions
from provenn.dbt.violations import ReadTests, read_tests
from provenn.digests import CatalogDigest
from provenn.errors import ProvennError
from provenn.logic import Knowledge, disjoint, empty, equal, subset
from provenn.words.definition_words import describe_definition

__all__ = ["check_project", "measure_depths"]


def check_project(
    project: ProjectTables, translator: QueryTranslator, used_tests: Collection[str] = (), *, why: bool = False
) -> Findings:
    """Return the findings about a project without reading data.

    Parameters
    ----------
    project
        The catalogs of the project.
    translator
        Translates the SQL of tests and of members of unions.
    used_tests
        The tests on which the definitions of catalogs rest, as those of keys: they are never dropped.
    why
        Whether to return the proofs of implied tests.
    """
    tests = read_tests(project, translator)
    tables = tuple(project.tables.values())
    key_tests = {*used_tests, *(test for table in tables if table.key for test in table.key.tests)}
    depths = measure_depths(project.manifest)
    names = name_steps(tables, {})
    checker = _Checker(project, translator, tests, depths, key_tests, why, names)
    return checker.check(make_views(tables, tests.violations))


def measure_depths(manifest: DbtManifest) -> dict[str, int]:
    """Return how far each resource is from the sources: the length of the longest path."""
    depths: dict[str, int] = {}
    for identity, resource in manifest.resources.items():
        depths[identity] = 1 + max((depths.get(parent, 0) for parent in resource.depends_on), default=0)
    return depths


@dataclass(slots=True)
class _Checker:
    """Checks the populations of a project in sequence."""

    project: ProjectTables
    translator: QueryTranslator
    tests: ReadTests
    depths: dict[str, int]
    key_tests: Collection[str]
    why: bool
    step_names: Mapping[CatalogDigest, str]

    def check(self, views: Sequence[PopulationView]) -> Findings:
        """Return all findings."""
        implied: list[ImpliedTest] = []
        dropped: set[str] = set()
        contradictions: list[Contradiction] = []
        empty_models: list[str] = []
        same_rows: list[SameRows] = []
        lost_rows: list[LostRows] = []
        reduced: list[PopulationView] = []
        proofs: list[tuple[str, tuple[str, ...]]] = []
        for whole in views:
            kept = tuple(violation for violation in whole.asserted if violation.test.unique_id not in dropped)
            view = replace(whole, asserted=kept)
            reduced.append(view)
            new = find_implied_tests(view, self.depths, self.key_tests, why=self.why)
            implied += new
            proofs += self._describe_proofs(view, new) if self.why else []
            dropped.update(test.test.unique_id for test in new)
            conflicts = self._find_contradictions(view)
            contradictions += conflicts
            no_rows = self._find_empty(view)
            empty_models += [table.name for table in no_rows]
            tested = view.defined.knowledge if conflicts else self._gather_tested(view, dropped)
            same_rows += self._find_same_rows(view, tested, no_rows)
            lost_rows += self._find_lost_rows(view, tested, no_rows)
        implied += find_implied_unique_tests(
            reduced, self.tests.unique, self.depths, self.key_tests, self._list_key_premises()
        )
        return Findings(
            sum(resource.kind == "model" for resource in self.project.manifest.resources.values()),
            len(self.project.manifest.tests),
            tuple(contradictions),
            tuple(sorted(empty_models)),
            tuple(sorted(same_rows, key=lambda same: same.models)),
            tuple(sorted(lost_rows, key=lambda lost: (lost.model, lost.parent))),
            tuple(self._compare_unions()),
            tuple(sorted(implied, key=lambda test: test.test.unique_id)),
            tuple(self._list_unread()),
            tuple(proofs),
        )

    # --- tests ---

    def _list_key_premises(self) -> dict[CatalogDigest, tuple[DataTest, ...]]:
        """Return the tests for the key of each base catalog."""
        by_identity = {test.unique_id: test for test in self.project.manifest.tests}
        return {
            table.definition.digest: tuple(by_identity[identity] for identity in table.key.tests)
            for table in self.project.tables.values()
            if table.key is not None
        }

    def _gather_tested(self, view: PopulationView, dropped: Collection[str]) -> Knowledge:
        """Return the consequences if all tests pass."""
        kept = [
            violation
            for violation in view.violations
            if violation.test.is_error and violation.test.unique_id not in dropped
        ]
        if not kept and not view.asserted:
            return view.defined.knowledge
        return replace(view, violations=(), asserted=(*view.asserted, *kept)).known.knowledge

    def _find_contradictions(self, view: PopulationView) -> list[Contradiction]:
        """Return the tests that can pass together only if a table is empty; only the first table on each way."""
        contradictions: list[Contradiction] = []
        reported: set[str] = set()
        for table in view.tables:
            if not reported.isdisjoint(table.resource.depends_on):
                reported.add(table.resource.unique_id)
                continue
            premises = view.find_premises(table.definition, lambda _: True)
            statement = state_emptiness(table.definition, premises)
            if not view.known.knowledge.entails(statement) or _is_empty(view, table):
                continue
            reported.add(table.resource.unique_id)
            rows = Violation(self.project.manifest.tests[0], table.definition)
            needed = shrink_premises(view, rows, premises)
            reasons = view.known.because(state_emptiness(table.definition, needed))
            partners = [view.asserted[origin.fact - 1] for _, origin in reasons if origin.fact]
            names = dict.fromkeys(violation.test.name for violation in (*needed, *partners))
            contradictions.append(Contradiction(table.name, tuple(names)))
        return contradictions

    def _describe_proofs(
        self, view: PopulationView, implied: Iterable[ImpliedTest]
    ) -> list[tuple[str, tuple[str, ...]]]:
        """Return the proofs of tests in words."""
        rows = {violation.rows.digest: f"rows failing {violation.test.name}" for violation in view.violations}
        names = {**rows, **self.step_names}
        vocabulary = make_vocabulary(collect_catalogs(view.catalogs), names)
        asserted = [violation.test.name for violation in view.asserted]
        described = []
        for test in implied:
            lines = [
                f"{vocabulary.translate_statement(statement)}"
                + (f"  (test {asserted[origin.fact - 1]})" if origin.fact else "")
                for statement, origin in test.reasons
                if origin.fact or not is_renaming(statement)
            ]
            described.append((test.test.unique_id, tuple(lines)))
        return described

    # --- models ---

    def _find_empty(self, view: PopulationView) -> list[ProjectTable]:
        """Return the models that have no rows, regardless of the data."""
        return [table for table in view.tables if not table.is_base and _is_empty(view, table)]

    def _find_same_rows(
        self, view: PopulationView, tested: Knowledge, no_rows: Sequence[ProjectTable]
    ) -> list[SameRows]:
        """Return the models with the same rows; models without rows are another matter."""
        by_digest: dict[str, list[ProjectTable]] = {}
        for table in view.tables:
            if table.resource.kind == "model" and table not in no_rows:
                by_digest.setdefault(table.definition.digest, []).append(table)
        same = []
        for labels in _group_equal(tested, by_digest):
            tables = sorted((table for label in labels for table in by_digest[label]), key=lambda table: table.name)
            if len(tables) > 1:
                by_definition = all(
                    view.defined.knowledge.entails(equal(tables[0].definition.digest, table.definition.digest))
                    for table in tables[1:]
                )
                columns = {_list_values(table) for table in tables}
                names = tuple(table.name for table in tables)
                same.append(SameRows(names, len(columns) == 1, not by_definition))
        return same

    def _find_lost_rows(
        self, view: PopulationView, tested: Knowledge, no_rows: Sequence[ProjectTable]
    ) -> list[LostRows]:
        """Return the models that may have fewer rows than a table among their inputs."""
        lost = []
        by_identity = {table.resource.unique_id: table for table in view.tables}
        for table in view.tables:
            if table.is_base or table in no_rows:
                continue
            for identity in table.resource.depends_on:
                parent = by_identity.get(identity)
                if parent is None:
                    continue
                digests = table.definition.digest, parent.definition.digest
                if tested.entails(subset(*digests)) and not tested.entails(equal(*digests)):
                    lost.append(LostRows(table.name, parent.name, self._describe_conditions(table, parent)))
        return lost

    def _describe_conditions(self, table: ProjectTable, parent: ProjectTable) -> tuple[str, ...]:
        """Return the operations of a model that lose rows of a table, in words."""
        before = {catalog.digest for catalog in cone(parent.definition)}
        words = self.step_names
        described = []
        for catalog in cone(table.definition):
            if catalog.digest in before:
                continue
            main = catalog.dependencies[0] if catalog.dependencies else None
            if main is None or main.population != catalog.population or main.extent == catalog.extent:
                continue
            described.append(describe_definition(catalog, _Words(words, main.digest, parent.name).find))
        return tuple(described)

    def _compare_unions(self) -> Iterable[UnionOverlap]:
        """Yield the findings about the members of each union."""
        for table in self.project.tables.values():
            unions = [] if table.is_base else find_unions(table.resource.code, self.project.manifest.dialect)
            are_apart = self._are_apart(table, unions)
            for union in unions:
                members = [] if are_apart else [self._translate_member(text) for text in union.members]
                for left, right in combinations(range(len(union.members)), 2):
                    if are_apart:
                        yield UnionOverlap(table.name, (left + 1, right + 1), "disjoint", union.is_all)
                        continue
                    first, second = members[left], members[right]
                    if first is not None and second is not None and first.population == second.population:
                        relation = _relate(first, second)
                        yield UnionOverlap(table.name, (left + 1, right + 1), relation, union.is_all)

    def _are_apart(self, table: ProjectTable, unions: Sequence[Union]) -> bool:
        """Return whether the members of all unions were proved disjoint when the model was translated.

        UNION ALL is a concatenation only if the members are disjoint: otherwise a row may occur twice.
        """
        if not unions or not all(union.is_all for union in unions):
            return False
        parents = [self.project.tables.get(identity) for identity in table.resource.depends_on]
        before = {catalog.digest for parent in parents if parent for catalog in cone(parent.definition)}
        steps = [catalog for catalog in cone(table.definition) if catalog.digest not in before]
        needed = sum(len(union.members) - 1 for union in unions)
        return sum(isinstance(catalog, ConcatSources) for catalog in steps) == needed

    def _translate_member(self, text: str) -> Catalog | None:
        try:
            dialect = self.project.manifest.dialect
            return self.translator.translate(text, dialect, self.project.by_relation).definition
        except ProvennError:
            return None

    def _list_unread(self) -> Iterable[UnreadPart]:
        """Yield the parts that were not understood."""
        for table in self.project.tables.values():
            yield from (UnreadPart(table.name, remark) for remark in table.remarks)
        for identity, reason in self.project.left_out.items():
            yield UnreadPart(self.project.names[identity], reason)
        for test, reason in self.tests.unread:
            yield UnreadPart(test.name, reason)


@dataclass(frozen=True, slots=True)
class _Words:
    """The words for the catalogs in a definition: a catalog without a name is called like the table it comes from."""

    names: Mapping[CatalogDigest, str]
    main: CatalogDigest
    default: str

    def find(self, digest: str) -> str:
        """Return the word for a catalog."""
        name = self.names.get(CatalogDigest(digest), self.default)
        return self.default if digest == self.main else name


def _is_empty(view: PopulationView, table: ProjectTable) -> bool:
    return view.defined.knowledge.entails(empty(table.definition.digest))


def _list_values(table: ProjectTable) -> tuple[str, ...]:
    """Return the attributes of the columns of a table, ignoring names and order."""
    return tuple(sorted(table.definition.schema[name].identity for name in table.columns))


def _group_equal(knowledge: Knowledge, labels: Mapping[str, object]) -> list[tuple[str, ...]]:
    """Return the groups of labels with equal sets."""
    if len(labels) < 2:
        return [tuple(labels)] if labels else []
    groups = ([label for label in group if label in labels] for group in knowledge.classify().classes)
    return [tuple(group) for group in groups if group]


def _relate(first: Catalog, second: Catalog) -> Literal["disjoint", "equal", "inside", "unknown"]:
    """Return how two members of a union relate."""
    knowledge = gather_knowledge([first, second]).knowledge
    if knowledge.entails(disjoint(first.digest, second.digest)):
        return "disjoint"
    if knowledge.entails(equal(first.digest, second.digest)):
        return "equal"
    if knowledge.entails(subset(first.digest, second.digest)) or knowledge.entails(subset(second.digest, first.digest)):
        return "inside"
    return "unknown"
