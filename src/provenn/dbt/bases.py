"""Base catalogs for the tables read and not derived by dbt: sources, seeds, snapshots.

Only the columns and keys of these tables are known, as for datasets of foreign systems: nothing can be computed from
the tables, and everything can be proved. A key comes from a constraint, or from tests that the table has no row twice
and no row without a key. The rows of a table without a key cannot be told apart: each is a source by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from provenn.catalogs import Base, Catalog, Files, Population
from provenn.criteria import matching_names, parse_type
from provenn.dbt.resources import DataTest, Resource
from provenn.errors import ProvennError
from provenn.files.columns import FileColumn

__all__ = ["BaseTable", "TableKey", "build_base", "find_key", "is_hidden_key"]

_NAMESPACE: Final = "dbt"
_ROW: Final = "dbt row"
"""The hidden key of a table without a key."""


@dataclass(frozen=True, slots=True)
class TableKey:
    """The key of a table.

    Parameters
    ----------
    columns
        The key columns; empty if no key is known.
    tests
        The tests that state it, by their identities; empty for a constraint.
    """

    columns: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BaseTable:
    """A table with its base catalog.

    Parameters
    ----------
    definition
        The base catalog.
    columns
        The attributes that are columns of the table: the hidden key of a table without a key is none.
    key
        Where the key comes from.
    """

    definition: Catalog
    columns: tuple[str, ...]
    key: TableKey


def find_key(resource: Resource, columns: Sequence[FileColumn], tests: Iterable[DataTest]) -> TableKey:
    """Return the key of a table, from a constraint or from tests on the table.

    A column with the tests ``unique`` and ``not_null`` is a key; so are several columns with a test of their
    combination and ``not_null`` for each.
    """
    types = {column.name: column.type for column in columns}

    def find_columns(names: Sequence[str]) -> tuple[str, ...]:
        matches = [matching_names(name, types) for name in names]
        chosen = tuple(match[0] for match in matches if len(match) == 1 and types[match[0]].scalar)
        return chosen if len(chosen) == len(names) else ()

    stated = [column.name for column in resource.columns if "primary_key" in column.constraints]
    primary = find_columns(resource.primary_key or stated)
    if primary:
        return TableKey(primary)
    usable = [test for test in tests if test.is_error and not test.unreadable and test.resource == resource.unique_id]
    never_null = {find_columns(test.columns): test.unique_id for test in usable if test.kind == "not_null"}
    candidates = []
    for test in usable:
        key = find_columns(test.columns) if test.kind == "unique" else ()
        premises = [never_null.get((name,)) for name in key]
        if key and None not in premises:
            position = tuple(list(types).index(name) for name in key)
            candidates.append((len(key), position, key, (test.unique_id, *map(str, premises))))
    if not candidates:
        return TableKey()
    _, _, key, premises_of_key = min(candidates)
    return TableKey(key, premises_of_key)


def is_hidden_key(name: str) -> bool:
    """Return whether an attribute is the hidden key of a table without a key."""
    return name.rstrip("_") == _ROW


def build_base(
    resource: Resource,
    name: str,
    columns: Sequence[FileColumn],
    key: TableKey,
    populations: Mapping[str, Population],
) -> BaseTable:
    """Return the base catalog of a table with known columns and a known key.

    Parameters
    ----------
    resource
        The table.
    name
        The name of its catalog, which is the name of its population as well.
    columns
        Its columns.
    key
        Its key.
    populations
        Populations that exist, by name: if one has another key, the population of the table gets a name of its own.
    """
    names = tuple(column.name for column in columns)
    key_columns = key.columns
    if not key_columns:
        hidden = _ROW
        while hidden in names:
            hidden += "_"
        columns = (*columns, FileColumn(hidden, parse_type("string"), nullable=False))
        key_columns = (hidden,)
    files = Files.elsewhere(_NAMESPACE, resource.unique_id, resource.checksum, list(columns))
    known = populations.get(name)
    try:
        definition = Base.of(files, key=key_columns, population=known or name)
    except ProvennError:
        if known is None:
            raise
        definition = Base.of(files, key=key_columns, population=f"{name} of {_NAMESPACE} {resource.package}")
    return BaseTable(definition, names, key)
