"""What column lineage says of a dataset of others: which columns are taken over unchanged, and which join datasets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["ColumnLineage", "Field", "column_lineage"]

Field = tuple[str, str, str]
"""The namespace and name of a dataset, and a column of it."""


@dataclass(frozen=True, slots=True)
class ColumnLineage:
    """Column lineage.

    Parameters
    ----------
    same
        For each column whose values are all taken over unchanged: the columns they are taken from.
    joined, filtering
        Columns by which datasets are joined, and on which it depends which of their rows are taken.
    """

    same: Mapping[str, tuple[Field, ...]]
    joined: frozenset[Field]
    filtering: frozenset[Field]


def column_lineage(facets: Mapping[str, Any]) -> ColumnLineage | None:
    """Return what the facets of a dataset say, in OpenLineage's facet ``columnLineage`` or ``lineage``; or None."""
    said, inputs, whole = facets.get("columnLineage"), "inputFields", "dataset"
    if not isinstance(said, dict):
        said, inputs, whole = facets.get("lineage"), "inputs", "inputs"
    fields = said.get("fields") if isinstance(said, dict) else None
    if not isinstance(said, dict) or not isinstance(fields, dict):
        return None
    same, deciding = {}, list(_read(said.get(whole)))
    for name, field in fields.items():
        if not isinstance(field, dict):
            continue
        read = list(_read(field.get(inputs), field.get("transformationType")))
        deciding += read
        giving = [(one, kinds) for one, kinds in read if any(kind == "DIRECT" for kind, _ in kinds)]
        if giving and all(kinds == {("DIRECT", "IDENTITY")} for _, kinds in _direct(giving)):
            same[name] = tuple(dict.fromkeys(one for one, _ in giving))
    return ColumnLineage(same, _indirect(deciding, "JOIN"), _indirect(deciding, "FILTER"))


_Kinds = set[tuple[str, str]]


def _read(given: object, older: object = None) -> Iterator[tuple[Field, _Kinds]]:
    """Yield columns, and how something depends on them; `older` is how, where nothing else is said."""
    for one in given if isinstance(given, list) else []:
        match one:
            case {"namespace": str(namespace), "name": str(name), "field": str(field)}:
                changes = one.get("transformations") or []
                kinds = {_kind(change) for change in changes} if isinstance(changes, list) else {("DIRECT", "")}
                if not kinds:
                    kinds = {("DIRECT", str(older or ""))}
                yield (namespace, name, field), kinds


def _kind(change: object) -> tuple[str, str]:
    if not isinstance(change, dict) or change.get("masking") or change.get("type") not in ("DIRECT", "INDIRECT"):
        return ("DIRECT", "")  # something that is not known gives no value unchanged
    return (str(change["type"]), str(change.get("subtype") or "").upper())


def _direct(giving: list[tuple[Field, _Kinds]]) -> Iterator[tuple[Field, _Kinds]]:
    for one, kinds in giving:
        yield one, {kind for kind in kinds if kind[0] == "DIRECT"}


def _indirect(read: Iterable[tuple[Field, _Kinds]], subtype: str) -> frozenset[Field]:
    return frozenset(one for one, kinds in read if ("INDIRECT", subtype) in kinds)
