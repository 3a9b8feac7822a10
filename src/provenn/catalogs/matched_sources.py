"""The sources of a catalog with a partner in a cross-match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

from provenn.catalogs.catalog import Catalog, Facts, Pairing, Parameters
from provenn.catalogs.column_origins import ColumnOrigin, build_key_origins
from provenn.catalogs.exchange_options import ExchangeForm, ExchangeOptions, require_text
from provenn.catalogs.exclude_sources import ExcludeSources
from provenn.catalogs.extent import Extent, leaf
from provenn.catalogs.match_sets import Side, make_match_atom, make_near_term
from provenn.catalogs.population import Population
from provenn.catalogs.profile import ClassProfile
from provenn.criteria import Atom
from provenn.digests import CatalogDigest
from provenn.errors import DefinitionError
from provenn.logic import Statement, intersection, subset

__all__ = ["MatchedSources", "define_unmatched"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MatchedSources(Catalog):
    """The sources in the pairs of a match, from a single side, with the attributes of this side.

    Parameters
    ----------
    parent
        The catalog on this side of the match.
    pairs
        The pairs: a match, or some of its pairs.
    side
        Left or right.
    """

    profile = ClassProfile(
        word="matched", shape="slant", part_counts=range(2, 3), narrows=True, crosses_populations=True
    )
    parent: Catalog
    pairs: Catalog
    side: Side

    @classmethod
    def of(cls, pairs: Catalog, side: str) -> Self:
        """Select the sources in pairs.

        Raises
        ------
        DefinitionError
            If the side is neither left nor right, or the pairs do not belong to one match.
        """
        match = _find_match(pairs)
        if side == "left":
            return cls(match.left, pairs, "left")
        if side == "right":
            return cls(match.right, pairs, "right")
        raise DefinitionError(f"expected the side left or right, got {side!r}")

    @property
    def dependencies(self) -> tuple[Catalog, ...]:
        """The catalog of the side, and the pairs."""
        return self.parent, self.pairs

    @property
    def match(self) -> Pairing:
        """The match of the pairs."""
        return _find_match(self.pairs)

    @property
    def key(self) -> slice:
        """The slice of the key of pairs with the key of these sources."""
        width = len(self.parent.population.key)
        return slice(width) if self.side == "left" else slice(len(self.pairs.population.key) - width, None)

    @property
    def condition(self) -> Extent:
        """The set of all sources in these pairs, including sources outside the catalog that would be in a pair."""
        return leaf(_make_atoms(self.parameters())[0].label)

    def find_single_pairs(self) -> Catalog | None:
        """Return the pairs if each source is in one: on the left side of best matches, on both of mutual ones."""
        rule = self.match.rule
        return self.pairs if rule.is_mutual or (self.side == "left" and rule.most == 1) else None

    def parameters(self) -> Parameters:
        """Return the side, the term of the nearby sources, and the pairs unless all nearby sources are in a pair."""
        match = self.match
        left, right = match.places_of("left"), match.places_of("right")
        own, others, other = (left, right, match.right) if self.side == "left" else (right, left, match.left)
        # A left source with neighbours has a nearest one; but it need not be the nearest of its neighbour.
        keeps_all = match.matches == "all" or (self.side == "left" and not match.rule.is_mutual)
        whole = keeps_all and self.pairs.extent == match.extent
        limits = match.rule.list_limits("own" if self.side == "left" else "other")
        parameters = {
            "side": self.side,
            "near": make_near_term(own, other.extent, others, limits),
            "radius": match.radius,
            "pairs": None if whole else self.pairs.extent.digest,
        }
        return parameters | ({"around": make_near_term(own, other.extent, others)} if limits else {})

    @classmethod
    def restored(cls, parameters: Parameters, notes: Parameters, dependencies: Sequence[Catalog]) -> Self:  # noqa: ARG003
        """Return the catalog with these parameters and dependencies."""
        parent, pairs = dependencies
        catalog = cls.of(pairs, parameters["side"])
        if catalog.parent != parent:
            raise DefinitionError(f"{parent!r} is not the {catalog.side} side of {pairs!r}")
        return catalog

    def on(self, dependencies: Sequence[Catalog]) -> Catalog:
        """Return the sources of the same side of different pairs."""
        _, pairs = dependencies
        return self.of(pairs, self.side)

    @classmethod
    def facts_of(cls, digest: CatalogDigest, dependencies: Sequence[CatalogDigest], parameters: Parameters) -> Facts:
        """Return the intersection of the side and the set of sources nearby or in a pair."""
        parent, _ = dependencies
        atoms = _make_atoms(parameters)
        nested = (subset(inner.label, outer.label) for inner, outer in pairwise(atoms))
        return (intersection(digest, parent, atoms[0].label), *nested), atoms

    @classmethod
    def local_statement(cls, digest: CatalogDigest, dependencies: Sequence[CatalogDigest]) -> Statement:
        """Return a subset of the side; pairs are a different population."""
        parent, _ = dependencies
        return subset(digest, parent)

    @classmethod
    def describe(cls, parameters: Parameters, notes: Parameters, parts: Sequence[str]) -> str:  # noqa: ARG003
        """Return the side and the pairs in words."""
        return f"the sources of {parts[0]} that occur in {parts[1]}, on its {parameters['side']} side"

    def describe_briefly(self, parts: Sequence[str]) -> str:
        """Return the side and the pairs."""
        return f"{parts[0]} that occur in {parts[1]}"

    def show_parameters(self) -> Sequence[tuple[str, str]]:
        """Return the side."""
        return (("side", self.side),)

    def exchange_form(self) -> ExchangeForm:
        """Return the verb and the side."""
        return self.profile.word, {"side": self.side}

    @classmethod
    def from_exchange(cls, verb: str, options: ExchangeOptions, parts: Sequence[Catalog]) -> Catalog:  # noqa: ARG003
        """Return the sources of a side; the second part has the pairs."""
        return cls.of(parts[1], require_text(options["side"]))

    def trace_selection(self) -> tuple[ColumnOrigin, ...]:
        """Return the key of the pairs: a semi-join."""
        return build_key_origins({self.pairs.digest: self.pairs.schema}, "FILTER", "semi join on the key")

    def _build_population(self) -> Population:
        return self.parent.population

    def _build_extent(self) -> Extent:
        return self.parent.extent & self.condition


def define_unmatched(pairs: Catalog, side: str) -> Catalog:
    """Return the sources of a side of a match that occur in none of some pairs: the side without the matched sources.

    Raises
    ------
    DefinitionError
        As for `MatchedSources.of`.
    """
    matched = MatchedSources.of(pairs, side)
    return ExcludeSources(matched.parent, matched)


def _make_atoms(parameters: Parameters) -> tuple[Atom, ...]:
    """Return the atom of the deciding set; then the atoms of enclosing sets of nearby sources, from the smallest."""
    around = [make_match_atom(parameters["around"], parameters["radius"])] if "around" in parameters else []
    near = make_match_atom(parameters["near"], parameters["radius"], *(atom.label for atom in around))
    if parameters["pairs"] is None:
        return (near, *around)
    # This term contains the text of the near term: a term is longer than the terms it depends on. The side
    # distinguishes the two sides of a catalog matched with itself, whose near terms are equal.
    text = f"paired({parameters['side']}, {parameters['pairs']}, {near.term})"
    return make_match_atom(text, parameters["radius"], near.label), near, *around


def _find_match(pairs: Catalog) -> Pairing:
    """Return the match of pairs; along the way, the pairs of each catalog are pairs of its first row parent."""
    catalog = pairs
    while (match := catalog.find_pairing()) is None:
        # The row parent of matched sources may hold pairs as well, but those of another match.
        if isinstance(catalog, MatchedSources) or not catalog.row_parents:
            raise DefinitionError(
                f"expected pairs of a cross-match, got a catalog of {pairs.population.name}",
                hint="use a cross-match, or a selection from one",
            )
        catalog = catalog.row_parents[0]
    return match
