"""The catalogs of a project: a catalog for each source, seed, snapshot and model, in the order of the graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from provenn.catalogs import Catalog, Population, verbs
from provenn.catalogs.schema import Attribute
from provenn.criteria import backquoted, matching_names
from provenn.dbt.bases import BaseTable, TableKey, build_base, find_key
from provenn.dbt.names import choose_names
from provenn.dbt.resources import DataTest, DbtManifest, Resource, normalize_code
from provenn.digests import content_digest
from provenn.errors import ManifestError, ProvennError, UnknownCatalogError, did_you_mean
from provenn.files.columns import FileColumn

__all__ = [
    "FindColumns",
    "ProjectTable",
    "ProjectTables",
    "QueryTables",
    "QueryTranslator",
    "TranslatedQuery",
    "Violation",
    "build_tables",
    "find_column",
]


@dataclass(frozen=True, slots=True)
class TranslatedQuery:
    """A query as a catalog.

    Parameters
    ----------
    definition
        The catalog: each row of the query is one source.
    columns
        The attributes that are the columns of the query, in order.
    remarks
        What was not understood, a sentence each.
    """

    definition: Catalog
    columns: tuple[str, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Violation:
    """A test, and the rows that would make the test fail.

    Parameters
    ----------
    test
        The test.
    rows
        The rows: the test passes exactly if there are none.
    """

    test: DataTest
    rows: Catalog


@dataclass(frozen=True, slots=True)
class ProjectTable:
    """A resource of a project, with its catalog.

    Parameters
    ----------
    resource
        The resource.
    name
        The name of the catalog.
    definition
        The catalog.
    columns
        The attributes that are columns of the table, in order.
    key
        For a base catalog, where its key comes from.
    remarks
        What was not understood, a sentence each.
    """

    resource: Resource
    name: str
    definition: Catalog
    columns: tuple[str, ...]
    key: TableKey | None = None
    remarks: tuple[str, ...] = ()

    @property
    def is_base(self) -> bool:
        """Whether the rows are known by name alone, and not by a query."""
        return self.key is not None


def find_column(table: ProjectTable, name: str) -> Attribute | None:
    """Return the attribute of a column of a table; None without such a column, or if the name is an expression."""
    plain = name.strip().strip('"`[]')
    matches = matching_names(plain, table.columns)
    return table.definition.schema[matches[0]] if len(matches) == 1 else None


class QueryTables:
    """The tables that queries of a project can name."""

    def __init__(self) -> None:
        self._by_relation: dict[tuple[str, ...], ProjectTable] = {}
        self._by_name: dict[str, list[ProjectTable]] = {}

    def add(self, table: ProjectTable) -> None:
        """Add a table under its name in the warehouse."""
        relation = table.resource.relation
        if relation:
            self._by_relation[relation] = table
            self._by_name.setdefault(relation[-1], []).append(table)

    def find(self, parts: Sequence[str]) -> ProjectTable:
        """Return the table with a name; leading parts may be missing.

        Raises
        ------
        UnknownCatalogError
            If there is no such table, or several.
        """
        wanted = tuple(part.lower() for part in parts)
        exact = self._by_relation.get(wanted)
        if exact is not None:
            return exact
        candidates = [
            table
            for table in self._by_name.get(wanted[-1], ())
            if table.resource.relation[-len(wanted) :] == wanted
            or wanted[-len(table.resource.relation) :] == table.resource.relation
        ]
        if len(candidates) != 1:
            name = ".".join(parts)
            raise UnknownCatalogError(
                f"several tables may be {name}" if candidates else f"the project has no table {name}",
                hint=did_you_mean(wanted[-1], self._by_name)
                or "each table that a model reads is a source, seed or model",
            )
        return candidates[0]


class QueryTranslator(Protocol):
    """Translates queries into catalogs."""

    def translate(self, text: str, dialect: str, tables: QueryTables) -> TranslatedQuery:
        """Return the catalog of a query, from its text, its dialect and the tables it can name."""

    def add_fact(self, base: Catalog, violation: Violation) -> None:
        """Add the fact that a base table has no rows that would make a test fail."""


FindColumns = Callable[[Resource], Sequence[FileColumn]]
"""Returns the columns of a base table."""


@dataclass(frozen=True, slots=True)
class ProjectTables:
    """The catalogs of a project.

    Parameters
    ----------
    manifest
        The project.
    tables
        The tables by the identities of their resources, each after those that it is made from.
    left_out
        Why models have no catalog, by identity.
    by_relation
        The tables that queries can name.
    names
        The names of all resources, by identity.
    """

    manifest: DbtManifest
    tables: Mapping[str, ProjectTable]
    left_out: Mapping[str, str]
    by_relation: QueryTables
    names: Mapping[str, str] = field(repr=False)


def build_tables(
    manifest: DbtManifest,
    find_columns: FindColumns,
    translator: QueryTranslator,
    *,
    known_bases: Mapping[str, BaseTable] | None = None,
    populations: Mapping[str, Population] | None = None,
    full_refresh: bool = False,
) -> ProjectTables:
    """Return the catalogs of a project.

    Parameters
    ----------
    manifest
        The project.
    find_columns
        Finds the columns of sources and seeds.
    translator
        Translates the compiled SQL of models.
    known_bases
        Base catalogs that are there already, by the identities of the resources.
    populations
        The populations that are there already, by name.
    full_refresh
        Whether incremental models are taken to hold the rows of their queries, as after ``dbt build --full-refresh``.

    Raises
    ------
    ManifestError
        If the columns of a source or seed are not known.
    """
    names = choose_names(manifest.resources.values())
    builder = _Builder(
        manifest, find_columns, translator, known_bases or {}, dict(populations or {}), full_refresh, names
    )
    for identity, resource in manifest.resources.items():
        builder.add(identity, resource)
    return ProjectTables(manifest, builder.tables, builder.left_out, builder.by_relation, names)


@dataclass(slots=True)
class _Builder:
    """Builds the tables of a project in sequence."""

    manifest: DbtManifest
    find_columns: FindColumns
    translator: QueryTranslator
    known_bases: Mapping[str, BaseTable]
    populations: dict[str, Population]
    full_refresh: bool
    names: Mapping[str, str]
    tables: dict[str, ProjectTable] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    by_relation: QueryTables = field(default_factory=QueryTables)
    tests: dict[str, list[DataTest]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for test in self.manifest.tests:
            self.tests.setdefault(test.resource, []).append(test)

    def add(self, identity: str, resource: Resource) -> None:
        """Add the table of a resource, or the reason for a missing table."""
        table = self._build_table(identity, resource)
        if table is not None:
            self.tables[identity] = table
            self.by_relation.add(table)

    def _build_table(self, identity: str, resource: Resource) -> ProjectTable | None:
        if resource.kind in ("seed", "source"):
            return self._build_base(resource, "")
        if resource.kind == "snapshot":
            return self._build_base(self._identify_rows(resource), "")
        is_query = resource.is_query or (self.full_refresh and resource.materialized == "incremental")
        if not is_query:
            return self._build_model_base(identity, resource, _explain_materialisation(resource))
        missing = [self.names[parent] for parent in resource.depends_on if parent in self.left_out]
        if missing:
            return self._build_model_base(identity, resource, f"it is made from {missing[0]}, which was left out")
        try:
            query = self.translator.translate(resource.code, self.manifest.dialect, self.by_relation)
        except ProvennError as error:
            return self._build_model_base(identity, resource, error.message.splitlines()[0])
        return ProjectTable(resource, self.names[identity], query.definition, query.columns, remarks=query.remarks)

    def _build_model_base(self, identity: str, resource: Resource, reason: str) -> ProjectTable | None:
        """Return a model known by its columns alone; None if the columns are not known either."""
        try:
            return self._build_base(self._identify_rows(resource), reason)
        except ManifestError:
            self.left_out[identity] = reason
            return None

    def _identify_rows(self, resource: Resource) -> Resource:
        """Return a resource with rows known by name, as long as the SQL and all inputs stay the same."""
        parents = [
            self.tables[parent].definition.digest if parent in self.tables else parent
            for parent in sorted(resource.depends_on)
        ]
        code = normalize_code(resource, self.manifest.resources)
        return replace(resource, checksum=content_digest("dbt", [code, parents]))

    def _build_base(self, resource: Resource, remark: str) -> ProjectTable:
        base = self.known_bases.get(resource.unique_id)
        if base is None:
            columns = self.find_columns(resource)
            key = find_key(resource, columns, self.tests.get(resource.unique_id, ()))
            base = build_base(resource, self.names[resource.unique_id], columns, key, self.populations)
        population = base.definition.population
        self.populations.setdefault(population.name, population)
        remarks = (remark,) if remark else ()
        table = ProjectTable(resource, self.names[resource.unique_id], base.definition, base.columns, base.key, remarks)
        for test in self.tests.get(resource.unique_id, ()):
            attribute = find_column(table, test.columns[0]) if test.kind == "not_null" else None
            if attribute is not None and attribute.nullable and test.is_error and not test.unreadable:
                rows = verbs.select(table.definition, f"{backquoted(attribute.name)} IS NULL")
                self.translator.add_fact(table.definition, Violation(test, rows))
        return table


def _explain_materialisation(resource: Resource) -> str:
    """Return why the rows of a model may differ from the rows of its query."""
    if resource.materialized == "incremental":
        return "it is incremental: its rows depend on earlier runs"
    return f"it is a {resource.materialized or 'model'} of dbt, which is not known by a query"
