"""Arrays that a look can read: of numbers, or of structs of numbers and texts; pyarrow is not imported here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from provenn.criteria import Type

__all__ = ["ArrayType", "parse_array_type"]

_NUMBERS: Final = frozenset(("tinyint", "smallint", "int", "bigint", "float", "double"))
_VALUES: Final = _NUMBERS | {"string"}
_FIELD: Final = re.compile(r"(\w+):(\w+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class ArrayType:
    """The type of an array whose elements are numbers, or structs.

    Attributes
    ----------
    element
        The type of the elements, if they are numbers; empty for structs.
    fields
        For structs: names and types of the fields.
    """

    element: str
    fields: tuple[tuple[str, str], ...] = ()

    @property
    def numbers(self) -> tuple[str, ...]:
        """The fields with numbers."""
        return tuple(name for name, kind in self.fields if kind in _NUMBERS)


def parse_array_type(kind: Type) -> ArrayType | None:
    """Return what a readable array holds, or None for every other type.

    >>> parse_array_type(Type("array<double>"))
    ArrayType(element='double', fields=())
    >>> parse_array_type(Type("array<struct<mjd:double,band:string>>")).fields
    (('mjd', 'double'), ('band', 'string'))
    >>> parse_array_type(Type("array<array<double>>")), parse_array_type(Type("double"))
    (None, None)
    """
    if not kind.name.startswith("array<"):
        return None
    inner = kind.name[len("array<") : -1]
    if inner in _NUMBERS:
        return ArrayType(inner)
    if not inner.startswith("struct<"):
        return None
    parts = [_FIELD.fullmatch(part) for part in inner[len("struct<") : -1].split(",")]
    fields = tuple((part[1], part[2]) for part in parts if part is not None and part[2] in _VALUES)
    names = {name.lower() for name, _ in fields}
    return ArrayType("", fields) if len(names) == len(parts) else None
