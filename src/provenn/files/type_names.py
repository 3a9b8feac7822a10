"""The names of types, as users and stored definitions write them."""

from __future__ import annotations

import re
from typing import Final

from provenn.criteria import Type, parse_type
from provenn.criteria.nested_types import read_nested_type
from provenn.criteria.types import suggest_type
from provenn.errors import TypeNameError, did_you_mean

__all__ = ["INTEGER_TYPES", "parse_spark_type", "restore_type"]

INTEGER_TYPES: Final = {
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "uint8": "smallint",
    "uint16": "int",
    "uint32": "bigint",
    "uint64": "decimal(20,0)",
}
"""The types of Spark that hold all integers of a type, by its name in Arrow, NumPy and ECSV."""

_SCALARS = (
    *("tinyint", "smallint", "int", "bigint", "float", "double", "decimal"),
    *("string", "boolean", "date", "timestamp", "timestamp_ntz"),
)
_OTHERS = re.compile(r"binary|variant|time\(\d\)", re.IGNORECASE)
_NESTED = re.compile(r"(array|map|struct)<.+>", re.IGNORECASE | re.DOTALL)
_PIECE = re.compile(r"`(?:[^`]|``)*`|\s+|[^`\s]+|`")
_FIELD = re.compile(r"(?!.*--)[\w.$@#+-]+")
"""Names of fields that Spark writes without backquotes; two hyphens would begin a comment."""
_DEEPEST = 50


def parse_spark_type(text: str, *, scalar: bool = False) -> Type:
    """Parse the name of a type known to Spark.

    Parameters
    ----------
    text
        Its name in Spark.
    scalar
        Whether the values of the type must be comparable.

    Raises
    ------
    TypeNameError
        If the text names no such type.

    Examples
    --------
    >>> str(parse_spark_type("long")), str(parse_spark_type("array<Double>"))
    ('bigint', 'array<Double>')
    """
    if not isinstance(text, str):
        raise TypeNameError(f"expected the name of a type, got {text!r}", hint=f"one of {', '.join(_SCALARS)}")
    kind = parse_type(text)
    if kind.name == "decimal" and not (0 < kind.precision <= 38 and kind.scale <= kind.precision):
        raise TypeNameError(f"{kind} is not a type", hint="a decimal has at most 38 digits")
    if kind.name in _SCALARS:
        return kind
    if not scalar and _OTHERS.fullmatch(kind.name):
        return kind
    if not scalar and _NESTED.fullmatch(text.strip()):
        compact = "".join(piece for piece in _PIECE.findall(text) if not piece.isspace())
        _check_nested_type(compact, text)
        return Type(compact)
    hint = suggest_type(kind.name) or did_you_mean(kind.name, _SCALARS) or f"one of {', '.join(_SCALARS)}"
    raise TypeNameError(f"{text!r} is not a supported type", hint=hint)


def _check_nested_type(compact: str, text: str) -> None:
    """Raise `TypeNameError` unless all parts of a nested type are types, and all fields have plain or quoted names."""
    pending = [(compact, 1)]
    while pending:
        current, depth = pending.pop()
        nested = read_nested_type(Type(current))
        is_named = nested is not None and all(
            _FIELD.fullmatch(name) or f"`{name.replace('`', '``')}`:" in current for name in nested.names
        )
        if nested is None or not is_named or depth > _DEEPEST or any(map(_has_control, nested.names)):
            raise TypeNameError(f"{text[:200]!r} is not a supported type", hint="for example array<struct<a:int>>")
        for part in nested.parts:
            if _NESTED.fullmatch(str(part)):
                pending.append((str(part), depth + 1))
            else:
                parse_spark_type(str(part))


def _has_control(name: str) -> bool:
    return any(ord(character) < 32 for character in name)


def restore_type(name: str) -> Type:
    """Return the type with this stored name; unlike `parse_type`, keep the case of struct fields.

    >>> restore_type("decimal(10,2)").scale, restore_type("struct<RA:double>").name
    (2, 'struct<RA:double>')
    """
    return Type(name) if "<" in name else parse_type(name)
