"""The types of columns in VOTables: for attributes of catalogs, and for columns of Arrow."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["TEXT", "ColumnType", "find_column_type"]

_NUMBERS: Final = {
    "boolean": "boolean",
    "tinyint": "short",
    "smallint": "short",
    "int": "int",
    "bigint": "long",
    "float": "float",
    "double": "double",
}
_ARRAY: Final = re.compile(r"array<(\w+)>")
_LONG_DIGITS: Final = 18
"""Whole numbers with as many digits always fit a VOTable's long."""


@dataclass(frozen=True, slots=True)
class ColumnType:
    """The type of a column in a VOTable.

    Parameters
    ----------
    datatype
        The type of a value.
    arraysize
        ``*`` for texts and arrays; empty for single values.
    xtype
        ``timestamp`` for dates and moments, which are texts in ISO 8601; otherwise empty.
    """

    datatype: str
    arraysize: str = ""
    xtype: str = ""


TEXT: Final = ColumnType("char", "*")
"""The type of texts."""


def find_column_type(type_name: str) -> ColumnType:
    """Return the type of a column in a VOTable for a type in Spark's spelling; other types are written as texts.

    >>> find_column_type("bigint"), find_column_type("array<double>").arraysize
    (ColumnType(datatype='long', arraysize='', xtype=''), '*')
    >>> find_column_type("timestamp").xtype, find_column_type("decimal(20,4)").datatype
    ('timestamp', 'double')
    """
    if type_name in _NUMBERS:
        return ColumnType(_NUMBERS[type_name])
    if type_name in ("date", "timestamp", "timestamp_ntz"):
        return ColumnType("char", "*", "timestamp")
    if type_name.startswith("decimal"):
        digits, scale = map(int, re.findall(r"\d+", type_name))
        return ColumnType("long" if scale == 0 and digits <= _LONG_DIGITS else "double")
    array = _ARRAY.fullmatch(type_name)
    if array is not None and array[1] in _NUMBERS:
        return ColumnType(_NUMBERS[array[1]], "*")
    return TEXT
