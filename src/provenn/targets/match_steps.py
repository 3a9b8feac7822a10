"""The steps of a plan for matches on the sky: pairs of rows, and the rows in pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from provenn.catalogs import Extent
from provenn.catalogs.catalog import Pairing
from provenn.catalogs.match_sets import SIDES
from provenn.criteria import AttributeIdentity
from provenn.targets.steps import Attributes, FragmentScan, PlanStep, is_key

__all__ = ["Match", "Matched", "SideColumns", "StoredMatch", "list_side_columns", "list_side_reads"]

SideColumns = dict[AttributeIdentity, AttributeIdentity]
"""The identity of an attribute on a side by its identity in the pairs."""


@dataclass(frozen=True, slots=True)
class StoredMatch:
    """A fragment with all pairs of a match, and the match."""

    scan: FragmentScan
    catalog: Pairing


def list_side_columns(catalog: Pairing, needed: frozenset[AttributeIdentity]) -> tuple[SideColumns, SideColumns]:
    """Return, for each side of a match, the columns taken by pairs: needed attributes and keys."""
    left, right = (
        {
            attribute.identity: own.identity
            for attribute, own in side
            if is_key(attribute.identity) or attribute.identity in needed
        }
        for side in (catalog.attributes_of("left"), catalog.attributes_of("right"))
    )
    return left, right


def list_side_reads(
    catalog: Pairing, needed: frozenset[AttributeIdentity]
) -> tuple[frozenset[AttributeIdentity], frozenset[AttributeIdentity]]:
    """Return, for each side of a match, the attributes needed by pairs, with the inputs of the match, without keys."""
    left, right = (
        frozenset(own for own in columns.values() if not is_key(own)).union(
            identity for identity, _ in catalog.inputs_of(side) if not is_key(identity)
        )
        for columns, side in zip(list_side_columns(catalog, needed), SIDES, strict=True)
    )
    return left, right


@dataclass(frozen=True, slots=True, eq=False)
class Match(PlanStep):
    """Pairs of rows of two inputs, which may have different populations. A pair has its own population.

    Parameters
    ----------
    catalog
        The cross-match that defines the pairs and their attributes.
    left, right
        The matched rows: exactly the rows of the two matched catalogs.
    """

    word = "match"
    catalog: Pairing
    left: PlanStep
    right: PlanStep

    @property
    def inputs(self) -> tuple[PlanStep, ...]:
        """The left and the right step."""
        return self.left, self.right

    def _own_extent(self) -> Extent:
        return self.catalog.extent

    def _own_attributes(self) -> Attributes:
        return self.catalog.schema.by_identity

    def replace_inputs(self, inputs: Sequence[PlanStep]) -> PlanStep:
        """Return the same match of other inputs."""
        return Match(self.catalog, *inputs)

    def columns(self, needed: frozenset[AttributeIdentity]) -> tuple[SideColumns, SideColumns]:
        """Return, for each side, the identity there by the identity in the pairs, for needed attributes and keys."""
        return list_side_columns(self.catalog, needed)

    def reads(self, needed: frozenset[AttributeIdentity]) -> tuple[frozenset[AttributeIdentity], ...]:
        """Return the attributes that the pairs need of each side, with the position of that side."""
        return list_side_reads(self.catalog, needed)

    def _details(self) -> tuple[object, ...]:
        return (self.catalog.digest,)


@dataclass(frozen=True, slots=True, eq=False)
class Matched(PlanStep):
    """The rows of `input` whose sources occur in pairs.

    Parameters
    ----------
    input
        The step to filter.
    pairs
        The pairs.
    key
        The identities of these sources in the key of the pairs.
    condition
        The set of all sources in the pairs.
    """

    word = "matched"
    input: PlanStep
    pairs: PlanStep
    key: tuple[AttributeIdentity, ...]
    condition: Extent

    @property
    def inputs(self) -> tuple[PlanStep, ...]:
        """The filtered step and the pairs."""
        return self.input, self.pairs

    def _own_extent(self) -> Extent:
        return self.input.extent & self.condition

    def replace_inputs(self, inputs: Sequence[PlanStep]) -> PlanStep:
        """Return the same filter on other inputs."""
        step, pairs = inputs
        return Matched(step, pairs, self.key, self.condition)

    def reads(self, needed: frozenset[AttributeIdentity]) -> tuple[frozenset[AttributeIdentity], ...]:
        """Return the needed attributes for `input`, and only the key for the pairs."""
        return needed, frozenset()

    def _details(self) -> tuple[object, ...]:
        return (self.condition.digest,)
