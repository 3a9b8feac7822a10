"""Read the types inside the names of array, map and struct types."""

from __future__ import annotations

import re
from dataclasses import dataclass

from provenn.criteria.types import Type, parse_type

__all__ = ["NestedType", "read_nested_type"]

_FIELD = re.compile(r"(?:([^\s:<>,`]+)|`((?:[^`]|``)*)`):", re.DOTALL)


@dataclass(frozen=True, slots=True)
class NestedType:
    """An array, map or struct type.

    Parameters
    ----------
    form
        ``array``, ``map`` or ``struct``.
    parts
        The types inside: of the elements, of keys and values, or of the fields.
    names
        The names of the fields.
    """

    form: str
    parts: tuple[Type, ...]
    names: tuple[str, ...] = ()


def read_nested_type(kind: Type) -> NestedType | None:
    """Return the parts of an array, map or struct type, or None for other types and for names that cannot be read.

    >>> nested = read_nested_type(Type("struct<RA:double,`a b`:array<int>>"))
    >>> nested.names, [str(part) for part in nested.parts]
    (('RA', 'a b'), ['double', 'array<int>'])
    """
    match = re.fullmatch(r"(array|map|struct)<(.*)>", kind.name, re.DOTALL | re.IGNORECASE)
    texts = _split_texts(match[2]) if match else None
    if match is None or texts is None:
        return None
    form = match[1].lower()
    names: list[str] = []
    if form == "struct":
        fields = [field for text in texts if (field := _FIELD.match(text))]
        names = [field[1] or field[2].replace("``", "`") for field in fields]
        texts = [field.string[field.end() :] for field in fields] if len(fields) == len(texts) else [""]
    if any(not text for text in texts) or len(texts) != {"array": 1, "map": 2}.get(form, len(names)):
        return None
    parts = tuple(Type(text) if "<" in text else parse_type(text) for text in texts)
    return NestedType(form, parts, tuple(names))


def _split_texts(text: str) -> list[str] | None:
    """Return the parts of a text between commas outside brackets and backquotes; None if brackets do not match."""
    parts, depth = [""], 0
    for piece in re.findall(r"`(?:[^`]|``)*`|.", text, re.DOTALL):
        if piece == "," and depth == 0:
            parts.append("")
            continue
        depth += (piece in "<(") - (piece in ">)")
        if depth < 0:
            return None
        parts[-1] += piece
    return parts if depth == 0 else None
