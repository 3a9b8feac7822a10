"""Tests that need not run: these tests pass whenever the remaining tests pass.

Tests are dropped in sequence, the tests of the last models first. Each follows from the tests kept at the moment of
dropping, so the dropped tests as a whole follow from the kept tests. The tests for the key of a base table are always
kept: all else rests on these tests. A test that only warns is no premise.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from provenn.catalogs import cone
from provenn.dbt.population_views import PopulationView, state_emptiness
from provenn.dbt.resources import DataTest
from provenn.dbt.tables import ProjectTable, Violation, find_column
from provenn.digests import CatalogDigest
from provenn.knowledge.consequences import CitedFact
from provenn.logic import subset

__all__ = ["ImpliedTest", "find_implied_tests", "find_implied_unique_tests", "shrink_premises"]


@dataclass(frozen=True, slots=True)
class ImpliedTest:
    """A test implied by definitions and by other tests.

    Parameters
    ----------
    test
        The test.
    premises
        The tests that it follows from, each of them necessary, and all of them kept.
    reasons
        The facts of the proof, if they were asked for.
    """

    test: DataTest
    premises: tuple[DataTest, ...]
    reasons: tuple[CitedFact, ...] = ()


def find_implied_tests(
    view: PopulationView, depths: dict[str, int], key_tests: Collection[str], *, why: bool = False
) -> list[ImpliedTest]:
    """Return the tests about single rows of a population implied by other tests.

    Parameters
    ----------
    view
        The population.
    depths
        How far each resource is from the sources, by identity.
    key_tests
        The tests that state keys.
    why
        Whether to look for the facts of each proof.
    """
    knowledge = view.known.knowledge
    dropped: dict[str, Violation] = {}
    candidates = [violation for violation in view.violations if violation.test.unique_id not in key_tests]
    candidates.sort(key=lambda violation: (-_find_depth(violation.test, depths), violation.test.unique_id))
    for violation in candidates:
        premises = view.find_premises(violation.rows, lambda other: _is_other(other, violation, dropped))  # noqa: B023
        if knowledge.entails(state_emptiness(violation.rows, premises)):
            dropped[violation.test.unique_id] = violation
    return [_explain(view, violation, dropped, why=why) for violation in dropped.values()]


def _find_depth(test: DataTest, depths: dict[str, int]) -> int:
    return max((depths.get(identity, 0) for identity in (test.resource, *test.depends_on)), default=0)


def _is_other(other: Violation, violation: Violation, dropped: Collection[str]) -> bool:
    return other.test.unique_id != violation.test.unique_id and other.test.unique_id not in dropped


def _explain(view: PopulationView, violation: Violation, dropped: Collection[str], *, why: bool) -> ImpliedTest:
    """Return a dropped test with the kept tests needed for the proof."""
    premises = view.find_premises(violation.rows, lambda other: _is_other(other, violation, dropped))
    needed = shrink_premises(view, violation, premises)
    statement = state_emptiness(violation.rows, needed)
    reasons = view.known.because(statement) if why else ()
    partners = () if view.defined.knowledge.entails(statement) else _find_partner_tests(view, violation, needed)
    return ImpliedTest(violation.test, tuple(other.test for other in needed) + partners, reasons)


def _find_partner_tests(
    view: PopulationView, violation: Violation, needed: Sequence[Violation]
) -> tuple[DataTest, ...]:
    """Return the tests of other populations in the proof of a test."""
    reasons = view.known.because(state_emptiness(violation.rows, needed))
    numbers = dict.fromkeys(origin.fact for _, origin in reasons if origin.fact)
    return tuple(view.asserted[number - 1].test for number in numbers)


def shrink_premises(view: PopulationView, violation: Violation, premises: Sequence[Violation]) -> list[Violation]:
    """Return a minimal subset of the premises to prove the rows of a test empty."""
    entails, rows = view.known.knowledge.entails, violation.rows
    if entails(state_emptiness(rows, ())):
        return []
    for premise in premises:
        if entails(state_emptiness(rows, [premise])):
            return [premise]
    needed = list(premises)
    for premise in premises:
        fewer = [other for other in needed if other is not premise]
        if entails(state_emptiness(rows, fewer)):
            needed = fewer
    return needed


def find_implied_unique_tests(
    views: Sequence[PopulationView],
    tests: Sequence[tuple[DataTest, ProjectTable]],
    depths: dict[str, int],
    key_tests: Collection[str],
    key_premises: Mapping[CatalogDigest, tuple[DataTest, ...]] | None = None,
) -> list[ImpliedTest]:
    """Return the uniqueness tests implied by the key, or by the same test of a table around.

    Each row of a table is a single source. So columns with the whole key differ in any two rows; and columns that
    differ in any two rows of a table also differ in any two rows of each table inside.

    Parameters
    ----------
    views
        The populations.
    tests
        The tests, each with its table.
    depths
        How far each resource is from the sources, by identity.
    key_tests
        The tests that state keys, which are kept.
    key_premises
        The tests that state the key of base catalogs.
    """
    key_premises = key_premises or {}
    view_of = {table.resource.unique_id: view for view in views for table in view.tables}
    dropped: dict[str, tuple[DataTest, ...]] = {}
    ordered = sorted(tests, key=lambda pair: (-depths.get(pair[0].resource, 0), pair[0].unique_id))
    for test, table in ordered:
        if test.unique_id in key_tests:
            continue
        if _holds_key(test, table):
            dropped[test.unique_id] = _find_key_premises(table, key_premises)
            continue
        for other, around in ordered:
            if other.unique_id in dropped or other.unique_id == test.unique_id or not other.is_error:
                continue
            if _says_as_much(other, around, test, table) and _lies_inside(table, around, view_of):
                dropped[test.unique_id] = (other,)
                break
    return [ImpliedTest(test, _follow(test, dropped)) for test, _ in tests if test.unique_id in dropped]


def _find_key_premises(
    table: ProjectTable, key_premises: Mapping[CatalogDigest, tuple[DataTest, ...]]
) -> tuple[DataTest, ...]:
    """Return the tests for the key of a table: the key tests of the base tables from which the rows come."""
    bases = (catalog for catalog in cone(table.definition) if catalog.population == table.definition.population)
    return tuple(test for base in bases for test in key_premises.get(base.digest, ()))


def _follow(test: DataTest, dropped: dict[str, tuple[DataTest, ...]]) -> tuple[DataTest, ...]:
    """Return the kept tests at the end of the chain of premises of a dropped test."""
    premises = dropped[test.unique_id]
    return tuple(
        last
        for premise in premises
        for last in ((premise,) if premise.unique_id not in dropped else _follow(premise, dropped))
    )


def _find_identities(test: DataTest, table: ProjectTable) -> frozenset[str] | None:
    """Return the attributes of a test; None if a column is not known."""
    attributes = [find_column(table, name) for name in test.columns]
    known = [attribute.identity for attribute in attributes if attribute is not None]
    return frozenset(known) if len(known) == len(attributes) else None


def _holds_key(test: DataTest, table: ProjectTable) -> bool:
    """Return whether the tested columns hold the whole key of the table."""
    identities = _find_identities(test, table)
    return identities is not None and identities.issuperset(key.identity for key in table.definition.schema.key)


def _says_as_much(other: DataTest, around: ProjectTable, test: DataTest, table: ProjectTable) -> bool:
    """Return whether a test of the same columns, or of fewer, says as much about any pair of rows.

    A test that ignores rows with NULL says less than a test of all rows; and fewer columns without NULL say more.
    """
    own, others = _find_identities(test, table), _find_identities(other, around)
    if own is None or others is None or around.definition.population != table.definition.population:
        return False
    if other.allows_nulls and not test.allows_nulls:
        return False
    return others == own if other.allows_nulls else others <= own


def _lies_inside(table: ProjectTable, around: ProjectTable, view_of: dict[str, PopulationView]) -> bool:
    """Return whether the rows of a table are rows of another by definition."""
    knowledge = view_of[table.resource.unique_id].defined.knowledge
    return knowledge.entails(subset(table.definition.digest, around.definition.digest))
