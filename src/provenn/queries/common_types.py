"""Types in which the values of columns of several queries are compared."""

from __future__ import annotations

from sqlglot import exp

from provenn.catalogs.schema import Attribute
from provenn.criteria.types import BIGINT, INT, SMALLINT, TINYINT, Type
from provenn.queries.relation import name_attribute

__all__ = ["find_wider_type", "widen"]


def find_wider_type(first: Type, second: Type) -> Type | None:
    """Return the type in which values of two types are compared; None if unknown."""
    if first == second:
        return first
    whole = [kind for kind in (TINYINT, SMALLINT, INT, BIGINT) if kind in (first, second)]
    return whole[-1] if len(whole) == 2 else None


def widen(attribute: Attribute, kind: Type | None) -> exp.Expr:
    """Return an attribute as a value of a wider type."""
    value = name_attribute(attribute.name)
    return value if kind is None or attribute.type == kind else exp.cast(value, str(kind), dialect="spark")
