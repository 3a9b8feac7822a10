"""The steps of a plan that follow references: partners, attributes of partners, groups, first sources, elements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from provenn.catalogs import Attribute, Extent
from provenn.catalogs.explode_arrays import ElementColumn
from provenn.catalogs.references import Reference
from provenn.criteria import AttributeIdentity
from provenn.criteria.aggregates import Aggregate, SortKey
from provenn.targets.steps import Attributes, PlanStep, is_key

__all__ = ["Explode", "First", "Group", "Lookup", "Partnered", "list_referring"]


def list_referring(identities: Iterable[AttributeIdentity]) -> frozenset[AttributeIdentity]:
    """Return the attributes that a step must ask of its input: every input has the key."""
    return frozenset(identity for identity in identities if not is_key(identity))


@dataclass(frozen=True, slots=True, eq=False)
class Partnered(PlanStep):
    """The rows of `input` with a partner in `other`, or those without: a semi or an anti join.

    Parameters
    ----------
    input
        The step to filter.
    other
        The rows among which partners are sought; of any population.
    own, others
        The attributes of `input`, and of `other`, in which partners agree. A row with a NULL has no partner.
    is_in
        Whether the rows with a partner stay, or the others.
    sources
        The remaining sources.
    """

    word = "partnered"
    input: PlanStep
    other: PlanStep
    own: tuple[AttributeIdentity, ...]
    others: tuple[AttributeIdentity, ...]
    is_in: bool
    sources: Extent

    @property
    def inputs(self) -> tuple[PlanStep, ...]:
        """The filtered step, and the step with the partners."""
        return self.input, self.other

    def _own_extent(self) -> Extent:
        return self.sources

    def replace_inputs(self, inputs: Sequence[PlanStep]) -> PlanStep:
        """Return the same filter on other inputs."""
        step, other = inputs
        return replace(self, input=step, other=other)

    def reads(self, needed: frozenset[AttributeIdentity]) -> tuple[frozenset[AttributeIdentity], ...]:
        """Return the needed and the compared attributes of `input`, and the compared attributes of `other`."""
        return needed | list_referring(self.own), list_referring(self.others)

    def _details(self) -> tuple[object, ...]:
        return self.own, self.others, self.is_in, self.sources.digest


@dataclass(frozen=True, slots=True, eq=False)
class Lookup(PlanStep):
    """The rows of `input` with attributes of their partners in `other`.

    Parameters
    ----------
    input
        The step that refers.
    other
        The partners.
    reference
        The attributes of `input` that hold the key of the partner.
    columns
        The looked-up attributes, each with its identity in `other`.
    keeps_all
        Whether rows without a partner stay, with NULL.
    sources
        The sources of the rows.
    """

    word = "lookup"
    input: PlanStep
    other: PlanStep
    reference: Reference
    columns: tuple[tuple[Attribute, AttributeIdentity], ...]
    keeps_all: bool
    sources: Extent

    @property
    def inputs(self) -> tuple[PlanStep, ...]:
        """The referring step, and the partners."""
        return self.input, self.other

    def _own_extent(self) -> Extent:
        return self.sources

    def _own_attributes(self) -> Attributes:
        looked_up = {attribute.identity: attribute for attribute, _ in self.columns}
        return {**looked_up, **self.input.attributes}

    def find_columns(self, needed: frozenset[AttributeIdentity]) -> dict[AttributeIdentity, AttributeIdentity]:
        """Return the needed attributes that come from the partner: identities there by identities here."""
        return {
            attribute.identity: own
            for attribute, own in self.columns
            if attribute.identity in needed and attribute.identity not in self.input.attributes
        }

    def replace_inputs(self, inputs: Sequence[PlanStep]) -> PlanStep:
        """Return the same lookup with other inputs."""
        step, other = inputs
        return replace(self, input=step, other=other)

    def reads(self, needed: frozenset[AttributeIdentity]) -> tuple[frozenset[AttributeIdentity], ...]:
        """Return the needed and the referring attributes of `input`, and what is looked up in `other`."""
        own = needed.intersection(self.input.attributes) | list_referring(self.reference.identities)
        return own, list_referring(self.find_columns(needed).values())

    def _details(self) -> tuple[object, ...]:
        identities = tuple((attribute.identity, own) for attribute, own in self.columns)
        return self.reference, identities, self.keeps_all, self.sources.digest


@dataclass(frozen=True, slots=True, eq=False)
class Group(PlanStep):
    """The groups of the rows of `input`. A group has a population of its own.

    Parameters
    ----------
    input
        The members: all of every group of the result.
    reference
        The attributes of `input` that identify the group.
    key
        The key attributes of the groups.
    values
        The attributes of the groups, each with its aggregate.
    sources
        The groups.
    """

    word = "group"
    input: PlanStep
    reference: Reference
    key: tuple[Attribute, ...]
    values: tuple[tuple[Attribute, Aggregate], ...]
    sources: Extent

    @property
    def inputs(self) -> tuple[PlanStep, ...]:
        """The members."""
        return (self.input,)

    def _own_extent(self) -> Extent:
        return self.sources

    def _own_attributes(self) -> Attributes:
        return {attribute.identity: attribute for attribute in (*self.key, *(value for value, _ in self.values))}

    def replace_inputs(self, inputs: Sequence[PlanStep]) -> PlanStep:
        """Return the same groups of other members."""
        (step,) = inputs
        return replace(self, input=step)

    def find_values(self, needed: frozenset[AttributeIdentity]) -> dict[AttributeIdentity, Aggregate]:
        """Return the aggregates that are needed, by identity."""
        return {attribute.identity: aggregate for attribute, aggregate in self.values if attribute.identity in needed}

    def reads(self, needed: frozenset[AttributeIdentity]) -> tuple[frozenset[AttributeIdentity], ...]:
        """Return the grouping attributes, and what the needed aggregates read."""
        read = (aggregate.reads for aggregate in self.find_values(needed).values())
        return (list_referring(frozenset(self.reference.identities).union(*read)),)

    def _details(self) -> tuple[object, ...]:
        return self.reference, tuple(attribute.identity for attribute, _ in self.values), self.sources.digest


@dataclass(frozen=True, slots=True, eq=False)
class First(PlanStep):
    """The first rows of each group of rows of `input`.

    Parameters
    ----------
    input
        The rows to compare: all of every group that has a row in the result.
    by
        The attributes in which the rows of a group agree.
    order
        The order within a group; the key decides between equal rows.
    number
        How many rows of each group stay.
    sources
        The remaining sources.
    """

    word = "first"
    input: PlanStep
    by: tuple[AttributeIdentity, ...]
    order: tuple[SortKey, ...]
    number: int
    sources: Extent

    @property
    def inputs(self) -> tuple[PlanStep, ...]:
        """The rows to compare."""
        return (self.input,)

    def _own_extent(self) -> Extent:
        return self.sources

    def replace_inputs(self, inputs: Sequence[PlanStep]) -> PlanStep:
        """Return the first of other rows."""
        (step,) = inputs
        return replace(self, input=step)

    @property
    def read_attributes(self) -> frozenset[AttributeIdentity]:
        """The grouping attributes, and those that order the groups."""
        return frozenset(self.by).union(*(ordering.expression.reads for ordering in self.order))

    def reads(self, needed: frozenset[AttributeIdentity]) -> tuple[frozenset[AttributeIdentity], ...]:
        """Return the needed attributes, the grouping attributes, and those that order the groups."""
        return (needed | list_referring(self.read_attributes),)

    def _details(self) -> tuple[object, ...]:
        order = tuple(ordering.canonical for ordering in self.order)
        return self.by, order, self.number, self.sources.digest


@dataclass(frozen=True, slots=True, eq=False)
class Explode(PlanStep):
    """The elements of arrays of the rows of `input`. An element has a population of its own.

    Parameters
    ----------
    input
        The rows with arrays.
    arrays
        The arrays.
    key
        The key attributes of the elements: those of the row, and the position.
    columns
        The attributes of the elements.
    sources
        The elements.
    """

    word = "explode"
    input: PlanStep
    arrays: tuple[AttributeIdentity, ...]
    key: tuple[Attribute, ...]
    columns: tuple[ElementColumn, ...]
    sources: Extent

    @property
    def inputs(self) -> tuple[PlanStep, ...]:
        """The rows with arrays."""
        return (self.input,)

    def _own_extent(self) -> Extent:
        return self.sources

    def _own_attributes(self) -> Attributes:
        values = (column.attribute for column in self.columns)
        return {attribute.identity: attribute for attribute in (*self.key, *values)}

    def replace_inputs(self, inputs: Sequence[PlanStep]) -> PlanStep:
        """Return the elements of the arrays of other rows."""
        (step,) = inputs
        return replace(self, input=step)

    def reads(self, needed: frozenset[AttributeIdentity]) -> tuple[frozenset[AttributeIdentity], ...]:  # noqa: ARG002 - the arrays decide which elements there are
        """Return the arrays."""
        return (frozenset(self.arrays),)

    def _details(self) -> tuple[object, ...]:
        return self.arrays, tuple(attribute.identity for attribute in self.key)
