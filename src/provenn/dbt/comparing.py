"""Compare two versions of a set of tables: find the tables with equal rows, and the changes of the rest.

A table is known by name. The rows are compared as sets of sources, and the columns by the identity of their
attributes: a source has a single value of an identity. Nothing is computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from provenn.catalogs import Catalog, cone
from provenn.catalogs.population import make_plural
from provenn.criteria.row_candidates import format_constant
from provenn.dbt.population_views import RootKey, SourceRoots
from provenn.dbt.project_knowledge import collect_catalogs, gather_knowledge, make_fact
from provenn.dbt.tables import Violation
from provenn.digests import CatalogDigest
from provenn.errors import ContradictionError
from provenn.knowledge.consequences import TracedKnowledge
from provenn.knowledge.row_search import RowSearch
from provenn.logic import Statement, disjoint, empty, equal, subset, superset
from provenn.logic.terms import Term, term

__all__ = ["ComparedTable", "RowChange", "TableChange", "compare_tables"]

RowChange = Literal["equal", "narrowed", "widened", "disjoint", "unknown", "added", "removed"]


class ComparedTable(Protocol):
    """A table in either version."""

    @property
    def name(self) -> str:
        """The name of the table in both versions."""

    @property
    def definition(self) -> Catalog:
        """The catalog."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The attributes of the columns of the table, in order."""


@dataclass(frozen=True, slots=True)
class TableChange:
    """The change of a table between two versions.

    Parameters
    ----------
    name
        Its name.
    rows
        The new rows are the old ones ("equal"), some of them ("narrowed"), all of them and maybe others ("widened"),
        all others ("disjoint"), or nothing is proved ("unknown"). Or the table is new, or gone.
    added, removed
        Columns that only the new, or only the old table has.
    renamed
        Columns with the same values under another name: old and new names.
    redefined
        Columns of the same name that are not proved to have the same values.
    lost, gained
        A possible row that only the old, or only the new table would hold, in words; empty if none is known.
    rests_on
        The tests that must pass for this to be true.
    reason
        Why nothing is proved; empty if something is.
    """

    name: str
    rows: RowChange
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    redefined: tuple[str, ...] = ()
    lost: str = ""
    gained: str = ""
    rests_on: tuple[str, ...] = ()
    reason: str = ""

    @property
    def has_changed_columns(self) -> bool:
        """Whether a column came, went, was renamed or defined anew."""
        return bool(self.added or self.removed or self.renamed or self.redefined)

    @property
    def is_unaffected(self) -> bool:
        """Whether rows and columns are proved to be the same."""
        return self.rows == "equal" and not self.has_changed_columns


def compare_tables(
    old: Mapping[str, ComparedTable], new: Mapping[str, ComparedTable], tests: Sequence[Violation] = ()
) -> list[TableChange]:
    """Return the change of each table, sorted by name.

    Parameters
    ----------
    old, new
        The tables of both versions, by name.
    tests
        Tests that pass.
    """
    changes = [TableChange(name, "removed") for name in old.keys() - new.keys()]
    changes += [TableChange(name, "added") for name in new.keys() - old.keys()]
    pairs = [(old[name], new[name]) for name in sorted(old.keys() & new.keys())]
    changes += [_compare_columns(*pair, TableChange(pair[0].name, "equal")) for pair in pairs if _are_same(*pair)]
    different = [pair for pair in pairs if not _are_same(*pair)]
    for before, after in different:
        if before.definition.population != after.definition.population:
            kinds = [make_plural(table.definition.population.name) for table in (before, after)]
            change = TableChange(before.name, "unknown", reason=f"its rows were {kinds[0]}, and are {kinds[1]}")
            changes.append(_compare_columns(before, after, change))
    comparable = [pair for pair in different if pair[0].definition.population == pair[1].definition.population]
    for group, facts in _group_pairs(comparable, tests):
        changes += _Comparer.of(group, facts).compare_all()
    return sorted(changes, key=lambda change: change.name)


_Pair = tuple[ComparedTable, ComparedTable]


def _are_same(old: ComparedTable, new: ComparedTable) -> bool:
    return old.definition.extent == new.definition.extent and old.definition.population == new.definition.population


