"""Write the conditions of OpenLineage's subset facets as criteria in SQL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from provenn.catalogs import Schema

__all__ = ["write_condition"]

_OPERATORS = {
    "EQUAL": "=",
    "GREATER_THAN": ">",
    "GREATER_EQUAL_THAN": ">=",
    "LESS_THAN": "<",
    "LESS_EQUAL_THAN": "<=",
}
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")
_NUMERIC = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_DEEPEST = 50


def write_condition(condition: object, schema: Schema, *, whole: bool = True, depth: int = 0) -> str | None:
    """Return a condition as a criterion, or None if the condition is not understood.

    Numbers support all comparisons. Text is only compared for equality, because other systems may order text
    differently.

    Parameters
    ----------
    condition
        The condition, as JSON.
    schema
        The attributes of the dataset to which the condition applies.
    whole
        Whether the whole condition must be understood; otherwise the criterion may select more sources.
    depth
        The nesting depth of the condition.
    """
    if not isinstance(condition, dict) or depth > _DEEPEST:
        return None
    match condition:
        case {"type": "binary", "operator": "AND" | "OR" as operator, "left": left, "right": right}:
            sides = [write_condition(side, schema, whole=whole, depth=depth + 1) for side in (left, right)]
            known = [text for text in sides if text is not None]
            if len(known) == 2 or (known and operator == "AND" and not whole):
                return f" {operator} ".join(f"({text})" for text in known)
        case {"type": "compare", "comparison": str(word), "left": left, "right": right} if word in _OPERATORS:
            return _write_comparison(left, _OPERATORS[word], right, schema)
        case {"type": "partition", "partitions": [_, *_] as partitions}:
            texts = [_write_partition(partition, schema) for partition in partitions]
            if all(texts):
                return " OR ".join(f"({text})" for text in texts)
    return None


def _write_comparison(left: object, operator: str, right: object, schema: Schema) -> str | None:
    """Return a comparison of a field with a literal, on either side, as SQL; or None."""
    match left, right:
        case {"type": "field", "field": str(name)}, {"type": "literal", "value": value}:
            return _write_field_comparison(name, operator, value, schema)
        case {"type": "literal", "value": value}, {"type": "field", "field": str(name)}:
            return _write_field_comparison(name, operator.translate(str.maketrans("<>", "><")), value, schema)
    return None


def _write_partition(partition: object, schema: Schema) -> str | None:
    """Return a partition as SQL; None unless every dimension is understood."""
    dimensions: Mapping[str, Any] = partition.get("dimensions") or {} if isinstance(partition, dict) else {}
    comparisons = [_write_field_comparison(name, "=", value, schema) for name, value in dimensions.items()]
    return " AND ".join(text for text in comparisons if text) if comparisons and all(comparisons) else None


def _write_field_comparison(name: str, operator: str, value: object, schema: Schema) -> str | None:
    """Return a comparison of a field with a value as SQL; None if the types do not fit."""
    if name not in schema.names or isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    field, text, kind = "`" + name.replace("`", "``") + "`", str(value), schema[name].type.name
    if kind in _NUMERIC and _NUMBER.fullmatch(text):
        return f"{field} {operator} {text}"
    if kind == "string" and operator == "=":
        quoted = text.replace("\\", "\\\\").replace("'", "\\'")
        return f"{field} = '{quoted}'"
    return None
