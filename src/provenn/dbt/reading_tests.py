"""Read the tests of a manifest."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from provenn.dbt.reading_resources import list_texts
from provenn.dbt.resources import DataTest

__all__ = ["find_redefined_tests", "read_test"]

_KNOWN: Final = ("accepted_values", "not_null", "relationships", "unique")
_FAILURES: Final = "count(*)"
_NONE: Final = ("!= 0", "> 0", ">0", "!=0", ">= 1", ">=1")
"""The thresholds by which a test fails as soon as its query has a row."""


def find_redefined_tests(macros: Iterable[str]) -> frozenset[str]:
    """Return the tests of dbt to which a project gives a meaning of its own, from the identities of all macros.

    >>> sorted(find_redefined_tests(["macro.dbt.default__test_unique", "macro.shop.duckdb__test_not_null"]))
    ['not_null']
    """
    foreign = (macro for macro in macros if not macro.startswith("macro.dbt."))
    return frozenset(test for macro in foreign if (test := macro.rpartition("test_")[2]) in _KNOWN and test != macro)


def read_test(identity: str, node: Mapping[str, Any], redefined: Collection[str] = ()) -> DataTest:
    """Return the test described by a node of a manifest.

    A test with a condition of its own (``where``) is known by its compiled SQL, including the condition.

    Parameters
    ----------
    identity, node
        The identity and content of the node.
    redefined
        The tests of dbt that mean something else in this project.

    Raises
    ------
    ValueError, TypeError, KeyError, AttributeError
        If the node has another form.
    """
    config = node.get("config") or {}
    metadata = node.get("test_metadata") or {}
    depends_on = list_texts((node.get("depends_on") or {}).get("nodes"))
    resource = str(node.get("attached_node") or "") or (depends_on[-1] if depends_on else "")
    is_error = str(config.get("severity") or "error").lower() == "error"
    query = DataTest(
        identity,
        str(node["name"]),
        "query",
        resource if metadata else "",
        code=str(node.get("compiled_code") or ""),
        depends_on=depends_on,
        is_error=is_error,
        unreadable=_find_threshold(config, is_error=is_error),
    )
    if not metadata or config.get("where") or metadata.get("name") in redefined:
        return query
    return _read_generic_test(query, metadata, node)


def _find_threshold(config: Mapping[str, Any], *, is_error: bool) -> str:
    """Return why a test may pass although its query has rows; empty if the test may not."""
    failures = str(config.get("fail_calc") or _FAILURES)
    if failures != _FAILURES:
        return f"it fails by {failures}"
    key = "error_if" if is_error else "warn_if"
    limit = str(config.get(key) or _NONE[0])
    return "" if limit in _NONE else f"it fails only if the number of rows is {limit}"


def _read_generic_test(query: DataTest, metadata: Mapping[str, Any], node: Mapping[str, Any]) -> DataTest:
    """Return a test with a known meaning; a test with an unknown meaning stays a query."""
    options = metadata.get("kwargs") or {}
    options = {**options, **(options.get("arguments") or {})}
    column = str(options.get("column_name") or node.get("column_name") or "")
    match metadata.get("namespace"), metadata.get("name"):
        case None, "unique" | "not_null" as kind if column:
            return _make_test(query, kind, (column,))
        case None, "accepted_values" if column:
            values = options.get("values")
            if not isinstance(values, list) or not all(isinstance(value, str | int | float | bool) for value in values):
                return query
            is_quoted = options.get("quote", True) not in (False, "false", "False")
            return _make_test(query, "accepted_values", (column,), values=tuple(values), is_quoted=is_quoted)
        case None, "relationships" if column and options.get("field"):
            others = dict.fromkeys(other for other in query.depends_on if other != query.resource)
            if len(others) > 1:
                return query
            parent = next(iter(others), query.resource)
            return _make_test(query, "relationships", (column,), parent=parent, field=str(options["field"]))
        case "dbt_utils", "unique_combination_of_columns":
            columns = list_texts(options.get("combination_of_columns"))
            if columns:
                return _make_test(query, "unique", columns, allows_nulls=False)
    return query


def _make_test(query: DataTest, kind: Any, columns: tuple[str, ...], **options: Any) -> DataTest:  # noqa: ANN401
    """Return a test with a known meaning and all further properties of its query."""
    return DataTest(
        query.unique_id,
        query.name,
        kind,
        query.resource,
        columns,
        code=query.code,
        depends_on=query.depends_on,
        is_error=query.is_error,
        unreadable=query.unreadable,
        **options,
    )
