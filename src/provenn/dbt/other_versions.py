"""Compare folders of SQL files, and archives, as manifests are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from provenn.archive import Archive
from provenn.catalogs import Base, Catalog
from provenn.database.transactions import Reading
from provenn.dbt.bases import BaseTable, TableKey, is_hidden_key
from provenn.dbt.column_types import ColumnSources
from provenn.dbt.comparing import compare_tables
from provenn.dbt.differing import ProjectChanges, ProjectVersion, compare_versions
from provenn.dbt.sql_folders import read_folder
from provenn.definitions import catalog_names, catalog_store

__all__ = ["compare_archives", "compare_folders"]


@dataclass(frozen=True, slots=True)
class _NamedCatalog:
    """A catalog of an archive, with a name."""

    name: str
    definition: Catalog
    columns: tuple[str, ...]


def compare_folders(
    old: Path,
    new: Path,
    *,
    archive: Archive | None = None,
    keys: Mapping[str, Sequence[str]] | None = None,
    dialect: str = "spark",
) -> ProjectChanges:
    """Return the changes of the queries in a folder of SQL files.

    Parameters
    ----------
    old, new
        The folders.
    archive
        The archive whose catalogs are tables, if no file creates them.
    keys
        The key columns of tables that files create, by name.
    dialect
        The dialect of the SQL.

    Raises
    ------
    ManifestError
        If a file cannot be read, or a table is created nowhere.
    """
    known = {} if archive is None else archive.context.read(_list_tables)
    versions = [
        ProjectVersion(read_folder(folder, dialect, known, keys or {}), ColumnSources(dialect, {}, None))
        for folder in (old, new)
    ]
    created = {
        identity
        for version in versions
        for identity, resource in version.manifest.resources.items()
        if resource.kind == "model" or resource.columns
    }
    unchanged = {name: table for name, table in known.items() if name not in created}
    return compare_versions(versions[0], versions[1], known_bases=unchanged)


def compare_archives(old: Archive, new: Archive) -> ProjectChanges:
    """Return the changes of the catalogs of an archive, by name, from their definitions alone."""
    before, after = (archive.context.read(_list_catalogs) for archive in (old, new))
    edited = {
        name
        for name in before.keys() | after.keys()
        if name not in before or name not in after or before[name].definition != after[name].definition
    }
    changes = compare_tables(
        {name: table for name, table in before.items() if name in edited},
        {name: table for name, table in after.items() if name in edited},
    )
    return ProjectChanges(tuple(changes), tuple(sorted(edited)), len(after.keys() - edited), ())


def _list_catalogs(reading: Reading) -> dict[str, _NamedCatalog]:
    """Return the named catalogs of an archive, by name."""
    records = catalog_names.list_names(reading)
    definitions = catalog_store.get_catalogs(reading, {record.catalog for record in records}) if records else {}
    return {
        record.name: _NamedCatalog(record.name, definitions[record.catalog], _list_columns(definitions[record.catalog]))
        for record in records
    }


def _list_columns(definition: Catalog) -> tuple[str, ...]:
    """Return the attributes of a catalog without hidden keys."""
    hidden = definition.files.row_key if isinstance(definition, Base) else ()
    return tuple(name for name in definition.schema.names if name not in hidden and not is_hidden_key(name))


def _list_tables(reading: Reading) -> dict[str, BaseTable]:
    """Return the catalogs of an archive as tables for queries, by name in lower case."""
    tables = {}
    for name, table in _list_catalogs(reading).items():
        key = tuple(attribute.name for attribute in table.definition.schema.key if attribute.name in table.columns)
        tables[name.lower()] = BaseTable(table.definition, table.columns, TableKey(key))
    return tables
