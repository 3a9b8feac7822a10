"""Orders of rows as structs: Spark compares structs field by field, much faster than by conditions.

A struct is compared with NULL as the smallest value of a field, NaN as the largest, and ``-0.0`` equal to ``0.0``, as
an ORDER BY does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["NaturalOrder", "OrderedValue", "find_natural_order"]


@dataclass(frozen=True, slots=True)
class OrderedValue:
    """A value by which rows are ordered.

    Parameters
    ----------
    text
        The value in SQL.
    descending, nulls_first
        Its direction, and whether rows without a value come first; None if all rows have one.
    is_whole
        Whether it is known to be a whole number: the bitwise complement of such a number has the reverse order.
    """

    text: str
    descending: bool = False
    nulls_first: bool | None = None
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class NaturalOrder:
    """The fields of a struct in SQL, and whether rows come from the largest struct to the smallest."""

    fields: tuple[str, ...]
    descending: bool


def find_natural_order(values: Sequence[OrderedValue]) -> NaturalOrder | None:
    """Return the order of rows as that of structs; None if directions are mixed that cannot be reversed.

    Examples
    --------
    >>> find_natural_order([OrderedValue("mjd", descending=True, nulls_first=False), OrderedValue("id", is_whole=True)])
    NaturalOrder(fields=('mjd', '~(id)'), descending=True)
    >>> find_natural_order([OrderedValue("mag", nulls_first=False), OrderedValue("name")])
    NaturalOrder(fields=('(mag) IS NULL', 'mag', 'name'), descending=False)
    >>> find_natural_order([OrderedValue("mjd", descending=True, nulls_first=False), OrderedValue("name")])
    """
    for descending in (False, True):
        if all(value.descending == descending or value.is_whole for value in values):
            fields: list[str] = []
            for value in values:
                if value.nulls_first == descending:  # NULL would come at the other end
                    fields.append(f"({value.text}) IS NULL")
                fields.append(value.text if value.descending == descending else f"~({value.text})")
            return NaturalOrder(tuple(fields), descending)
    return None
