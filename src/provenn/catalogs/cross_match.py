"""Pairs of sources of two catalogs close to each other on the sky."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from provenn.catalogs.catalog import Catalog, Facts, Pairing, Parameters
from provenn.catalogs.column_origins import ColumnOrigin
from provenn.catalogs.exchange_options import ExchangeForm, ExchangeOptions, require_text
from provenn.catalogs.extent import Extent, leaf
from provenn.catalogs.match_sets import Coordinate, Matches, Side, make_match_atom, make_pairs_term
from provenn.catalogs.population import Population, key_position
from provenn.catalogs.profile import ClassProfile
from provenn.catalogs.schema import Attribute, Schema, check_name, make_own_identity
from provenn.criteria import Atom, AttributeIdentity
from provenn.criteria.platforms import Trait
from provenn.criteria.types import DOUBLE
from provenn.digests import CatalogDigest
from provenn.errors import DefinitionError
from provenn.logic import Statement, equal, subset
from provenn.sky.positions import DEGREES, find_position_attributes, read_angle_unit
from provenn.sky.separations import read_arcseconds

__all__ = ["CrossMatch"]

SEPARATION = "separation"

_PLACES = ("right ascension", "declination")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CrossMatch(Pairing):
    """Pairs of a source of `left` and a source of `right` at most `radius` apart.

    A row is a pair: a separate population with the keys of both sides as key. A pair has all attributes of both sides,
    and the separation. A source without a position (NULL, NaN, a declination beyond the poles) is in no pair.

    Parameters
    ----------
    left, right
        The catalogs, of any populations.
    radius
        The largest separation of the sources of a pair, in arcseconds.
    matches
        "best": for every source of `left` the nearest source of `right`; among equally near sources, the source with
        the smallest key. "all": every pair.
    coordinates
        Right ascension and declination of `left`, then of `right`.
    suffix
        The suffix for names of attributes of `right` that are already taken.
    position_names
        For each side, the names of the position attributes from the user; None if provenn finds them.
    """

    profile = ClassProfile(
        word="crossmatch",
        shape="bow",
        part_counts=range(2, 3),
        makes_base_set=True,
        crosses_populations=True,
        pairs_sources=True,
    )
    left: Catalog
    right: Catalog
    radius: float
    matches: Matches
    coordinates: tuple[Coordinate, ...]
    suffix: str = "_2"
    position_names: tuple[tuple[str, ...] | None, ...] = (None, None)

    @classmethod
    def of(
        cls,
        left: Catalog,
        right: Catalog,
        radius: object,
        *,
        matches: str = "best",
        on: object = None,
        suffix: str = "_2",
    ) -> Self:
        """Match two catalogs.

        Parameters
        ----------
        left, right
            The catalogs.
        radius
            The largest separation: a number of arcseconds, a text such as "2 arcsec", or a quantity of astropy.
        matches
            "best" or "all".
        on
            The names of right ascension and declination: a pair of names, for both catalogs, or one pair for each,
            where None means the positions that `provenn.sky.positions` finds.
        suffix
            The suffix for names of attributes of `right` that are already taken.

        Raises
        ------
        DefinitionError
            If the radius is not valid, or the positions of the sources are unknown.
        AttributeNotFoundError
            If an attribute does not exist.
        """
        position_names = _read_position_names(on)
        coordinates = (*_find_coordinates(left, position_names[0]), *_find_coordinates(right, position_names[1]))
        return cls(
            left,
            right,
            read_arcseconds(radius),
            _check_matches(matches),
            coordinates,
            check_name(suffix),
            position_names,
        )

    @property
    def dependencies(self) -> tuple[Catalog, ...]:
        """`left` and `right`."""
        return self.left, self.right

    def parameters(self) -> Parameters:
        """Return radius, matches, position attributes, suffix, and the extents of both sides."""
        return {
            "radius": self.radius,
            "matches": self.matches,
            "coordinates": [list(coordinate) for coordinate in self.coordinates],
            "suffix": self.suffix,
            "extents": [self.left.extent.digest, self.right.extent.digest],
        }

    def notes(self) -> Parameters:
        """Return the names of the position attributes from the user."""
        sides = zip(("left", "right"), self.position_names, strict=True)
        return {
            f"{side} {axis}": name for side, names in sides for axis, name in zip(_PLACES, names or (), strict=False)
        }

    @classmethod
    def restored(cls, parameters: Parameters, notes: Parameters, dependencies: Sequence[Catalog]) -> Self:
        """Return the catalog with these parameters, notes and dependencies."""
        left, right = dependencies
        coordinates = tuple((identity, unit) for identity, unit in parameters["coordinates"])
        for (identity, unit), side in zip(coordinates, (left, left, right, right), strict=True):
            if identity not in side.schema.by_identity or unit not in DEGREES:
                raise DefinitionError(f"{identity} in {unit} is not a position")
        radius, matches, suffix = (
            read_arcseconds(parameters["radius"]),
            _check_matches(parameters["matches"]),
            parameters["suffix"],
        )
        keys = [[f"{side} {axis}" for axis in _PLACES] for side in ("left", "right")]
        position_names = tuple(tuple(notes[key] for key in pair) if pair[0] in notes else None for pair in keys)
        return cls(left, right, radius, matches, coordinates, check_name(suffix), position_names)

    def on(self, dependencies: Sequence[Catalog]) -> Catalog:
        """Return the same match of different catalogs."""
        left, right = dependencies
        return self.of(left, right, self.radius, matches=self.matches, on=self.position_names, suffix=self.suffix)

    @classmethod
    def local_statement(cls, digest: CatalogDigest, dependencies: Sequence[CatalogDigest]) -> Statement | None:  # noqa: ARG003
        """Return None: a pair is no source of either side."""
        return None

    @classmethod
    def facts_of(cls, digest: CatalogDigest, dependencies: Sequence[CatalogDigest], parameters: Parameters) -> Facts:  # noqa: ARG003
        """Return the facts: pairs are nested by radius, and the best pairs are among all pairs."""
        every, best = _make_pair_atoms(parameters)
        if parameters["matches"] == "all":
            return (equal(digest, every.label),), (every,)
        return (equal(digest, best.label), subset(digest, every.label)), (every, best)

    @classmethod
    def new_attributes_of(cls, digest: CatalogDigest, parameters: Parameters) -> None:
        """Return None: the attributes of both sides decide."""

    # --- the definition in words and in exchanged files ---

    @classmethod
    def describe(cls, parameters: Parameters, notes: Parameters, parts: Sequence[str]) -> str:  # noqa: ARG003
        """Return both sides and the radius in words."""
        radius = f"within {parameters['radius']:g} arcsec on the sky"
        if parameters["matches"] == "all":
            return f"all pairs of {parts[0]} and {parts[1]} {radius}"
        return f"each source of {parts[0]} with the nearest of {parts[1]} {radius}"

    def describe_briefly(self, parts: Sequence[str]) -> str:
        """Return both sides."""
        return " matched with ".join(parts)

    def show_parameters(self) -> Sequence[tuple[str, str]]:
        """Return the radius, the matches and the position attributes."""
        (ra, dec), others = self._list_position_names()
        return (
            ("radius", f"{self.radius:g} arcsec"),
            ("matches", self.matches),
            ("positions", f"{ra}, {dec} with {', '.join(others)}"),
        )

    def exchange_form(self) -> ExchangeForm:
        """Return the radius, the matches, the position attributes and the suffix."""
        options = {
            "radius": self.radius,
            "matches": self.matches,
            "on": self._list_position_names(),
            "suffix": self.suffix,
        }
        return self.profile.word, options

    @classmethod
    def from_exchange(cls, verb: str, options: ExchangeOptions, parts: Sequence[Catalog]) -> Catalog:  # noqa: ARG003
        """Return the match of the two parts."""
        left, right = parts
        return cls.of(
            left,
            right,
            options["radius"],
            matches=require_text(options["matches"]),
            on=options["on"],
            suffix=require_text(options["suffix"]),
        )

    def _list_position_names(self) -> list[list[str]]:
        """Return the names of right ascension and declination, for each side."""
        names = [side.schema.by_identity[identity].name for side, identity in self._pair_coordinates()]
        return [names[:2], names[2:]]

    def _pair_coordinates(self) -> Iterator[tuple[Catalog, AttributeIdentity]]:
        """Yield the side and the identity of each coordinate."""
        sides = (self.left, self.left, self.right, self.right)
        yield from ((side, identity) for side, (identity, _) in zip(sides, self.coordinates, strict=True))

    # --- the lineage of rows and values ---

    @property
    def row_parents(self) -> tuple[Catalog, ...]:
        """An empty tuple: a row is a pair, and its attributes are attributes of the pair."""
        return ()

    def find_pairing(self) -> Pairing:
        """Return this catalog."""
        return self

    def trace_attributes(self) -> dict[str, tuple[ColumnOrigin, ...]]:
        """Return the attributes of the sides as origins; the positions are the origin of the separation."""
        side_origins = {
            attribute.name: (ColumnOrigin(side.digest, side_attribute.name),)
            for side, attributes in (
                (self.left, self.attributes_of("left")),
                (self.right, self.attributes_of("right")),
            )
            for attribute, side_attribute in attributes
        }
        return {**side_origins, self.separation.name: tuple(self._trace_positions("DIRECT", "TRANSFORMATION"))}

    def trace_selection(self) -> tuple[ColumnOrigin, ...]:
        """Return the position attributes of both sides."""
        return tuple(dict.fromkeys(self._trace_positions("INDIRECT", "JOIN")))

    def _trace_positions(self, kind: str, subtype: str) -> Iterator[ColumnOrigin]:
        """Yield the coordinates as origins."""
        text = f"within {self.radius:g} arcsec on the sky"
        for side, identity in self._pair_coordinates():
            yield ColumnOrigin(side.digest, side.schema.by_identity[identity].name, kind, subtype, text)

    def find_own_traits(self) -> frozenset[Trait]:
        """Return the trait of the machine: distances on the sky are computed from sines and cosines."""
        return frozenset([Trait.MACHINE])

    # --- the attributes of pairs ---

    @property
    def separation(self) -> Attribute:
        """The attribute with the separation of the sources of a pair, in arcseconds."""
        return self.schema.attributes[-1]

    def attributes_of(self, side: Side) -> tuple[tuple[Attribute, Attribute], ...]:
        """Return the attributes of a side, each as the attribute of the pair and as the attribute of the side."""
        own, width = (self.left if side == "left" else self.right).schema.attributes, len(self.left.schema.attributes)
        pair_attributes = self.schema.attributes[:width] if side == "left" else self.schema.attributes[width:-1]
        return tuple(zip(pair_attributes, own, strict=True))

    def _build_population(self) -> Population:
        left, right = self.left.population, self.right.population
        names = (
            f"({population.name})" if " & " in population.name else population.name for population in (left, right)
        )
        return Population(" & ".join(names), (*left.key, *right.key))

    def _build_schema(self) -> Schema:
        taken: set[str] = set()
        attributes = [self._lift_attribute(attribute, attribute.name, 0) for attribute in self.left.schema.attributes]
        taken.update(attribute.name for attribute in attributes)
        for attribute in self.right.schema.attributes:
            attributes.append(
                self._lift_attribute(
                    attribute, self._find_free_name(attribute.name, taken), len(self.left.population.key)
                )
            )
            taken.add(attributes[-1].name)
        name = self._find_free_name(SEPARATION, taken)
        text = "distance on the sky between the two"
        identity = make_own_identity(self.digest, name)
        attributes.append(Attribute(name, identity, DOUBLE, False, "arcsec", text, "pos.angDistance"))
        return Schema(tuple(attributes))

    def _lift_attribute(self, attribute: Attribute, name: str, before: int) -> Attribute:
        """Return an attribute of a side as an attribute of pairs: a value of the pair, not of the side's source."""
        place = key_position(attribute.identity)
        own = make_own_identity(self.digest, name)
        identity = own if place is None else self.population.key_identity(before + place)
        # The main position of a pair is that of its left source.
        ucd = attribute.ucd if not before else re.sub(r"\s*;\s*meta\.main\b", "", attribute.ucd, flags=re.IGNORECASE)
        return replace(attribute, name=name, identity=identity, ucd=ucd, pieces=(), derived_pieces=None)

    def _find_free_name(self, name: str, taken: set[str]) -> str:
        while name in taken:
            name += self.suffix
        return name

    def _build_extent(self) -> Extent:
        every, best = _make_pair_atoms(self.parameters())
        return leaf(every.label if self.matches == "all" else best.label)


