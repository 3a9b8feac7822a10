"""Read column lineage of foreign datasets: unchanged copies of columns, and columns that join or filter datasets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["ColumnLineage", "Field", "read_column_lineage"]

Field = tuple[str, str, str]
"""The namespace and name of a dataset, and one of its columns."""


@dataclass(frozen=True, slots=True)
class ColumnLineage:
    """The column lineage of a dataset.

    Parameters
    ----------
    same
        For each column whose values are all copied unchanged: the columns of origin.
    joined, filtering
        The columns by which datasets are joined, and the columns that select their rows.
    """

    same: Mapping[str, tuple[Field, ...]]
    joined: frozenset[Field]
    filtering: frozenset[Field]


def read_column_lineage(facets: Mapping[str, Any]) -> ColumnLineage | None:
    """Return the column lineage in OpenLineage's facet ``columnLineage`` or ``lineage``; None without a facet."""
    facet, inputs_key, dataset_key = facets.get("columnLineage"), "inputFields", "dataset"
    if not isinstance(facet, dict):
        facet, inputs_key, dataset_key = facets.get("lineage"), "inputs", "inputs"
    fields = facet.get("fields") if isinstance(facet, dict) else None
    if not isinstance(facet, dict) or not isinstance(fields, dict):
        return None
    same, all_inputs = {}, list(_read_inputs(facet.get(dataset_key)))
    for name, field in fields.items():
        if not isinstance(field, dict):
            continue
        inputs_of_field = list(_read_inputs(field.get(inputs_key), field.get("transformationType")))
        all_inputs += inputs_of_field
        direct_inputs = [
            (column, kinds) for column, kinds in inputs_of_field if any(kind == "DIRECT" for kind, _ in kinds)
        ]
        if direct_inputs and all(kinds == {("DIRECT", "IDENTITY")} for _, kinds in _keep_direct_kinds(direct_inputs)):
            same[name] = tuple(dict.fromkeys(column for column, _ in direct_inputs))
    return ColumnLineage(same, _find_indirect(all_inputs, "JOIN"), _find_indirect(all_inputs, "FILTER"))


_Kinds = set[tuple[str, str]]


def _read_inputs(entries: object, older: object = None) -> Iterator[tuple[Field, _Kinds]]:
    """Yield columns with their kinds of dependence; `older` is the subtype of entries without transformations."""
    for entry in entries if isinstance(entries, list) else []:
        match entry:
            case {"namespace": str(namespace), "name": str(name), "field": str(field)}:
                changes = entry.get("transformations") or []
                kinds = {_read_kind(change) for change in changes} if isinstance(changes, list) else {("DIRECT", "")}
                if not kinds:
                    kinds = {("DIRECT", str(older or ""))}
                yield (namespace, name, field), kinds


def _read_kind(change: object) -> tuple[str, str]:
    """Return the type and subtype of a transformation."""
    if not isinstance(change, dict) or change.get("masking") or change.get("type") not in ("DIRECT", "INDIRECT"):
        return ("DIRECT", "")  # an unknown transformation does not count as an unchanged copy
    return (str(change["type"]), str(change.get("subtype") or "").upper())


def _keep_direct_kinds(inputs: list[tuple[Field, _Kinds]]) -> Iterator[tuple[Field, _Kinds]]:
    """Yield columns with only the direct kinds of dependence."""
    for column, kinds in inputs:
        yield column, {kind for kind in kinds if kind[0] == "DIRECT"}


def _find_indirect(inputs: Iterable[tuple[Field, _Kinds]], subtype: str) -> frozenset[Field]:
    """Return the columns with an indirect dependence of a subtype."""
    return frozenset(column for column, kinds in inputs if ("INDIRECT", subtype) in kinds)
