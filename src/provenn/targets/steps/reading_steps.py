"""Steps without inputs: rows of files, rows of fragments, and no rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from provenn.catalogs import Base, Catalog, Extent
from provenn.catalogs.extent import leaf, nothing
from provenn.data.fragments import Fragment
from provenn.digests import content_digest
from provenn.targets.steps.step import Attributes, PlanStep

__all__ = ["FragmentScan", "Nothing", "Scan"]


@dataclass(frozen=True, slots=True, eq=False)
class Scan(PlanStep):
    """The rows of a base catalog, read from its files.

    Parameters
    ----------
    base
        The catalog.
    chosen
        The fingerprints of the files that are read; None for all files.
    """

    word = "scan"
    base: Base
    chosen: frozenset[str] | None = None

    @property
    def file_count(self) -> int:
        """The number of files that are read."""
        prints = [text for _, text in self.base.files.fingerprints]
        return len(prints) if self.chosen is None else sum(text in self.chosen for text in prints)

    @property
    def inputs(self) -> tuple[PlanStep, ...]:
        """No steps."""
        return ()

    def _own_extent(self) -> Extent:
        if self.chosen is None:
            return self.base.extent
        # The sources of the chosen files: a set of which no more is known than that it lies in the base.
        files = content_digest("chosen files", sorted(self.chosen))
        return self.base.extent & leaf(f"files({self.base.digest}, {files})")

    def _own_attributes(self) -> Attributes:
        return self.base.schema.by_identity

    def replace_inputs(self, inputs: Sequence[PlanStep]) -> PlanStep:  # noqa: ARG002 - there are no inputs
        """Return the step itself."""
        return self

    def _details(self) -> tuple[object, ...]:
        return (self.base.digest, *sorted(self.chosen or ()))


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
    """No rows: the plan reads no data for this step.

    Parameters
    ----------
    empty_attributes
        The attributes that the rows would have.
    sources
        The set without sources. It is not the empty set by definition where only the files state that it is empty.
    """

    word = "nothing"
    empty_attributes: Attributes
    sources: Extent = nothing

    def _own_extent(self) -> Extent:
        return self.sources

    def _own_attributes(self) -> Attributes:
        return self.empty_attributes

    @property
    def inputs(self) -> tuple[PlanStep, ...]:
        """No steps."""
        return ()

    def replace_inputs(self, inputs: Sequence[PlanStep]) -> PlanStep:  # noqa: ARG002 - there are no inputs
        """Return the step itself."""
        return self

    def _details(self) -> tuple[object, ...]:
        return (self.sources.digest, *sorted(self.empty_attributes))
