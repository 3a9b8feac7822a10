"""Whole projects: read a manifest, and make catalogs of all tables."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike

from provenn.dbt.column_types import ColumnSources
from provenn.dbt.findings import Findings
from provenn.dbt.manifest import find_manifest, read_manifest
from provenn.dbt.project_checks import check_project
from provenn.dbt.tables import ProjectTables, build_tables
from provenn.dbt.translation import Translator

__all__ = ["ReadProject", "check_manifest", "read_project"]


@dataclass(frozen=True, slots=True)
class ReadProject:
    """A project with its catalogs.

    Parameters
    ----------
    tables
        The catalogs.
    translator
        What has translated the models, and knows the tests that this rests on.
    """

    tables: ProjectTables
    translator: Translator


def read_project(
    manifest: str | PathLike[str], *, dialect: str | None = None, full_refresh: bool = False
) -> ReadProject:
    """Return the project of a manifest, on base tables known by their columns alone.

    Raises
    ------
    ManifestError
        If the manifest cannot be read, or the columns of a source or seed are not known.
    """
    file = find_manifest(manifest)
    content = read_manifest(file, dialect=dialect)
    translator = Translator()
    columns = ColumnSources.beside(file, content.dialect)
    return ReadProject(build_tables(content, columns.find_columns, translator, full_refresh=full_refresh), translator)


def check_manifest(
    manifest: str | PathLike[str], *, dialect: str | None = None, full_refresh: bool = False, why: bool = False
) -> Findings:
    """Return the findings about the project of a manifest without reading data.

    Parameters
    ----------
    manifest
        The file ``target/manifest.json``, or the folder of the project.
    dialect
        The dialect of the compiled SQL; by default that of the adapter.
    full_refresh
        Whether incremental models are taken to hold the rows of their queries.
    why
        Whether to return the proofs of tests that need not run.

    Raises
    ------
    ManifestError
        If the manifest cannot be read, or the columns of a source or seed are not known.
    """
    project = read_project(manifest, dialect=dialect, full_refresh=full_refresh)
    return check_project(project.tables, project.translator, project.translator.used_tests, why=why)
