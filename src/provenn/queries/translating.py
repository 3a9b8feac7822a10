"""The arguments for translating a query, and the remarks of the translation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from provenn.catalogs import Catalog, verbs
from provenn.criteria import backquoted
from provenn.errors import CriterionError
from provenn.logic import Statement, equal
from provenn.queries.relation import RowSource
from provenn.queries.tree import Node

__all__ = ["KEY_DECIDES", "ColumnType", "Remark", "Translating"]

KEY_DECIDES: Final = "the key decides between rows that are equal in the order"
"""The reason of a remark on a part whose meaning the query leaves open."""

ColumnType = tuple[str, str, bool]
"""The name, the type in Spark's words and the nullability of a column."""


@dataclass(frozen=True, slots=True)
class Remark:
    """A part of a query not understood, or understood in a certain way.

    Parameters
    ----------
    part
        The part, as the query calls it: "WHERE", "JOIN".
    reason
        Why it was not understood.
    """

    part: str
    reason: str

    def __str__(self) -> str:
        return f"{self.part}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Translating:
    """The context of a translation.

    Parameters
    ----------
    catalogs
        The catalogs of the tables, by name.
    prove
        Whether a statement about some catalogs, which need not be stored, is proved.
    find_types
        Returns the columns of a SELECT over catalogs that stand for the tables ``input_1`` and so on.
    find_population
        Returns the types of the key of a population that the archive knows; None for a new name.
    express
        Translates a node in this context.
    remarks
        What was remarked so far.
    relations
        The relations of the nodes that were translated, by the identity of their node, which is free for another node
        once the node is gone. A node may be translated in several ways, one after the other, and parts of it each time.
    """

    catalogs: Mapping[str, Catalog]
    prove: Callable[[Statement, Sequence[Catalog]], bool]
    find_types: Callable[[str, Sequence[Catalog]], Sequence[ColumnType]]
    find_population: Callable[[str], Sequence[str] | None]
    express: Callable[[Node, Translating], RowSource]
    remarks: list[Remark] = field(default_factory=list)
    relations: dict[int, tuple[Node, RowSource]] = field(default_factory=dict)

    def translate(self, node: Node) -> RowSource:
        """Return the relation of a node."""
        if id(node) not in self.relations:
            self.relations[id(node)] = node, self.express(node, self)
        return self.relations[id(node)][1]

    def remark(self, part: str, reason: str) -> None:
        """Note a part as not understood."""
        remark = Remark(part, reason)
        if remark not in self.remarks:
            self.remarks.append(remark)

    def is_never_null(self, catalog: Catalog, name: str) -> bool:
        """Whether an attribute is known to have a value for every source of a catalog."""
        attribute = catalog.schema[name]
        if not attribute.nullable:
            return True
        try:
            selected = verbs.select(catalog, f"{backquoted(attribute.name)} IS NOT NULL")
        except CriterionError:
            return False
        if selected.extent.digest == catalog.extent.digest:
            return True
        return self.prove(equal(selected.digest, catalog.digest), (selected, catalog))
