"""Catalogs defined by queries in SQL: catalogs of the archive are tables, their attributes are columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NoReturn

from provenn.archive.context import Context
from provenn.archive.new_catalogs import define_catalog
from provenn.archive.notices import Notice
from provenn.archive.references import find_definitions
from provenn.catalogs import Base, Catalog
from provenn.criteria import Type
from provenn.database.transactions import Reading
from provenn.definitions import catalog_names, populations
from provenn.errors import ContradictionError, SparkNeededError, UnknownCatalogError, did_you_mean
from provenn.logic import Statement

if TYPE_CHECKING:
    from provenn.queries.query_reading import QueryTable
    from provenn.queries.translating import ColumnType
    from provenn.queries.translation import Translation
    from provenn.queries.tree import Node

__all__ = ["ArchiveTables", "define_query", "translate_node", "translate_text"]


_UPLOADS: Final = "tap_upload"
"""The schema of tables that come with a request."""


@dataclass(slots=True)
class ArchiveTables:
    """The catalogs of an archive as tables of a query; catalogs named in a query are remembered.

    Parameters
    ----------
    reading
        The transaction.
    named_tables
        Catalogs by the names of tables in lower case, which come before names of the archive.
    schemas
        Names of schemas in lower case, which may come before the names of tables and mean nothing.
    used
        The catalogs that were named so far, by the names of tables.
    uploads
        Tables that came with a request, by names in lower case: the positions of their rows are no columns.
    """

    reading: Reading
    named_tables: Mapping[str, Catalog]
    schemas: frozenset[str] = frozenset()
    used: dict[str, Catalog] = field(default_factory=dict)
    uploads: Mapping[str, Base] = field(default_factory=dict)

    def find_table(self, parts: tuple[str, ...]) -> QueryTable:
        """Return the table with a name.

        Raises
        ------
        UnknownCatalogError
            If there is none; the hint names similar ones.
        """
        from provenn.queries.query_reading import QueryTable  # noqa: PLC0415 - sqlglot takes long to import

        name = ".".join(parts)
        upload = self.uploads.get(name.lower())
        if upload is not None:
            self.used[name] = upload
            names = tuple(column for column in upload.schema.names if column not in upload.key)
            return QueryTable(name, names, types=_list_types(upload))
        if len(parts) > 1 and parts[0].lower() == _UPLOADS and (self.uploads or self.schemas):
            self._refuse_upload(".".join(parts[1:]))
        catalog = self.used.get(name) or self.named_tables.get(name.lower())
        if catalog is None:
            has_schema = len(parts) > 1 and parts[0].lower() in self.schemas
            catalog = self._find_named(".".join(parts[1:]) if has_schema else name)
        self.used[name] = catalog
        units = {attribute.name: attribute.unit for attribute in catalog.schema.attributes if attribute.unit}
        return QueryTable(name, catalog.schema.names, units, _list_types(catalog))

    def _refuse_upload(self, name: str) -> NoReturn:
        """Raise the error of a name that no uploaded table has."""
        known = [upload.partition(".")[2] for upload in self.uploads]
        hint = did_you_mean(name.lower(), known)
        if not hint:
            listed = f"the uploaded tables are {', '.join(known)}" if known else "no table came with this query"
            hint = f"{listed}: send it with UPLOAD={name[:40]},param:part"
        raise UnknownCatalogError(f"there is no uploaded table {name[:100]}", hint=hint)

    def _find_named(self, name: str) -> Catalog:
        """Return the catalog with a name; case counts only where several names differ in nothing else."""
        if catalog_names.find_named_digest(self.reading, name) is None:
            alike = [
                entry.name for entry in catalog_names.list_names(self.reading) if entry.name.lower() == name.lower()
            ]
            if len(alike) > 1:
                raise UnknownCatalogError(f"{name} may be any of {', '.join(alike)}", hint="write it in backquotes")
            name = alike[0] if alike else name
        return find_definitions(self.reading, [name])[0]


def _list_types(catalog: Catalog) -> dict[str, Type]:
    """Return the types of the attributes of a catalog by name."""
    return {attribute.name: attribute.type for attribute in catalog.schema.attributes}


def define_query(
    context: Context,
    text: str,
    name: str | None,
    dialect: str,
    tables: Mapping[str, Catalog],
    *,
    schemas: Sequence[str] = (),
) -> Translation:
    """Define the catalog of a query, and name the catalog; see `Archive.sql`."""
    translation = translate_text(context, text, dialect, tables, schemas=schemas)
    define_catalog(context, translation.catalog, name)
    label = name or "the query"
    context.workshop.notices.tell(Notice("not understood", f"{label}: {remark}") for remark in translation.remarks)
    return translation


def translate_text(
    context: Context,
    text: str,
    dialect: str,
    tables: Mapping[str, Catalog],
    *,
    schemas: Sequence[str] = (),
    most: int | None = None,
    is_request: bool = False,
    keeps_order: bool = False,
    takes_first: bool = True,
    uploads: Mapping[str, Base] | None = None,
    starts_spark: bool = True,
) -> Translation:
    """Return the catalog of a query, without storing anything; see `provenn.queries.translation.translate`.

    `uploads` are tables that came with a request; see `ArchiveTables`. If Spark must not be started (`starts_spark`),
    a part whose types only Spark knows raises a `SparkNeededError`.
    """
    from provenn.queries.query_reading import read_query  # noqa: PLC0415 - sqlglot takes long to import

    with context.database.reading() as reading:
        named_tables = {key.lower(): catalog for key, catalog in tables.items()}
        archive_tables = ArchiveTables(reading, named_tables, frozenset(schema.lower() for schema in schemas))
        archive_tables.uploads = uploads or {}
        node = read_query(text, archive_tables, dialect)
        return translate_node(
            context,
            reading,
            node,
            archive_tables.used,
            most=most,
            is_request=is_request,
            keeps_order=keeps_order,
            takes_first=takes_first,
            starts_spark=starts_spark,
        )


def translate_node(
    context: Context,
    reading: Reading,
    node: Node,
    catalogs: Mapping[str, Catalog],
    *,
    most: int | None = None,
    is_request: bool = False,
    keeps_order: bool = False,
    takes_first: bool = True,
    starts_spark: bool = True,
) -> Translation:
    """Return the catalog meant by the tree of a query.

    Parameters
    ----------
    context
        The context of the archive.
    reading
        The transaction.
    node
        The tree.
    catalogs
        The catalogs of its tables, by name.
    most, is_request, keeps_order, takes_first
        As for `translate`.
    starts_spark
        Whether Spark may be started for the types of a part that provenn does not understand.
    """
    from provenn.queries.translation import translate  # noqa: PLC0415 - sqlglot takes long to import
    from provenn.targets.known import collect_knowledge  # noqa: PLC0415 - few queries need a proof

    def prove(statement: Statement, about: Sequence[Catalog]) -> bool:
        try:
            return collect_knowledge(reading, *about).knowledge.entails(statement)
        except ContradictionError:  # contradictory facts prove nothing
            return False

    def find_types(text: str, inputs: Sequence[Catalog]) -> Sequence[ColumnType]:
        if not starts_spark:
            raise SparkNeededError("only Spark knows the types of a part of the query")
        from provenn.spark.query_types import find_column_types  # noqa: PLC0415 - few queries are opaque

        schemas = {f"input_{position}": catalog.schema for position, catalog in enumerate(inputs, 1)}
        return find_column_types(context.workshop.pipeline().engine, text, schemas)

    def find_population(name: str) -> list[str] | None:
        population = populations.find_population(reading, name)
        return None if population is None else [str(kind) for kind in population.key]

    return translate(
        node,
        catalogs,
        prove=prove,
        find_types=find_types,
        find_population=find_population,
        most=most,
        is_request=is_request,
        keeps_order=keeps_order,
        takes_first=takes_first,
    )
