"""Read ``manifest.json`` of dbt: check version, form and size. Nothing in the manifest is executed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from os import PathLike
from pathlib import Path
from typing import Any, Final

from provenn.dbt.reading_resources import read_resource
from provenn.dbt.reading_tests import find_redefined_tests, read_test
from provenn.dbt.resources import DbtManifest, Resource
from provenn.errors import ManifestError, did_you_mean
from provenn.gate.entrances import entrance
from provenn.gate.local_paths import expand_home
from provenn.hints import Hint

__all__ = ["DIALECTS", "LARGEST_MANIFEST", "VERSIONS", "find_manifest", "read_json", "read_manifest", "sort_resources"]

LARGEST_MANIFEST: Final = 512 * 2**20
"""The most bytes of a manifest; one of 2 000 models has some 30 MB."""

VERSIONS: Final = (10, 11, 12)
"""The versions of manifests that are read: those of dbt 1.6 to 1.12."""

_KINDS: Final = ("model", "seed", "snapshot")

DIALECTS: Final[Mapping[str, str]] = {
    "athena": "athena",
    "bigquery": "bigquery",
    "clickhouse": "clickhouse",
    "databricks": "databricks",
    "duckdb": "duckdb",
    "fabric": "fabric",
    "mysql": "mysql",
    "oracle": "oracle",
    "postgres": "postgres",
    "redshift": "redshift",
    "snowflake": "snowflake",
    "spark": "spark",
    "sqlite": "sqlite",
    "sqlserver": "tsql",
    "synapse": "tsql",
    "trino": "trino",
}
"""The dialect of the SQL for each adapter of dbt."""


def read_manifest(path: str | PathLike[str], *, dialect: str | None = None) -> DbtManifest:
    """Return the project described by a manifest.

    Parameters
    ----------
    path
        The file ``target/manifest.json``, or the folder of the project or of its target.
    dialect
        The dialect of the compiled SQL; by default that of the adapter.

    Raises
    ------
    ManifestError
        If the file is damaged, has another version, or holds models that are not compiled.
    """
    file = find_manifest(path)
    content = read_json(file, "manifest")
    metadata = _get_object(content, "metadata", file)
    _check_version(metadata, file)
    adapter = str(metadata.get("adapter_type") or "")
    dialect = dialect or _choose_dialect(adapter)
    project = str(metadata.get("project_name") or "")
    nodes, sources = _get_object(content, "nodes", file), _get_object(content, "sources", file)
    macros = content.get("macros")
    redefined = find_redefined_tests(macros if isinstance(macros, dict) else ())
    try:
        resources = {
            identity: read_resource(identity, node, dialect)
            for identity, node in (*sources.items(), *nodes.items())
            if isinstance(node, dict) and node.get("resource_type") in (*_KINDS, "source")
        }
        tests = [
            read_test(identity, node, redefined)
            for identity, node in sorted(nodes.items())
            if isinstance(node, dict) and node.get("resource_type") == "test"
        ]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ManifestError(f"{file} is not a manifest of dbt: {error}", hint=_AGAIN) from error
    _check_compiled(resources, file)
    return DbtManifest(project, adapter, dialect, sort_resources(resources, file), tuple(tests))


_AGAIN: Final = "let dbt write it again: dbt compile"


def find_manifest(path: str | PathLike[str]) -> Path:
    """Return the file of a manifest, given the file, or the folder of a project or of its target."""
    place = expand_home(path)
    candidates = (place, place / "manifest.json", place / "target" / "manifest.json")
    existing = next((candidate for candidate in candidates if candidate.is_file()), None)
    if existing is None:
        raise ManifestError(
            f"there is no manifest of dbt at {place}", hint="run dbt compile, and name its file target/manifest.json"
        )
    return existing


@entrance("manifest of dbt", "length", "types", "criteria")
def read_json(file: Path, what: str) -> Mapping[str, Any]:
    """Return the object in a JSON file written by dbt.

    Raises
    ------
    ManifestError
        If the file is too long, cannot be read, or holds no object.
    """
    try:
        with file.open("rb") as stream:
            text = stream.read(LARGEST_MANIFEST + 1)
    except OSError as error:
        raise ManifestError(f"{file} cannot be read: {error.strerror or error}") from error
    if len(text) > LARGEST_MANIFEST:
        raise ManifestError(f"{file} is longer than {LARGEST_MANIFEST:,} bytes, too long for a {what} of dbt")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ManifestError(f"{file} is not a {what} of dbt: {error}", hint=_AGAIN) from error
    if not isinstance(content, dict):
        raise ManifestError(f"{file} is not a {what} of dbt: expected an object", hint=_AGAIN)
    return content


def _get_object(content: Mapping[str, Any], key: str, file: Path) -> Mapping[str, Any]:
    value = content.get(key)
    if not isinstance(value, dict):
        raise ManifestError(f"{file} is not a manifest of dbt: it has no {key}", hint=_AGAIN)
    return value


def _check_version(metadata: Mapping[str, Any], file: Path) -> None:
    """Refuse a manifest of a version with unknown meaning."""
    stated = str(metadata.get("dbt_schema_version") or "")
    known = [f"/manifest/v{version}.json" for version in VERSIONS]
    if not stated.endswith(tuple(known)):
        version = stated.rpartition("/")[2].removesuffix(".json") or "no version"
        raise ManifestError(
            f"{file} has {version}; provenn reads manifests v{VERSIONS[0]} to v{VERSIONS[-1]}",
            hint="compile the project with dbt 1.6 to 1.12",
        )


def _choose_dialect(adapter: str) -> str:
    """Return the dialect of an adapter."""
    dialect = DIALECTS.get(adapter)
    if dialect is None:
        raise ManifestError(
            f"the adapter {adapter or 'of the manifest'} has no known dialect",
            hint=did_you_mean(adapter, DIALECTS)
            or Hint("name the dialect: dialect=…", command="name the dialect: --dialect …"),
        )
    return dialect


def _check_compiled(resources: Mapping[str, Resource], file: Path) -> None:
    """Refuse a manifest without the compiled SQL of the models."""
    queries = [resource for resource in resources.values() if resource.kind == "model"]
    missing = [resource.name for resource in queries if not resource.code and resource.materialized != "python"]
    if missing:
        number = "1 model" if len(missing) == 1 else f"{len(missing)} models"
        raise ManifestError(
            f"{file} holds no compiled SQL of {number}, such as {missing[0]}",
            hint="run dbt compile, which writes the compiled SQL of all models into target/manifest.json",
        )


def sort_resources(resources: Mapping[str, Resource], file: Path) -> dict[str, Resource]:
    """Return resources sorted by dependency, then by identity."""
    links = {
        identity: [parent for parent in resource.depends_on if parent in resources]
        for identity, resource in sorted(resources.items())
    }
    try:
        order = list(TopologicalSorter(links).static_order())
    except CycleError as error:
        raise ManifestError(f"{file} has models that depend on each other: {', '.join(error.args[1])}") from error
    return {identity: resources[identity] for identity in order}
