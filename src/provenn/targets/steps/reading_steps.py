"""Steps without inputs: rows of files, rows of fragments, and no rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from provenn.catalogs import Base, Catalog, Extent
from provenn.catalogs.extent import nothing
from provenn.data.fragments import Fragment
from provenn.targets.steps.step import Attributes, PlanStep

__all__ = ["FragmentScan", "Nothing", "Scan"]


@dataclass(frozen=True, slots=True, eq=False)
class Scan(PlanStep):
    """The rows of a base catalog, read from its files."""

    word = "scan"
    base: Base

    @property
    def inputs(self) -> tuple[PlanStep, ...]:
        """No steps."""
        return ()

    def _own_extent(self) -> Extent:
        return self.base.extent

    def _own_attributes(self) -> Attributes:
        return self.base.schema.by_identity

    def replace_inputs(self, inputs: Sequence[PlanStep]) -> PlanStep:  # noqa: ARG002 - there are no inputs
        """Return the step itself."""
        return self

    def _details(self) -> tuple[object, ...]:
        return (self.base.digest,)


@dataclass(frozen=True, slots=True, eq=False)
class FragmentScan(PlanStep):
    """The rows of a fragment, read from the store.

    Parameters
    ----------
    fragment
        The fragment.
    catalog
        The catalog for which the fragment was stored.
    """

    word = "reuse"
    fragment: Fragment
    catalog: Catalog

    @property
    def inputs(self) -> tuple[PlanStep, ...]:
        """No steps."""
        return ()

    def _own_extent(self) -> Extent:
        return self.catalog.extent

    def _own_attributes(self) -> Attributes:
        attributes, identities = self.catalog.schema.by_identity, self.fragment.identities
        return {identity: attribute for identity, attribute in attributes.items() if identity in identities}

    def replace_inputs(self, inputs: Sequence[PlanStep]) -> PlanStep:  # noqa: ARG002 - there are no inputs
        """Return the step itself."""
        return self

    def _details(self) -> tuple[object, ...]:
        return (self.fragment.id,)


@dataclass(frozen=True, slots=True, eq=False)
class Nothing(PlanStep):
    """No rows: the plan reads no data for this step."""

    word = "nothing"
    empty_attributes: Attributes

    def _own_extent(self) -> Extent:
        return nothing

    def _own_attributes(self) -> Attributes:
        return self.empty_attributes

    @property
    def inputs(self) -> tuple[PlanStep, ...]:
        """No steps."""
        return ()

    def replace_inputs(self, inputs: Sequence[PlanStep]) -> PlanStep:  # noqa: ARG002 - there are no inputs
        """Return the step itself."""
        return self
