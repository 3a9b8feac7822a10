"""Read the resources of a manifest: models, seeds, snapshots and sources."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError

from provenn.dbt.resources import Resource, ResourceColumn

__all__ = ["list_texts", "read_resource"]


def read_resource(identity: str, node: Mapping[str, Any], dialect: str) -> Resource:
    """Return the resource described by a node of a manifest.

    Raises
    ------
    ValueError, TypeError, KeyError, AttributeError
        If the node has another form.
    """
    config = node.get("config") or {}
    is_python = node.get("language") == "python"
    version = node.get("version")
    name = str(node["name"])
    kind = node["resource_type"]
    return Resource(
        identity,
        kind,
        name if version is None else f"{name}_v{version}",
        str(node["package_name"]),
        _split_relation(node.get("relation_name") or "", dialect),
        tuple(_read_column(column) for column in (node.get("columns") or {}).values()),
        "" if is_python or kind != "model" else str(node.get("compiled_code") or ""),
        "python" if is_python else str(config.get("materialized") or ""),
        list_texts((node.get("depends_on") or {}).get("nodes")),
        str(node.get("original_file_path") or ""),
        tuple((str(column), str(kind)) for column, kind in (config.get("column_types") or {}).items()),
        _find_primary_key(node.get("constraints") or ()),
        str(node.get("relation_name") or ""),
        str((node.get("checksum") or {}).get("checksum") or "") if kind == "seed" else "",
    )


def _read_column(column: Mapping[str, Any]) -> ResourceColumn:
    constraints = tuple(str(constraint["type"]) for constraint in column.get("constraints") or ())
    return ResourceColumn(str(column["name"]), str(column.get("data_type") or ""), constraints)


def _find_primary_key(constraints: Any) -> tuple[str, ...]:  # noqa: ANN401 - JSON
    """Return the columns of the primary key among the constraints of a table; empty without a primary key."""
    for constraint in constraints:
        if constraint["type"] == "primary_key":
            return list_texts(constraint.get("columns"))
    return ()


def list_texts(values: Any) -> tuple[str, ...]:  # noqa: ANN401 - JSON
    """Return the texts of a list; None is an empty list."""
    if not isinstance(values or [], list):
        raise TypeError(f"expected a list, got {values!r}")
    return tuple(map(str, values or ()))


@lru_cache(maxsize=4096)
def _split_relation(text: str, dialect: str) -> tuple[str, ...]:
    """Return the parts of the name of a table in lower case; empty if the text is no such name.

    >>> _split_relation('"shop"."main"."Orders"', "duckdb")
    ('shop', 'main', 'orders')
    """
    if not text:
        return ()
    try:
        table = exp.to_table(text, dialect=dialect)
    except SqlglotError:
        return ()
    return tuple(part.name.lower() for part in table.parts)
