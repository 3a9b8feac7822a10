"""The contents of a manifest of dbt: models, seeds, sources and snapshots, and the tests of their data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

__all__ = [
    "QUERIES",
    "Constant",
    "DataTest",
    "DbtManifest",
    "Resource",
    "ResourceColumn",
    "ResourceKind",
    "TestKind",
    "normalize_code",
]

ResourceKind = Literal["model", "seed", "snapshot", "source"]
TestKind = Literal["accepted_values", "not_null", "relationships", "unique", "query"]
Constant = str | int | float | bool

QUERIES: Final = frozenset({"ephemeral", "materialized_view", "table", "view"})
"""The materialisations whose rows are those of the query."""


@dataclass(frozen=True, slots=True)
class ResourceColumn:
    """A column described by the project.

    Parameters
    ----------
    name
        Its name.
    data_type
        Its type in the warehouse; empty if the project does not state it.
    constraints
        The constraints of the column, such as ``primary_key`` and ``not_null``.
    """

    name: str
    data_type: str = ""
    constraints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Resource:
    """A model, seed, snapshot or source.

    Parameters
    ----------
    unique_id
        Its identity in the manifest, such as ``model.shop.orders``.
    kind
        What it is.
    name
        Its name, unique among the resources of a package.
    package
        The package that defines it.
    relation
        The parts of its name in the warehouse, in lower case; empty if it has no table there.
    columns
        The columns that the project describes; there may be others.
    code
        The compiled SQL of a model; empty for others.
    materialized
        The materialisation, such as ``table``; ``python`` for a model in Python.
    depends_on
        The resources that the compiled SQL reads.
    path
        The file of the resource, relative to the folder of the project.
    column_types
        The types of columns in the configuration of a seed.
    primary_key
        The columns of a constraint of the whole table.
    relation_name
        Its name in the compiled SQL of other resources.
    checksum
        The digest of what decides about the rows of a table that is known by name alone: of the file of a seed; empty
        if nothing is known of it.
    """

    unique_id: str
    kind: ResourceKind
    name: str
    package: str
    relation: tuple[str, ...] = ()
    columns: tuple[ResourceColumn, ...] = ()
    code: str = ""
    materialized: str = ""
    depends_on: tuple[str, ...] = ()
    path: str = ""
    column_types: tuple[tuple[str, str], ...] = ()
    primary_key: tuple[str, ...] = ()
    relation_name: str = ""
    checksum: str = ""

    @property
    def is_query(self) -> bool:
        """Whether the rows are exactly those of the compiled SQL, regardless of earlier rows."""
        return self.kind == "model" and self.materialized in QUERIES


def normalize_code(resource: Resource, resources: Mapping[str, Resource]) -> str:
    """Return the SQL of a resource with the identities of resources instead of their names in the warehouse.

    Projects are often built in schemas of their own: the schema changes nothing about the rows.
    """
    code = resource.code
    parents = [resources[parent] for parent in resource.depends_on if parent in resources]
    for parent in sorted(parents, key=lambda parent: -len(parent.relation_name)):
        if parent.relation_name:
            code = code.replace(parent.relation_name, f"<{parent.unique_id}>")
    return code


@dataclass(frozen=True, slots=True)
class DataTest:
    """A test of the data of a project.

    Parameters
    ----------
    unique_id
        Its identity in the manifest.
    name
        Its name.
    kind
        ``"query"`` for a test that is known by its compiled SQL alone: it passes if the query has no rows.
    resource
        The tested resource; empty for a test by a query of its own.
    columns
        The tested columns.
    values
        The values of ``accepted_values``.
    is_quoted
        Whether these values are texts in the warehouse, whatever they are in the project.
    parent, field
        The resource and column of ``relationships``.
    code
        The compiled SQL.
    depends_on
        The resources that the test reads.
    allows_nulls
        For ``unique``: whether rows in which a column is NULL are not compared.
    is_error
        Whether a failure stops a build; otherwise it is a warning.
    unreadable
        Why the test says nothing about rows, such as a threshold for failures; empty if it does.
    """

    unique_id: str
    name: str
    kind: TestKind
    resource: str = ""
    columns: tuple[str, ...] = ()
    values: tuple[Constant, ...] = ()
    is_quoted: bool = True
    parent: str = ""
    field: str = ""
    code: str = ""
    depends_on: tuple[str, ...] = ()
    allows_nulls: bool = True
    is_error: bool = True
    unreadable: str = ""


@dataclass(frozen=True, slots=True)
class DbtManifest:
    """A project of dbt.

    Parameters
    ----------
    project
        The name of the project.
    adapter
        The adapter of the warehouse, such as ``duckdb``.
    dialect
        The dialect of the compiled SQL, by the name that sqlglot gives it.
    resources
        The resources by their identities, each after those that it depends on.
    tests
        The tests, sorted by their identities.
    """

    project: str
    adapter: str
    dialect: str
    resources: Mapping[str, Resource]
    tests: tuple[DataTest, ...]
