"""The first sources of each group, in an order: the latest row of each key, the best of each kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from provenn.catalogs.catalog import Catalog, Facts, Parameters, make_inconsistency_error
from provenn.catalogs.column_origins import ColumnOrigin, build_origins
from provenn.catalogs.exchange_options import ExchangeForm, ExchangeOptions, require_text
from provenn.catalogs.extent import Extent, leaf
from provenn.catalogs.images import Ranking, find_members
from provenn.catalogs.profile import ClassProfile
from provenn.catalogs.reference_columns import find_grouping
from provenn.criteria import Atom, AttributeIdentity
from provenn.criteria.aggregates import SortKey, parse_order
from provenn.digests import CatalogDigest
from provenn.display.text import join_words
from provenn.errors import DefinitionError
from provenn.logic import Statement, intersection, subset

__all__ = ["FirstSources"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FirstSources(Catalog):
    """The first sources of each group of the sources of `parent`, in an order; the key decides between equals.

    A source whose grouping attributes hold a NULL is in no group, and never first.

    Parameters
    ----------
    parent
        The catalog of the sources and attributes.
    by
        The attributes in which the sources of a group agree.
    order
        Canonical expressions and directions, the most important first.
    number
        How many sources of each group are kept.
    by_names, text
        The grouping attributes and the order in the user's words.
    """

    profile = ClassProfile(word="first", shape="podium", narrows=True, compares_groups=True)
    parent: Catalog
    by: tuple[AttributeIdentity, ...]
    order: tuple[str, ...]
    number: int
    by_names: tuple[str, ...]
    text: str

    @classmethod
    def of(cls, parent: Catalog, by: object, order: object, number: object = 1) -> Self:
        """Keep the first sources of each group.

        Parameters
        ----------
        parent
            The catalog of the sources.
        by
            The attributes in which the sources of a group agree: a name, or a list of names.
        order
            The order within a group, such as ``mjd DESC, flag``.
        number
            How many sources of each group are kept.

        Raises
        ------
        DefinitionError
            If an argument is not valid.
        AttributeNotFoundError
            If an attribute does not exist.
        CriterionError
            If the order cannot be read.
        """
        attributes = find_grouping(parent, by, "the groups")
        if not isinstance(order, str) or not order.strip():
            raise DefinitionError(f"expected an order, got {order!r}", hint="for example mjd DESC")
        parsed = parse_order(order, parent.schema)
        return cls(
            parent,
            tuple(attribute.identity for attribute in attributes),
            tuple(ordering.canonical for ordering in parsed),
            _check_number(number),
            tuple(attribute.name for attribute in attributes),
            order,
        )

    def check_consistency(self) -> None:
        """Make sure that the attributes can group sources, and that the stored order is an order in normal form."""
        attributes = self.parent.schema.by_identity
        find_grouping(self.parent, [attributes[identity].name for identity in self.by], "the groups")
        if tuple(ordering.canonical for ordering in self.parse_order()) != self.order:
            raise make_inconsistency_error("its order is not in normal form")

    @property
    def dependencies(self) -> tuple[Catalog, ...]:
        """The parent."""
        return (self.parent,)

    @property
    def atom(self) -> Atom:
        """The atom of the first sources of all groups of the members."""
        return self.find_ranking().atom

    def find_ranking(self) -> Ranking:
        """Return which sources are first in their groups."""
        return Ranking(self.by, self.order, self.number, find_members(self.by, self.parent.extent))

    def parse_order(self) -> tuple[SortKey, ...]:
        """Return the order within a group."""
        return parse_order(", ".join(self.order), self.parent.schema.by_canonical_name, canonical=True)

    def parameters(self) -> Parameters:
        """Return the grouping attributes, the order, the number, and the digest of the members."""
        return {
            "by": list(self.by),
            "order": list(self.order),
            "number": self.number,
            "first": [self.atom.label, self.atom.term],
        }

    def notes(self) -> Parameters:
        """Return the grouping attributes and the order in the user's words."""
        return {"by": list(self.by_names), "order": self.text}

    @classmethod
    def restored(cls, parameters: Parameters, notes: Parameters, dependencies: Sequence[Catalog]) -> Self:
        """Return the catalog with these parameters, notes and parent."""
        (parent,) = dependencies
        by = tuple(parent.schema.by_identity[identity].identity for identity in parameters["by"])
        order = tuple(map(str, parameters["order"]))
        return cls(parent, by, order, _check_number(parameters["number"]), tuple(notes["by"]), notes["order"])

    def on(self, dependencies: Sequence[Catalog]) -> Catalog:
        """Return the first sources of each group of a different parent."""
        (parent,) = dependencies
        return self.of(parent, list(self.by_names), self.text, self.number)

    @classmethod
    def facts_of(cls, digest: CatalogDigest, dependencies: Sequence[CatalogDigest], parameters: Parameters) -> Facts:
        """Return the intersection of the parent and the set of first sources."""
        (parent,) = dependencies
        label, text = parameters["first"]
        return (intersection(digest, parent, label),), (Atom(label, text, int(parameters["number"]), ()),)

    @classmethod
    def local_statement(cls, digest: CatalogDigest, dependencies: Sequence[CatalogDigest]) -> Statement:
        """Return a subset of the parent."""
        (parent,) = dependencies
        return subset(digest, parent)

    @classmethod
    def describe(cls, parameters: Parameters, notes: Parameters, parts: Sequence[str]) -> str:
        """Return the parent, the groups and the order in words."""
        number = parameters["number"]
        first = "the first source" if number == 1 else f"the first {number} sources"
        return f"{first} of {parts[0]} for each {join_words(notes['by'])}, by {' '.join(notes['order'].split())}"

    def describe_briefly(self, parts: Sequence[str]) -> str:
        """Return the parent and the groups."""
        return f"first of {parts[0]} by {', '.join(self.by_names)}"

    def show_parameters(self) -> Sequence[tuple[str, str]]:
        """Return the grouping attributes, the order and the number."""
        return (("by", ", ".join(self.by_names)), ("order", self.text), ("number", str(self.number)))

    def exchange_form(self) -> ExchangeForm:
        """Return the grouping attributes, the order and the number."""
        return self.profile.word, {"by": list(self.by_names), "order": self.text, "number": self.number}

    @classmethod
    def from_exchange(cls, verb: str, options: ExchangeOptions, parts: Sequence[Catalog]) -> Catalog:  # noqa: ARG003
        """Return the first sources of each group of the part."""
        return cls.of(parts[0], options["by"], require_text(options["order"]), options["number"])

    def trace_selection(self) -> tuple[ColumnOrigin, ...]:
        """Return the grouping attributes and those that order the groups."""
        attributes = self.parent.schema.by_identity
        ordering = {identity for part in self.parse_order() for identity in part.expression.reads}
        read = (attributes[identity] for identity in dict.fromkeys([*self.by, *sorted(ordering)]))
        return build_origins(self.parent.digest, read, "INDIRECT", "WINDOW", self.text)

    def _build_extent(self) -> Extent:
        return self.parent.extent & leaf(self.atom.label)


def _check_number(number: object) -> int:
    """Return the number of sources to keep of each group, if valid."""
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise DefinitionError(f"expected a whole number of sources, 1 or more, got {number!r}")
    return number
