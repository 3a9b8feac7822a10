"""The steps of a plan that match: pairs of rows, which are of another population, and the rows that occur in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from provenn.catalogs import CrossMatch, Extent
from provenn.targets.steps import Attributes, Step, is_key

__all__ = ["Match", "Matched"]


@dataclass(frozen=True, slots=True, eq=False)
class Match(Step):
    """Pairs of rows of two inputs, which may be of different populations.

    Parameters
    ----------
    catalog
        Says which pairs, and what they have of both.
    left, right
        The rows: exactly those of the catalogs that are matched.
    """

    word = "match"
    catalog: CrossMatch
    left: Step
    right: Step

    @property
    def inputs(self) -> tuple[Step, ...]:
        """Both."""
        return self.left, self.right

    def _own_extent(self) -> Extent:
        return self.catalog.extent

    def _own_attributes(self) -> Attributes:
        return self.catalog.schema.by_identity

    def on(self, inputs: Sequence[Step]) -> Step:
        """Return the same match of other inputs."""
        return Match(self.catalog, *inputs)

    def columns(self, needed: frozenset[str]) -> tuple[dict[str, str], dict[str, str]]:
        """Return what pairs have of each side, if some attributes are needed: its identity there, by that of pairs."""
        sides = (self.catalog.attributes_of("left"), self.catalog.attributes_of("right"))
        left, right = (
            {one.identity: own.identity for one, own in side if is_key(one.identity) or one.identity in needed}
            for side in sides
        )
        return left, right

    def reads(self, needed: frozenset[str]) -> tuple[frozenset[str], ...]:
        """What pairs have of each side, and its position."""
        places = (self.catalog.coordinates[:2], self.catalog.coordinates[2:])
        return tuple(
            frozenset(own for own in given.values() if not is_key(own)).union(
                identity for identity, _ in place if not is_key(identity)
            )
            for given, place in zip(self.columns(needed), places, strict=True)
        )

    def _details(self) -> tuple[object, ...]:
        return (self.catalog.digest,)


@dataclass(frozen=True, slots=True, eq=False)
class Matched(Step):
    """The rows of `input` whose sources occur in pairs.

    Parameters
    ----------
    input
        The rows.
    pairs
        The pairs.
    key
        The identities of the key of pairs that identify these sources.
    condition
        The set of all sources that occur in them.
    """

    word = "matched"
    input: Step
    pairs: Step
    key: tuple[str, ...]
    condition: Extent

    @property
    def inputs(self) -> tuple[Step, ...]:
        """The rows, and the pairs."""
        return self.input, self.pairs

    def _own_extent(self) -> Extent:
        return self.input.extent & self.condition

    def on(self, inputs: Sequence[Step]) -> Step:
        """Return the same of other inputs."""
        one, pairs = inputs
        return Matched(one, pairs, self.key, self.condition)

    def reads(self, needed: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Of the pairs, nothing but the key."""
        return needed, frozenset()

    def _details(self) -> tuple[object, ...]:
        return (self.condition.digest,)
