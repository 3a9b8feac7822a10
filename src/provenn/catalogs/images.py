"""Images: the partners of a set of sources, and the first sources of each group.

Let f take a source to its partner, and f(X) be the partners of the sources in X.

- f(X | Y) = f(X) | f(Y), and f(X) is empty if and only if no source of X has a partner.
- f(X & P) = f(X) & Y where P is the preimage of Y: all sources of a partner in Y are in P.
- f(X & Y) lies in f(X) & f(Y), and nothing more is known: different sources may have the same partner.

So the partners of an extent are made of the partners of its members, each without what its groups have in common. The
first sources of each group commute with selections of groups for the same reason, and every group has a first source.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from provenn.catalogs.extent import Extent, everything, intersection, leaf, union
from provenn.catalogs.preimages import lower_extent, split_group_parts
from provenn.catalogs.references import Reference, encode_path
from provenn.criteria import Atom, AttributeIdentity

__all__ = ["Image", "Ranking", "find_members", "parse_image_label", "parse_ranking_label"]

_IMAGE = re.compile(r"pointed (\[.*\]) from \(([0-9a-f]{64})\)", re.DOTALL)
_RANKING = re.compile(r"first\((\[.*\]), ([0-9a-f]{64})\) <= (\d+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Image:
    """The partners of some sources.

    Parameters
    ----------
    reference
        The reference from the sources to their partners.
    members
        The sources.
    """

    reference: Reference
    members: Extent

    @property
    def label(self) -> str:
        """The label of the partners."""
        return f"pointed {encode_path(self.reference.to_json())} from ({self.members.digest})"

    @property
    def extent(self) -> Extent:
        """The partners, in canonical form: made of the images of the parts of the members."""
        return union(whole & leaf(image.label) for whole, image in _split_image(self.reference, self.members))

    @property
    def parts(self) -> tuple[Image, ...]:
        """The images of which the canonical form is made."""
        return tuple(image for _, image in _split_image(self.reference, self.members))


def _split_image(reference: Reference, extent: Extent) -> list[tuple[Extent, Image]]:
    """Return sets of partners and images: a partner of the extent is in a set and in the image beside it."""
    if _is_union(extent):
        return [item for part in extent.parts for item in _split_image(reference, ~part)]
    common, members = split_group_parts(reference.identities, extent)
    lowered = lower_extent(reference, common)
    if lowered is None or members == everything:
        lowered, members = everything, extent
    members = _drop_ranking(reference, members)
    if _is_union(members):
        return [(lowered & whole, image) for whole, image in _split_image(reference, members)]
    return [(lowered, Image(reference, members))]


def _is_union(extent: Extent) -> bool:
    return extent.label is None and extent.complemented and bool(extent.parts)


def _drop_ranking(reference: Reference, members: Extent) -> Extent:
    """Return members without the condition to be first in their groups: every group has a first source."""
    if members.label is not None or members.complemented:
        return members
    for part in members.parts:
        ranking = None if part.label is None or part.complemented else parse_ranking_label(part.label)
        if ranking is not None and ranking[0] == reference.identities:
            rest = intersection(other for other in members.parts if other.digest != part.digest)
            if rest.digest == ranking[1]:
                return rest
    return members


def find_members(by: Sequence[AttributeIdentity], extent: Extent) -> Extent:
    """Return the sources that decide the value of an aggregate: an extent without what groups have in common.

    Two extents with the same members agree on every group that both have.
    """
    members = split_group_parts(by, extent)[1]
    return extent if members == everything else members


@dataclass(frozen=True, slots=True)
class Ranking:
    """Which sources are first in their groups.

    Parameters
    ----------
    by
        The attributes in which the sources of a group agree.
    order
        The canonical expressions that order a group, with their directions.
    number
        How many sources of each group are first.
    members
        The members of the groups, without what groups have in common.
    """

    by: tuple[AttributeIdentity, ...]
    order: tuple[str, ...]
    number: int
    members: Extent

    @property
    def atom(self) -> Atom:
        """The atom of the first sources; a larger number gives a larger set."""
        text = f"first({encode_path([list(self.by), list(self.order)])}, {self.members.digest})"
        return Atom(f"{text} <= {self.number}", text, self.number, ())


def parse_image_label(label: str) -> tuple[str, str] | None:
    """Return the population and the digest of the members in the label of an image; None for any other label."""
    match = _IMAGE.fullmatch(label)
    return match and (json.loads(match[1])[1], match[2])


def parse_ranking_label(label: str) -> tuple[tuple[AttributeIdentity, ...], str] | None:
    """Return the grouping attributes and the digest of the members in a ranking's label; None for any other label."""
    match = _RANKING.fullmatch(label)
    return match and (tuple(map(AttributeIdentity, json.loads(match[1])[0])), match[2])
