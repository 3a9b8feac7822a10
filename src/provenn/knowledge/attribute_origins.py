"""The columns of base catalogs on which conditions depend, through all expressions of derived attributes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from provenn.catalogs import Base, Catalog
from provenn.catalogs.schema import Attribute
from provenn.criteria import AttributeIdentity, parse_expression
from provenn.criteria.nodes import ColumnNode, Condition, Node, walk

__all__ = ["AttributeOrigins", "UnknownOrigin"]


class UnknownOrigin(Exception):  # noqa: N818 - no failure: there is no answer
    """Something other than an SQL expression defines an attribute."""


@dataclass(frozen=True, slots=True)
class AttributeOrigins:
    """The attributes of catalogs by identity, and the defining expressions of some attributes."""

    by_name: Mapping[str, Attribute]
    stored: frozenset[AttributeIdentity]
    expressions: Mapping[AttributeIdentity, str]

    @classmethod
    def of(cls, catalogs: Iterable[Catalog], stored: Iterable[AttributeIdentity] = ()) -> AttributeOrigins:
        """Collect the attributes of catalogs; `stored` names known values in addition to columns of base catalogs."""
        by_name: dict[str, Attribute] = {}
        known = set(stored)
        expressions: dict[AttributeIdentity, str] = {}
        for catalog in catalogs:
            for name, attribute in catalog.schema.by_canonical_name.items():
                by_name.setdefault(name, attribute)
            if isinstance(catalog, Base):
                known.update(catalog.schema.by_identity)
            expressions |= catalog.find_expressions()
        return cls(by_name, frozenset(known), expressions)

    def trace_columns(
        self, condition: Condition
    ) -> tuple[dict[AttributeIdentity, ColumnNode], dict[AttributeIdentity, Node]]:
        """Return the columns of bases that decide about a condition, and the expressions of derived attributes.

        Raises
        ------
        UnknownOrigin
            If something else defines an attribute.
        """
        columns: dict[AttributeIdentity, ColumnNode] = {}
        formulas: dict[AttributeIdentity, Node] = {}
        pending: list[Node | Condition] = [condition]
        while pending:
            for column in (part for part in walk(pending.pop()) if isinstance(part, ColumnNode)):
                identity = column.identity
                if identity in self.stored:
                    columns[identity] = column
                elif identity not in formulas:
                    formulas[identity] = self._parse_formula(identity)
                    pending.append(formulas[identity])
        return columns, formulas

    def _parse_formula(self, identity: AttributeIdentity) -> Node:
        if identity not in self.expressions:
            raise UnknownOrigin
        return parse_expression(self.expressions[identity], self.by_name, canonical=True).node
