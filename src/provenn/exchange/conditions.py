"""The conditions of OpenLineage's subset facets, as criteria in SQL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from provenn.catalogs import Schema

__all__ = ["as_sql"]

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


def as_sql(condition: object, schema: Schema, *, whole: bool = True, depth: int = 0) -> str | None:
    """Return a condition as a criterion, or None if it is not understood.

    Numbers are compared in any way. Text is only compared for equality: others may order it in another way.

    Parameters
    ----------
    condition
        The condition, as JSON.
    schema
        The attributes of the dataset it is about.
    whole
        Whether all of it must be understood; otherwise the criterion may be true of more.
    depth
        How deep it lies in others.
    """
    if not isinstance(condition, dict) or depth > _DEEPEST:
        return None
    match condition:
        case {"type": "binary", "operator": "AND" | "OR" as operator, "left": left, "right": right}:
            sides = [as_sql(one, schema, whole=whole, depth=depth + 1) for one in (left, right)]
            known = [one for one in sides if one is not None]
            if len(known) == 2 or (known and operator == "AND" and not whole):
                return f" {operator} ".join(f"({one})" for one in known)
        case {"type": "compare", "comparison": str(word), "left": left, "right": right} if word in _OPERATORS:
            return _compared(left, _OPERATORS[word], right, schema)
        case {"type": "partition", "partitions": [_, *_] as partitions}:
            found = [_partition(one, schema) for one in partitions]
            if all(found):
                return " OR ".join(f"({one})" for one in found)
    return None


def _compared(left: object, operator: str, right: object, schema: Schema) -> str | None:
    match left, right:
        case {"type": "field", "field": str(name)}, {"type": "literal", "value": value}:
            return _comparison(name, operator, value, schema)
        case {"type": "literal", "value": value}, {"type": "field", "field": str(name)}:
            return _comparison(name, operator.translate(str.maketrans("<>", "><")), value, schema)
    return None


def _partition(partition: object, schema: Schema) -> str | None:
    dimensions: Mapping[str, Any] = partition.get("dimensions") or {} if isinstance(partition, dict) else {}
    found = [_comparison(name, "=", value, schema) for name, value in dimensions.items()]
    return " AND ".join(one for one in found if one) if found and all(found) else None


def _comparison(name: str, operator: str, value: object, schema: Schema) -> str | None:
    if name not in schema.names or isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    field, text, kind = "`" + name.replace("`", "``") + "`", str(value), schema[name].type.name
    if kind in _NUMERIC and _NUMBER.fullmatch(text):
        return f"{field} {operator} {text}"
    if kind == "string" and operator == "=":
        quoted = text.replace("\\", "\\\\").replace("'", "\\'")
        return f"{field} = '{quoted}'"
    return None
