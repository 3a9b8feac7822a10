"""The sources of a catalog that occur in pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from provenn.catalogs.base import Base
from provenn.catalogs.catalog import Catalog, Facts, Parameters
from provenn.catalogs.concat_sources import ConcatSources
from provenn.catalogs.cross_match import CrossMatch, Side, match_atom, near_term
from provenn.catalogs.extent import Extent, leaf
from provenn.catalogs.population import Population
from provenn.criteria import Atom
from provenn.errors import DefinitionError
from provenn.logic import Statement, intersection, subset

__all__ = ["MatchedSources"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MatchedSources(Catalog):
    """The sources of one side of a match that occur in pairs, with the attributes of that side.

    Parameters
    ----------
    parent
        That side.
    pairs
        The pairs: a match, or some of its pairs.
    side
        Which one it is.
    """

    parent: Catalog
    pairs: Catalog
    side: Side

    @classmethod
    def of(cls, pairs: Catalog, side: str) -> Self:
        """Take the sources that occur in pairs.

        Raises
        ------
        DefinitionError
            If there is no such side, or these are no pairs of one match.
        """
        match = _match(pairs)
        if side == "left":
            return cls(match.left, pairs, "left")
        if side == "right":
            return cls(match.right, pairs, "right")
        raise DefinitionError(f"a match has a left side and a right one, not {side!r}")

    @property
    def dependencies(self) -> tuple[Catalog, ...]:
        """The side, and the pairs."""
        return self.parent, self.pairs

    @property
    def match(self) -> CrossMatch:
        """The match to which the pairs belong."""
        return _match(self.pairs)

    @property
    def key(self) -> slice:
        """Which part of the key of pairs is the key of these sources."""
        width = len(self.parent.population.key)
        return slice(width) if self.side == "left" else slice(len(self.pairs.population.key) - width, None)

    @property
    def condition(self) -> Extent:
        """The set of sources that occur in these pairs, or would if they were in the catalog."""
        return leaf(_atoms(self.parameters())[0].label)

    def parameters(self) -> Parameters:
        """The side; what lies near whom; and of which pairs, if not all sources that lie so are in one."""
        match = self.match
        left, right = match.coordinates[:2], match.coordinates[2:]
        own, others, other = (left, right, match.right) if self.side == "left" else (right, left, match.left)
        whole = self.pairs.extent == match.extent and (self.side == "left" or match.matches == "all")
        return {
            "side": self.side,
            "near": near_term(own, other.extent, others),
            "radius": match.radius,
            "pairs": None if whole else self.pairs.extent.digest,
        }

    @classmethod
    def restored(cls, parameters: Parameters, notes: Parameters, dependencies: Sequence[Catalog]) -> Self:  # noqa: ARG003
        """Return the catalog that has these parameters and dependencies."""
        parent, pairs = dependencies
        made = cls.of(pairs, parameters["side"])
        if made.parent != parent:
            raise DefinitionError(f"{parent!r} is not the {made.side} side of {pairs!r}")
        return made

    def on(self, dependencies: Sequence[Catalog]) -> Catalog:
        """Return the sources of the same side of other pairs."""
        _, pairs = dependencies
        return self.of(pairs, self.side)

    @classmethod
    def facts_of(cls, digest: str, dependencies: Sequence[str], parameters: Parameters) -> Facts:
        """The side, intersected with the set of what lies near, or of what is in such a pair."""
        parent, _ = dependencies
        atoms = _atoms(parameters)
        return (intersection(digest, parent, atoms[0].label),), atoms

    @classmethod
    def local_statement(cls, digest: str, dependencies: Sequence[str]) -> Statement:
        """A subset of the side; pairs are of another population."""
        parent, _ = dependencies
        return subset(digest, parent)

    def _own_population(self) -> Population:
        return self.parent.population

    def _own_extent(self) -> Extent:
        return self.parent.extent & self.condition


def _atoms(parameters: Parameters) -> tuple[Atom, ...]:
    """Return the set that decides, and the one that it lies in."""
    near = match_atom(parameters["near"], parameters["radius"])
    if parameters["pairs"] is None:
        return (near,)
    # The text of the other term is in this one: a term is longer than those it leans on. The side tells apart the two
    # of a catalog matched with itself, which lie near the same.
    text = f"paired({parameters['side']}, {parameters['pairs']}, {near.term})"
    return match_atom(text, parameters["radius"], near.label), near


def _match(pairs: Catalog) -> CrossMatch:
    """Return the match to which pairs belong: of every class on the way, the sources lie in the first dependency."""
    one = pairs
    while not isinstance(one, CrossMatch):
        if isinstance(one, Base | ConcatSources | MatchedSources):
            raise DefinitionError(
                f"these are no pairs of one cross-match: one row is a {pairs.population.name}",
                hint="a cross-match, or a selection from one, tells which sources are matched",
            )
        one = one.dependencies[0]
    return one
