"""The translation of the SQL of a project into catalogs, without an archive and without Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from provenn.catalogs import Base, Catalog, Files, Population, cone, verbs
from provenn.dbt.opaque_types import find_column_types
from provenn.dbt.project_knowledge import gather_knowledge, make_fact
from provenn.dbt.tables import QueryTables, TranslatedQuery, Violation
from provenn.digests import CatalogDigest, content_digest
from provenn.files.columns import FileColumn
from provenn.logic import Statement
from provenn.queries.query_reading import QueryTable, read_query
from provenn.queries.translation import Translation, translate

__all__ = ["Translator"]


@dataclass(slots=True)
class _NamedTables:
    """The tables of a project under their names in a query, with a memory of the tables named by the query."""

    tables: QueryTables
    used: dict[str, Catalog] = field(default_factory=dict)

    def find_table(self, parts: tuple[str, ...]) -> QueryTable:
        """Return the table with a name, with its columns in the warehouse."""
        table = self.tables.find(parts)
        name = ".".join(parts)
        self.used[name] = table.definition
        return QueryTable(name, table.columns)


class Translator:
    """Translates queries into catalogs.

    The meaning of a query may depend on columns without NULL. The tests of base tables for such columns are facts here;
    the translator remembers the tests used by a translation.

    Parameters
    ----------
    populations
        Populations that exist already, by name.
    """

    def __init__(self, populations: Mapping[str, Population] | None = None) -> None:
        self._populations = dict(populations or {})
        self._never_null: dict[CatalogDigest, list[Violation]] = {}
        self.used_tests: set[str] = set()

    def add_fact(self, base: Catalog, violation: Violation) -> None:
        """Add the fact that a base table has no rows that would make a test fail."""
        self._never_null.setdefault(base.digest, []).append(violation)

    def translate(self, text: str, dialect: str, tables: QueryTables) -> TranslatedQuery:
        """Return the catalog of a query.

        Raises
        ------
        QueryError
            If the query can be no catalog.
        UnknownCatalogError
            If it names a table that is not there.
        """
        named = _NamedTables(tables)
        node = read_query(text, named, dialect)
        translation = translate(
            node, named.used, prove=self._prove, find_types=find_column_types, find_population=self._find_population
        )
        remarks = tuple(map(str, translation.remarks))
        return TranslatedQuery(_limit_rows(translation, text), translation.columns, remarks)

    def _prove(self, statement: Statement, about: Sequence[Catalog]) -> bool:
        """Return whether a statement follows from definitions, or else from definitions and facts about base tables."""
        if gather_knowledge(about).knowledge.entails(statement):
            return True
        lineage = cone(*about)
        violations = [violation for catalog in lineage for violation in self._never_null.get(catalog.digest, ())]
        if not violations:
            return False
        facts = [
            make_fact(number, violation.rows, violation.test.name) for number, violation in enumerate(violations, 1)
        ]
        known = gather_knowledge((*about, *(violation.rows for violation in violations)), facts)
        if not known.knowledge.entails(statement):
            return False
        numbers = [origin.fact for _, origin in known.because(statement) if origin.fact]
        self.used_tests.update(violations[number - 1].test.unique_id for number in numbers)
        return True

    def _find_population(self, name: str) -> Sequence[str] | None:
        """Return the types of the key of a population; None for a new name."""
        population = self._populations.get(name)
        return None if population is None else [str(kind) for kind in population.key]


def _limit_rows(translation: Translation, text: str) -> Catalog:
    """Return the rows of a query with its LIMIT: an unknown subset of the rows without LIMIT."""
    catalog = translation.catalog
    if translation.limit is None and not translation.offset:
        return catalog
    key = [FileColumn(attribute.name, attribute.type, nullable=False) for attribute in catalog.schema.key]
    files = Files.elsewhere("dbt", "limit", content_digest("query", [text, catalog.digest]), key)
    chosen = Base.of(files, key=[column.name for column in key], population=catalog.population)
    return verbs.restrict(catalog, chosen)
