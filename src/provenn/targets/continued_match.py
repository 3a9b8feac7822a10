"""The step that continues a stored match for grown catalogs: only possible changes by new sources are matched.

The law. Let A and B be the sides of a match, A' and B' the sides of an earlier match within the same radius and with
stored pairs. Let K be sources of A that are also sources of A', at the same position, and L likewise sources of B and
of B'; all further sources of A and B are new.

- A pair belongs to all pairs of A and B if and only if its positions are close and its sources are in A and in B. So
  all pairs are: the stored pairs with sources in K and in L; the pairs of A with the new sources of B; and the pairs of
  the new sources of A with B.
- A best pair is the smallest pair of its left source, in the order of separation and then of the right key. The
  smallest element of a union is the smallest of the smallest elements of the parts. So the best pair of a source is the
  smallest of its best pairs with L and with the new sources of B.
- The best pair of a source of K with L is the stored pair, if the partner is in L: if the smallest element of B' lies
  in a part of B', the element is the smallest of the part. A source without a stored pair has no pair with L either. If
  the stored partner is not in L (its file is gone), nothing is known, and the source is matched again with B.
- So the best pairs are, for each left source, the smallest of: the stored pairs with sources in K and in L; the pairs
  of A with the new sources of B; and the pairs with B of the new sources of A, and of the sources with a stored partner
  not in L. Ties are resolved as by a match of A and B, because the order is the same total order of the same numbers:
  the separation depends on the two positions alone, and fragments of other platforms are not read.

- The k nearest pairs follow the same law with the k smallest elements: those of a union are the k smallest of the k
  smallest elements of the parts; and if the k smallest of B' lie in a part of B', they are the k smallest of the part.
  A source that lost one of its k stored partners is matched again with B, because the next one is not stored.

Mutual pairs follow no such law: a new source may be nearer to a source than its stored partner, and only all pairs of
both sources tell whether it is also the nearest of the new one. So mutual pairs are matched as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from provenn.catalogs import Extent
from provenn.catalogs.catalog import Pairing
from provenn.criteria import AttributeIdentity
from provenn.targets.match_steps import Match, list_side_reads
from provenn.targets.steps import Attributes, PlanStep, is_key

__all__ = ["ContinuedMatch"]


@dataclass(frozen=True, slots=True, eq=False)
class ContinuedMatch(PlanStep):
    """The pairs of a match, from stored pairs of an earlier match and from what is new on each side.

    Parameters
    ----------
    catalog
        The cross-match that defines the pairs and their attributes.
    stored
        The pairs of the earlier match.
    columns
        The identity in the stored pairs by the identity in the pairs, for all attributes that are available.
    left, right
        All rows of the side; None if nothing is matched with them.
    new_left, new_right
        The rows of the new sources of the side; None if there are none.
    kept_left, kept_right
        The rows of the side that are not new; None if all stored pairs have such a source.
    """

    word = "continue match"
    catalog: Pairing
    stored: PlanStep
    columns: Mapping[AttributeIdentity, AttributeIdentity]
    left: PlanStep | None = None
    right: PlanStep | None = None
    new_left: PlanStep | None = None
    new_right: PlanStep | None = None
    kept_left: PlanStep | None = None
    kept_right: PlanStep | None = None

    @classmethod
    def of(
        cls,
        match: Match,
        stored: PlanStep,
        columns: Mapping[AttributeIdentity, AttributeIdentity],
        new: tuple[PlanStep | None, PlanStep | None],
        kept: tuple[PlanStep | None, PlanStep | None],
    ) -> ContinuedMatch:
        """Continue a stored match; the sides are read as a whole only if something is matched with them.

        Parameters
        ----------
        match
            The match to compute.
        stored, columns
            The stored pairs, and the identities of their attributes.
        new, kept
            For the left and the right side, `new_left`, `new_right`, `kept_left` and `kept_right`.
        """
        may_lose_partner = match.catalog.rule.most is not None and kept[1] is not None
        left = match.left if new[1] is not None or may_lose_partner else None
        right = match.right if new[0] is not None or may_lose_partner else None
        return cls(match.catalog, stored, columns, left, right, *new, *kept)

    @property
    def sides(self) -> dict[str, PlanStep]:
        """The rows of the sides that are read, by the names of the parameters."""
        steps = {
            "left": self.left,
            "right": self.right,
            "new_left": self.new_left,
            "new_right": self.new_right,
            "kept_left": self.kept_left,
            "kept_right": self.kept_right,
        }
        return {name: step for name, step in steps.items() if step is not None}

    @property
    def may_lose_partner(self) -> bool:
        """Whether a left source may be matched again because the stored partner is gone."""
        return self.catalog.rule.most is not None and self.kept_right is not None

    @property
    def inputs(self) -> tuple[PlanStep, ...]:
        """The stored pairs, then the rows of the sides that are read."""
        return self.stored, *self.sides.values()

    def _own_extent(self) -> Extent:
        return self.catalog.extent

    def _own_attributes(self) -> Attributes:
        attributes = self.catalog.schema.by_identity
        return {
            identity: attribute
            for identity, attribute in attributes.items()
            if is_key(identity) or identity in self.columns
        }

    def replace_inputs(self, inputs: Sequence[PlanStep]) -> PlanStep:
        """Return the same match of different inputs."""
        stored, *steps = inputs
        sides: dict[str, Any] = dict(zip(self.sides, steps, strict=True))
        return replace(self, stored=stored, **sides)

    def reads(self, needed: frozenset[AttributeIdentity]) -> tuple[frozenset[AttributeIdentity], ...]:
        """Return what is needed of the stored pairs, of the sides with their positions, and of kept rows the key."""
        separation = self.columns[self.catalog.separation.identity]
        stored = frozenset(self.columns[identity] for identity in needed if not is_key(identity))
        left, right = list_side_reads(self.catalog, needed)
        by_name = {"left": left, "new_left": left, "right": right, "new_right": right}
        return stored | {separation}, *(by_name.get(name, frozenset()) for name in self.sides)

    def _details(self) -> tuple[object, ...]:
        return (self.catalog.digest, tuple(self.sides), tuple(sorted(self.columns.items())))
