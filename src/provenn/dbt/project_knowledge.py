"""The knowledge about catalogs stored nowhere, from their definitions alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Protocol

from provenn.catalogs import Catalog, cone
from provenn.criteria import AttributeIdentity
from provenn.definitions.ancestors import StoredDefinition
from provenn.digests import CatalogDigest
from provenn.knowledge.consequences import TracedKnowledge, build_knowledge
from provenn.knowledge.stored_facts import Fact
from provenn.logic import Statement, empty
from provenn.logic.statements import SetComparison
from provenn.words.vocabulary import Vocabulary

__all__ = [
    "NamedTable",
    "collect_catalogs",
    "gather_knowledge",
    "is_renaming",
    "make_fact",
    "make_vocabulary",
    "name_steps",
]


class NamedTable(Protocol):
    """A catalog with a name."""

    @property
    def name(self) -> str:
        """The name."""

    @property
    def definition(self) -> Catalog:
        """The catalog."""


def gather_knowledge(catalogs: Iterable[Catalog], facts: Iterable[Fact] = ()) -> TracedKnowledge:
    """Return the knowledge about catalogs and their lineage."""
    return build_knowledge([_describe(catalog) for catalog in cone(*catalogs)], facts)


def _describe(catalog: Catalog) -> StoredDefinition:
    """Return a definition in the form held by an archive."""
    return StoredDefinition(
        catalog.digest,
        catalog.kind,
        catalog.population.name,
        catalog.parameters(),
        catalog.notes(),
        catalog.extent.digest,
        tuple(dependency.digest for dependency in catalog.dependencies),
    )


def make_fact(number: int, rows: Catalog, reason: str) -> Fact:
    """Return the fact that some rows do not exist, held true by a project of dbt.

    The fact names base sets and criteria, and not the catalog of the rows: then the fact is also about the sources
    that refer to the rows.
    """
    region = rows.extent.to_term()
    statement = empty(rows.digest if region is None else region)
    return Fact(number, statement, reason, "declared", "dbt", datetime.now(UTC))


def collect_catalogs(catalogs: Iterable[Catalog]) -> dict[CatalogDigest, Catalog]:
    """Return catalogs with their whole lineage, by digest."""
    return {catalog.digest: catalog for catalog in cone(*catalogs)}


def name_steps(tables: Iterable[NamedTable], others: Mapping[CatalogDigest, str]) -> dict[CatalogDigest, str]:
    """Return names for tables, for further catalogs, and for the nameless steps that lead to a table.

    Steps with the sources of a table are called like the table.
    """
    names: dict[CatalogDigest, str] = {}
    named = list(tables)
    for table in named:
        names.setdefault(table.definition.digest, table.name)
    for table in named:
        stack, steps = [table.definition], 0
        while stack:
            for dependency in stack.pop().dependencies:
                if dependency.digest not in names:
                    is_same = dependency.extent == table.definition.extent
                    steps += not is_same
                    names[dependency.digest] = table.name if is_same else f"{table.name} step {steps}"
                    stack.append(dependency)
    return {**names, **{digest: name for digest, name in others.items() if digest not in names}}


def is_renaming(statement: Statement) -> bool:
    """Return whether a statement says only that two labels have the same sources."""
    match statement:
        case SetComparison("==", left, right):
            return left.label is not None and right.label is not None
    return False


def make_vocabulary(catalogs: Mapping[CatalogDigest, Catalog], names: Mapping[CatalogDigest, str]) -> Vocabulary:
    """Return the words for catalogs and their attributes.

    Parameters
    ----------
    catalogs
        The catalogs, with their lineage.
    names
        The names of some of them.
    """
    attributes: dict[AttributeIdentity, str] = {}
    # The name of an attribute where it is defined: catalogs come after their dependencies.
    for catalog in catalogs.values():
        for attribute in catalog.schema.attributes:
            attributes.setdefault(attribute.identity, attribute.name)
    return Vocabulary(dict(names.items()), attributes, catalogs)