def _group_pairs(pairs: Sequence[_Pair], tests: Sequence[Violation]) -> Iterable[tuple[list[_Pair], list[Violation]]]:
    """Yield the pairs to compare together, with the tests that may say something about the pairs."""
    roots = SourceRoots()
    roots.group([*(table.definition for pair in pairs for table in pair), *(test.rows for test in tests)])
    groups: dict[RootKey, list[_Pair]] = {}
    for pair in pairs:
        groups.setdefault(roots.find_key(pair[0].definition), []).append(pair)
    tests_by_key: dict[RootKey, list[Violation]] = {}
    for test in tests:
        tests_by_key.setdefault(roots.find_key(test.rows), []).append(test)
    for group in groups.values():
        lineage = cone(*(table.definition for pair in group for table in pair))
        keys = dict.fromkeys(roots.find_keys(lineage))
        yield group, [test for key in keys for test in tests_by_key.get(key, ())]


def _compare_columns(old: ComparedTable, new: ComparedTable, change: TableChange) -> TableChange:
    """Return a change with the changes of the columns."""
    before = {name: old.definition.schema[name].identity for name in old.columns}
    after = {name: new.definition.schema[name].identity for name in new.columns}
    gone = [name for name in before if name not in after]
    came = [name for name in after if name not in before]
    renamed = []
    for name in list(gone):
        alike = [other for other in came if after[other] == before[name]]
        if alike:
            renamed.append((name, alike[0]))
            gone.remove(name)
            came.remove(alike[0])
    redefined = [name for name, identity in before.items() if name in after and after[name] != identity]
    return replace(change, added=tuple(came), removed=tuple(gone), renamed=tuple(renamed), redefined=tuple(redefined))


@dataclass(frozen=True, slots=True)
class _Comparer:
    """Compares tables on the basis of the same knowledge."""

    pairs: Sequence[_Pair]
    tests: Sequence[Violation]
    known: TracedKnowledge
    catalogs: Mapping[CatalogDigest, Catalog]

    @classmethod
    def of(cls, pairs: Sequence[_Pair], tests: Sequence[Violation]) -> _Comparer:
        """Gather the knowledge about some tables."""
        definitions = [table.definition for pair in pairs for table in pair]
        involved = [*definitions, *(test.rows for test in tests)]
        facts = [make_fact(number, test.rows, test.test.name) for number, test in enumerate(tests, 1)]
        known = gather_knowledge(involved, facts)
        # The search for rows reads catalogs, and not criteria.
        plain = tuple(replace(fact, statement=empty(test.rows.digest)) for fact, test in zip(facts, tests, strict=True))
        return cls(pairs, tests, replace(known, facts=plain), collect_catalogs(involved))

    def compare_all(self) -> list[TableChange]:
        """Return the change of each table."""
        try:
            return [self._compare(*pair) for pair in self.pairs]
        except ContradictionError:
            reason = "the tests contradict each other"
            return [_compare_columns(*pair, TableChange(pair[0].name, "unknown", reason=reason)) for pair in self.pairs]

    def _compare(self, old: ComparedTable, new: ComparedTable) -> TableChange:
        before, after = old.definition.digest, new.definition.digest
        candidates: tuple[tuple[RowChange, Statement], ...] = (
            ("equal", equal(before, after)),
            ("narrowed", superset(before, after)),
            ("widened", subset(before, after)),
            ("disjoint", disjoint(before, after)),
        )
        proved = [candidate for candidate in candidates if self.known.knowledge.entails(candidate[1])]
        rows: RowChange = proved[0][0] if proved else "unknown"
        change = _compare_columns(old, new, TableChange(old.name, rows))
        change = replace(change, rests_on=self._find_tests(proved[0][1]) if proved else ())
        if rows == "unknown":
            change = replace(change, reason="neither version is proved to contain the other")
        if rows in ("narrowed", "disjoint", "unknown"):
            change = replace(change, lost=self._find_row(term(before) - term(after), old))
        if rows in ("widened", "disjoint", "unknown"):
            change = replace(change, gained=self._find_row(term(after) - term(before), new))
        return change

    def _find_tests(self, statement: Statement) -> tuple[str, ...]:
        """Return the names of the tests in the proof of a statement."""
        if not self.tests:
            return ()
        numbers = dict.fromkeys(origin.fact for _, origin in self.known.because(statement) if origin.fact)
        return tuple(self.tests[number - 1].test.name for number in numbers)

    def _find_row(self, region: Term, table: ComparedTable) -> str:
        """Return a possible row in a region, in words; empty if the search finds none."""
        row = RowSearch(self.known, self.catalogs).find_row(region)
        if row is None:
            return ""
        names = {
            attribute.identity: attribute.name
            for catalog in reversed(cone(table.definition))
            for attribute in catalog.schema.attributes
        }
        names |= {table.definition.schema[name].identity: name for name in table.columns}
        values = sorted(
            (names.get(identity, identity), format_constant(value)) for identity, value in row.values.items()
        )
        return ", ".join(f"{name} = {value}" for name, value in values)
