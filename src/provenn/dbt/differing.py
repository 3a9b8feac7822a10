"""Compare two manifests, for example before and after a pull request.

A model with unchanged SQL on unchanged models and tables holds the same rows. So only models with changed SQL, and the
models made from changed models, are translated and compared, on base tables shared by both projects.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from provenn.dbt.bases import BaseTable, TableKey, build_base, find_key
from provenn.dbt.column_types import ColumnSources
from provenn.dbt.comparing import TableChange, compare_tables
from provenn.dbt.manifest import find_manifest, read_manifest
from provenn.dbt.names import choose_names
from provenn.dbt.resources import DataTest, DbtManifest, Resource, normalize_code
from provenn.dbt.tables import ProjectTable, ProjectTables, Violation, build_tables
from provenn.dbt.translation import Translator
from provenn.dbt.violations import read_tests
from provenn.files.columns import FileColumn

__all__ = ["ProjectChanges", "ProjectVersion", "compare_manifests", "compare_versions"]


@dataclass(frozen=True, slots=True)
class ProjectChanges:
    """The changes of the models of a project.

    Parameters
    ----------
    changes
        What became of each model that has other SQL, is made from such a model, is new, or is gone.
    edited
        The models with other SQL.
    untouched
        How many models have the same SQL and are made from none of these.
    unread
        Models that were not understood, with the reason.
    """

    changes: tuple[TableChange, ...]
    edited: tuple[str, ...]
    untouched: int
    unread: tuple[tuple[str, str], ...]

    @property
    def affected(self) -> tuple[TableChange, ...]:
        """The models not proved to be the same."""
        return tuple(change for change in self.changes if not change.is_unaffected)

    @property
    def unaffected(self) -> tuple[str, ...]:
        """The models with changed SQL, or made from changed models, and yet proved to be the same."""
        return tuple(change.name for change in self.changes if change.is_unaffected)


def compare_manifests(
    old: str | Path, new: str | Path, *, dialect: str | None = None, full_refresh: bool = False
) -> ProjectChanges:
    """Return the changes of the models of a project.

    Parameters
    ----------
    old, new
        The manifests, or the folders of projects.
    dialect
        The dialect of the compiled SQL; by default that of the adapter.
    full_refresh
        Whether incremental models are taken to hold the rows of their queries.

    Raises
    ------
    ManifestError
        If a manifest cannot be read, or the columns of a base table are not known.
    """
    sides = [ProjectVersion.read(path, dialect) for path in (old, new)]
    return compare_versions(*sides, full_refresh=full_refresh)


def compare_versions(
    old: ProjectVersion,
    new: ProjectVersion,
    *,
    known_bases: Mapping[str, BaseTable] | None = None,
    full_refresh: bool = False,
) -> ProjectChanges:
    """Return the changes of the models of a project.

    Parameters
    ----------
    old, new
        Both versions.
    known_bases
        Base tables of both versions that are there already, by the identities of the resources.
    full_refresh
        Whether incremental models are taken to hold the rows of their queries.

    Raises
    ------
    ManifestError
        If the columns of a base table are not known.
    """
    sides = [old, new]
    before, after = old.manifest, new.manifest
    edited = _find_edited(before, after)
    affected = _find_descendants(edited, before) | _find_descendants(edited, after)
    needed = _find_ancestors(affected, before) | _find_ancestors(affected, after)
    known = dict(known_bases or {})
    shared = _share_bases(sides, needed - known.keys())
    translator = Translator()
    projects = [
        build_tables(
            _reduce(side.manifest, needed),
            side.columns.find_columns,
            translator,
            known_bases={**known, **bases},
            full_refresh=full_refresh,
        )
        for side, bases in zip(sides, shared, strict=True)
    ]
    tests = _list_tests(projects, translator)
    tables = [_choose_models(project, affected) for project in projects]
    models = [resource for resource in after.resources.values() if resource.kind == "model"]
    unread = {
        (project.names[identity], reason)
        for project in projects
        for identity, reason in _list_unread(project)
        if identity in affected
    }
    left_out = {name for name, _ in unread if not any(name in side for side in tables)}
    changes = [
        *compare_tables(tables[0], tables[1], tests),
        *(TableChange(name, "unknown", reason=reason) for name, reason in unread if name in left_out),
    ]
    names = choose_names(after.resources.values()) | choose_names(before.resources.values())
    return ProjectChanges(
        tuple(sorted(changes, key=lambda change: change.name)),
        tuple(sorted(names[identity] for identity in edited if identity in names)),
        sum(resource.unique_id not in affected for resource in models),
        tuple(sorted(unread)),
    )


@dataclass(frozen=True, slots=True)
class ProjectVersion:
    """A single version of a project.

    Parameters
    ----------
    manifest
        Its resources and tests.
    columns
        Where the columns of its base tables are described.
    """

    manifest: DbtManifest
    columns: ColumnSources

    @classmethod
    def read(cls, path: str | Path, dialect: str | None) -> ProjectVersion:
        """Return the project of a manifest."""
        file = find_manifest(path)
        manifest = read_manifest(file, dialect=dialect)
        return cls(manifest, ColumnSources.beside(file, manifest.dialect))


def _find_edited(old: DbtManifest, new: DbtManifest) -> set[str]:
    """Return the resources with a changed query, changed columns of a base table, or a changed materialisation."""
    return {
        identity
        for identity in old.resources.keys() | new.resources.keys()
        if _describe(old.resources.get(identity), old) != _describe(new.resources.get(identity), new)
    }


def _describe(resource: Resource | None, manifest: DbtManifest) -> object:
    """Return the parts of a resource that decide about the rows, apart from the rows of its inputs."""
    if resource is None:
        return None
    code = normalize_code(resource, manifest.resources)
    if resource.is_query:
        return code, manifest.dialect, tuple(sorted(resource.depends_on))
    return resource.columns, resource.materialized, code, resource.column_types, resource.checksum


def _find_descendants(identities: Collection[str], manifest: DbtManifest) -> set[str]:
    """Return resources, and all resources made from these resources."""
    reached = set(identities)
    for identity, resource in manifest.resources.items():  # each comes after those that it depends on
        if not reached.isdisjoint(resource.depends_on):
            reached.add(identity)
    return reached


def _find_ancestors(identities: Collection[str], manifest: DbtManifest) -> set[str]:
    """Return resources, and all inputs of these resources at any depth."""
    reached = set(identities)
    for identity, resource in reversed(list(manifest.resources.items())):
        if identity in reached:
            reached.update(resource.depends_on)
    return reached


def _reduce(manifest: DbtManifest, needed: Collection[str]) -> DbtManifest:
    """Return a project with some of its resources, and with the tests on these resources alone."""
    return replace(
        manifest,
        resources={identity: resource for identity, resource in manifest.resources.items() if identity in needed},
        tests=tuple(test for test in manifest.tests if all(other in needed for other in test.depends_on)),
    )


def _share_bases(
    sides: list[ProjectVersion], needed: Collection[str]
) -> tuple[dict[str, BaseTable], dict[str, BaseTable]]:
    """Return the base tables of both projects: a shared catalog if both have a table with columns of the same types."""
    shared: tuple[dict[str, BaseTable], dict[str, BaseTable]] = ({}, {})
    identities = dict.fromkeys(
        identity
        for side in sides
        for identity, resource in side.manifest.resources.items()
        if identity in needed and resource.kind in ("seed", "source")
    )
    names = [choose_names(side.manifest.resources.values()) for side in sides]
    for identity in identities:
        present = [
            (side, name[identity], bases)
            for side, name, bases in zip(sides, names, shared, strict=True)
            if identity in side.manifest.resources
        ]
        columns = [tuple(side.columns.find_columns(side.manifest.resources[identity])) for side, _, _ in present]
        merged = _merge_columns(columns)
        checksums = {side.manifest.resources[identity].checksum for side, _, _ in present}
        if merged is None or len(checksums) > 1:
            continue  # a column has another type, or a seed has other rows: the tables are different
        newest = present[-1][0].manifest.resources[identity]
        tests = [test for side, _, _ in reversed(present) for test in side.manifest.tests if test.resource == identity]
        key = find_key(newest, merged, tests)
        base = build_base(newest, present[-1][1], merged, key, {})
        for (_, _, bases), own in zip(present, columns, strict=True):
            bases[identity] = BaseTable(base.definition, tuple(column.name for column in own), TableKey(key.columns))
    return shared


def _merge_columns(versions: list[tuple[FileColumn, ...]]) -> tuple[FileColumn, ...] | None:
    """Return the columns of all versions of a table; None if two versions have a column with different types."""
    merged: dict[str, FileColumn] = {}
    for column in (column for columns in reversed(versions) for column in columns):
        if merged.setdefault(column.name, column).type != column.type:
            return None
    return tuple(merged.values())


def _list_tests(projects: list[ProjectTables], translator: Translator) -> list[Violation]:
    """Return the passing tests: all tests of the old project, and the tests of the base tables of the new project."""
    old, new = projects
    kept = [test for test in new.manifest.tests if test.resource in new.tables and new.tables[test.resource].is_base]
    reduced = replace(new, manifest=replace(new.manifest, tests=tuple(kept)))
    violations = [*read_tests(old, translator).violations, *read_tests(reduced, translator).violations]
    by_rows = {violation.rows.digest: violation for violation in reversed(violations) if _is_premise(violation.test)}
    return list(by_rows.values())


def _is_premise(test: DataTest) -> bool:
    return test.is_error


def _choose_models(project: ProjectTables, affected: Collection[str]) -> Mapping[str, ProjectTable]:
    """Return the affected models by name."""
    return {
        table.name: table
        for identity, table in project.tables.items()
        if identity in affected and table.resource.kind == "model"
    }


def _list_unread(project: ProjectTables) -> list[tuple[str, str]]:
    """Return the models that were not understood, with the reason."""
    remarks = [(identity, remark) for identity, table in project.tables.items() for remark in table.remarks]
    return [*project.left_out.items(), *remarks]
