"""Import a project into an archive: a catalog for each model, on base catalogs of the sources and seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from provenn.archive import Archive
from provenn.catalogs import Base, Population
from provenn.database.transactions import Reading, Writing
from provenn.dbt.bases import BaseTable, TableKey, find_key, is_hidden_key
from provenn.dbt.column_types import ColumnSources, find_seed_file
from provenn.dbt.manifest import find_manifest, read_manifest
from provenn.dbt.names import choose_names
from provenn.dbt.resources import DbtManifest, Resource
from provenn.dbt.tables import ProjectTables, Violation, build_tables
from provenn.dbt.translation import Translator
from provenn.dbt.violations import read_tests
from provenn.definitions import catalog_names, catalog_store, populations
from provenn.errors import CatalogNameError, ManifestError, did_you_mean
from provenn.hints import Hint
from provenn.knowledge.bulk_declarations import declare_empty

__all__ = ["ImportedModel", "ImportedProject", "import_project"]


@dataclass(frozen=True, slots=True)
class ImportedModel:
    """A resource of the project, imported as a catalog.

    Attributes
    ----------
    name
        The name of the catalog.
    kind
        "model", "seed", "snapshot" or "source".
    digest
        The digest of the catalog.
    remarks
        What was not understood, a sentence each.
    """

    name: str
    kind: str
    digest: str
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ImportedProject:
    """The result of an import.

    Attributes
    ----------
    models
        The imported resources, each after those that it is made from.
    new
        The number of catalogs that are new to the archive.
    facts
        The number of facts that are new to the archive.
    left_out
        The models without a catalog, with the reason.
    """

    models: tuple[ImportedModel, ...]
    new: int
    facts: int
    left_out: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        number = sum(model.kind == "model" for model in self.models)
        bases = len(self.models) - number
        lines = [f"{number} models, {bases} sources and seeds, {self.new} new catalogs, {self.facts} new facts"]
        lines += [f"  {model.name}: {remark}" for model in self.models for remark in model.remarks]
        lines += [f"  {name} was left out: {reason}" for name, reason in self.left_out]
        return "\n".join(lines)


def import_project(
    archive: Archive,
    manifest: str | PathLike[str],
    *,
    data: Mapping[str, str | PathLike[str]] | None = None,
    dialect: str | None = None,
    full_refresh: bool = False,
    replace: bool = False,
) -> ImportedProject:
    """Make a catalog of each model of a project, and a fact of each test.

    A source or seed is the catalog of the same name, if the archive has such a catalog; otherwise a base catalog on the
    given data or on the file of the seed; otherwise a base catalog with known columns alone, from which nothing can be
    computed.

    Parameters
    ----------
    archive
        The archive.
    manifest
        The file ``target/manifest.json``, or the folder of the project.
    data
        Files of sources and seeds, by name.
    dialect
        The dialect of the compiled SQL; by default that of the adapter.
    full_refresh
        Whether incremental models are taken to hold the rows of their queries.
    replace
        Whether names of models that belong to other catalogs are moved to the new ones, as new versions.

    Raises
    ------
    ManifestError
        If the manifest cannot be read, or the columns of a source or seed are not known.
    CatalogNameError
        If the name of a model belongs to another catalog.
    ContradictionError
        If a test contradicts a known fact.
    """
    file = find_manifest(manifest)
    project = read_manifest(file, dialect=dialect)
    columns = ColumnSources.beside(file, project.dialect)
    names = choose_names(project.resources.values())
    files_by_name = dict(data or {})
    _check_data(files_by_name, project, names)
    known = archive.context.read(_read_populations)
    bases = _find_bases(archive, project, names, files_by_name, _Seeds(columns, columns.folder))
    translator = Translator(known)
    tables = build_tables(
        project, columns.find_columns, translator, known_bases=bases, populations=known, full_refresh=full_refresh
    )
    violations = [violation for violation in read_tests(tables, translator).violations if violation.test.is_error]
    new, facts = archive.context.write(_write_project, tables, violations, replace=replace)
    return ImportedProject(
        tuple(
            ImportedModel(table.name, table.resource.kind, table.definition.digest, table.remarks)
            for table in tables.tables.values()
        ),
        new,
        facts,
        tuple((names[identity], reason) for identity, reason in tables.left_out.items()),
    )


@dataclass(frozen=True, slots=True)
class _Seeds:
    """Where seeds and their columns are."""

    columns: ColumnSources
    folder: Path | None


def _check_data(data: Mapping[str, object], project: DbtManifest, names: Mapping[str, str]) -> None:
    """Refuse data for anything but a source or seed."""
    tables = [names[identity] for identity, resource in project.resources.items() if not resource.is_query]
    for name in data:
        if name not in tables:
            raise ManifestError(f"the project has no source or seed {name}", hint=did_you_mean(name, tables))


def _read_populations(reading: Reading) -> dict[str, Population]:
    """Return all populations of the archive by name."""
    named = ((name, populations.find_population(reading, name)) for name in populations.list_population_names(reading))
    return {name: population for name, population in named if population is not None}


def _find_bases(
    archive: Archive,
    project: DbtManifest,
    names: Mapping[str, str],
    data: Mapping[str, str | PathLike[str]],
    seeds: _Seeds,
) -> dict[str, BaseTable]:
    """Return the base catalogs held by the archive or made of files, by the identities of resources."""
    bases = {}
    for identity, resource in project.resources.items():
        if resource.kind == "model" and resource.is_query:
            continue
        name = names[identity]
        digest = archive.context.read(catalog_names.find_named_digest, name)
        if digest is None:
            _ingest_table(archive, project, (resource, name), data.get(name), seeds)
            digest = archive.context.read(catalog_names.find_named_digest, name)
        if digest is not None and resource.kind != "model":
            definition = archive[name].definition
            hidden = definition.files.row_key if isinstance(definition, Base) else ()
            visible = [column for column in definition.schema.names if column not in hidden]
            shown = tuple(column for column in visible if not is_hidden_key(column))
            key = tuple(attribute.name for attribute in definition.schema.key if attribute.name in shown)
            bases[identity] = BaseTable(definition, shown, TableKey(key))
    return bases


def _ingest_table(
    archive: Archive,
    project: DbtManifest,
    named: tuple[Resource, str],
    path: str | PathLike[str] | None,
    seeds: _Seeds,
) -> None:
    """Make a base catalog of given data or of the file of a seed; without either, do nothing."""
    resource, name = named
    schema: dict[str, str] | None = None
    if path is None:
        path = find_seed_file(resource, seeds.folder)
        if path is None:
            return
        columns = seeds.columns.find_columns(resource)
        schema = {column.name: str(column.type) for column in columns if column.type.scalar}
    else:
        columns = archive.context.workshop.inspect_files(path).columns
    key = find_key(resource, columns, project.tests)
    archive.ingest(name, path, key=key.columns or None, population=name, schema=schema)


def _write_project(
    writing: Writing, tables: ProjectTables, violations: list[Violation], *, replace: bool
) -> tuple[int, int]:
    """Add the catalogs, their names and the facts; return how many catalogs and facts are new."""
    definitions = [table.definition for table in tables.tables.values()]
    rows = [violation.rows for violation in violations]
    new = catalog_store.add_catalogs(writing, *definitions, *rows) if definitions else 0
    moved = {}
    for table in tables.tables.values():
        digest = catalog_names.find_named_digest(writing, table.name)
        if digest is None or digest == table.definition.digest:
            catalog_names.assign_name(writing, table.name, table.definition.digest)
        elif replace:
            moved[table.name] = table.definition.digest
        else:
            raise CatalogNameError(
                f"{table.name} already names another catalog",
                hint=Hint("move the name to the new version: replace=True", command="move the name: --replace"),
            )
    if moved:
        catalog_names.move_names(writing, moved)
    facts = declare_empty(writing, [(violation.rows, f"test {violation.test.name} of dbt") for violation in violations])
    return new, facts