def _check_matches(matches: object) -> Matches:
    """Return `matches` if valid: best or all."""
    if matches == "best":
        return "best"
    if matches == "all":
        return "all"
    raise DefinitionError(f"expected best or all as matches, got {matches!r}")


def _read_position_names(on: object) -> tuple[tuple[str, ...] | None, ...]:
    """Return the names of the position attributes of both sides."""
    if on is None:
        return None, None
    sides = tuple(on) if isinstance(on, list | tuple) else ()
    if len(sides) == 2 and all(isinstance(names, str) for names in sides):
        sides = (sides, sides)
    if len(sides) != 2 or not all(names is None or isinstance(names, list | tuple) for names in sides):
        raise DefinitionError(
            f"expected the attributes of positions, got {on!r}",
            hint='on=("ra", "dec"), or on=(("ra", "dec"), ("raj2000", "dej2000"))',
        )
    return tuple(None if names is None else tuple(names) for names in sides)


def _find_coordinates(catalog: Catalog, on: Sequence[str] | None) -> Iterator[Coordinate]:
    """Yield identity and unit of right ascension and declination of a catalog."""
    for attribute in find_position_attributes(catalog.schema, on):
        if not attribute.type.numeric:
            raise DefinitionError(
                f"{attribute.name} has the type {attribute.type} and cannot be a coordinate",
                hint="a coordinate must be a number",
            )
        yield attribute.identity, read_angle_unit(attribute)


def _make_pair_atoms(parameters: Parameters) -> tuple[Atom, Atom]:
    """Return the atoms of all pairs and of the best pairs."""
    text = make_pairs_term(parameters["extents"], parameters["coordinates"])
    every = make_match_atom(text, parameters["radius"])
    return every, make_match_atom(f"best {text}", parameters["radius"], every.label)
