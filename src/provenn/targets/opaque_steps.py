"""The steps of a plan that run SQL not understood by provenn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from provenn.catalogs import Extent, OpaqueQuery, OpaqueSelection
from provenn.catalogs.opaque_inputs import list_read_attributes
from provenn.criteria import AttributeIdentity
from provenn.targets.reference_steps import list_referring
from provenn.targets.steps import Attributes, PlanStep

__all__ = ["FilterBySql", "QueryBySql"]


@dataclass(frozen=True, slots=True, eq=False)
class FilterBySql(PlanStep):
    """The rows of `input` that fulfil an opaque condition.

    Parameters
    ----------
    input
        The step to filter.
    others
        The whole catalogs in subqueries of the condition.
    selection
        The catalog with the condition.
    sources
        The remaining sources.
    """

    word = "filter by SQL"
    input: PlanStep
    others: tuple[PlanStep, ...]
    selection: OpaqueSelection
    sources: Extent

    @property
    def inputs(self) -> tuple[PlanStep, ...]:
        """The filtered step, and the catalogs in subqueries."""
        return self.input, *self.others

    def _own_extent(self) -> Extent:
        return self.sources

    def replace_inputs(self, inputs: Sequence[PlanStep]) -> PlanStep:
        """Return the same filter on other inputs."""
        step, *others = inputs
        return replace(self, input=step, others=tuple(others))

    def reads(self, needed: frozenset[AttributeIdentity]) -> tuple[frozenset[AttributeIdentity], ...]:
        """Return the needed attributes and those in the condition, and what subqueries may read."""
        text = self.selection.read_condition()
        others = (list_read_attributes(text, other) for other in self.selection.others)
        read = (list_referring(attribute.identity for attribute in attributes) for attributes in others)
        return needed | list_referring(self.selection.reads), *read

    def _details(self) -> tuple[object, ...]:
        return self.selection.label, self.sources.digest


@dataclass(frozen=True, slots=True, eq=False)
class QueryBySql(PlanStep):
    """The rows of an opaque query. A row has a population of its own.

    Parameters
    ----------
    tables
        The whole catalogs that the query reads.
    query
        The catalog with the query.
    """

    word = "query by SQL"
    tables: tuple[PlanStep, ...]
    query: OpaqueQuery

    @property
    def inputs(self) -> tuple[PlanStep, ...]:
        """The catalogs that the query reads."""
        return self.tables

    def _own_extent(self) -> Extent:
        return self.query.extent

    def _own_attributes(self) -> Attributes:
        return self.query.schema.by_identity

    def replace_inputs(self, inputs: Sequence[PlanStep]) -> PlanStep:
        """Return the same query on other steps with the same rows."""
        return replace(self, tables=tuple(inputs))

    def reads(self, needed: frozenset[AttributeIdentity]) -> tuple[frozenset[AttributeIdentity], ...]:  # noqa: ARG002 - nobody knows which columns a column of the result needs
        """Return what the query may read."""
        text = self.query.read_query()
        tables = (list_read_attributes(text, catalog) for catalog in self.query.inputs)
        return tuple(list_referring(attribute.identity for attribute in attributes) for attributes in tables)

    def _details(self) -> tuple[object, ...]:
        return (self.query.digest,)
