"""Pairs of sources of two catalogs close to each other on the sky."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from provenn.catalogs.catalog import Catalog, Facts, Pairing, Parameters
from provenn.catalogs.column_origins import ColumnOrigin
from provenn.catalogs.exchange_options import ExchangeForm, ExchangeOptions, require_text
from provenn.catalogs.extent import Extent, leaf
from provenn.catalogs.match_options import find_position, read_position_names, read_rule
from provenn.catalogs.match_rule import Coordinate, MatchRule
from provenn.catalogs.match_sets import SIDES, Side, make_kept_term, make_match_atom, make_pairs_term, write_place
from provenn.catalogs.placement_options import PlacementOptions, list_placement_options, read_frames
from provenn.catalogs.placements import IN_PLACE, Placement, restore_placements
from provenn.catalogs.population import Population, key_position
from provenn.catalogs.profile import ClassProfile
from provenn.catalogs.schema import Attribute, Schema, check_name, make_own_identity
from provenn.catalogs.stated_placements import describe_placement
from provenn.criteria import Atom, AttributeIdentity
from provenn.criteria.platforms import Trait
from provenn.criteria.types import DOUBLE
from provenn.digests import CatalogDigest
from provenn.errors import DefinitionError
from provenn.logic import Statement, equal, subset
from provenn.sky.positions import DEGREES
from provenn.sky.sexagesimal import TEXT_UNITS

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
    rule
        The radius, and which of the pairs within it are kept.
    coordinates
        Right ascension and declination of `left`, then of `right`.
    suffix
        The suffix for names of attributes of `right` that are already taken.
    position_names
        For each side, the names of the position attributes from the user; None if provenn finds them.
    placements
        For each side, how positions become positions in ICRS at a common epoch.
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
    rule: MatchRule
    coordinates: tuple[Coordinate, ...]
    suffix: str = "_2"
    position_names: tuple[tuple[str, ...] | None, ...] = (None, None)
    placements: tuple[Placement, Placement] = (IN_PLACE, IN_PLACE)

    @classmethod
    def of(
        cls,
        left: Catalog,
        right: Catalog,
        radius: object,
        *,
        matches: object = "best",
        min_radius: object = None,
        max_radius: object = None,
        on: object = None,
        frame: object = None,
        epoch: object = None,
        epochs: object = None,
        motions: object = None,
        suffix: str = "_2",
    ) -> Self:
        """Match two catalogs.

        Parameters
        ----------
        left, right
            The catalogs.
        radius
            The largest separation: a number of arcseconds, a text such as "2 arcsec", or a quantity of astropy. Or the
            name of an attribute of `left` with a unit of angles: the radius of each source.
        matches
            "best": for every source of `left` the nearest source of `right`; among equally near ones, the one with the
            smallest key. A number k: the k nearest. "mutual": the pairs of sources that are the nearest of each other.
            "all": every pair.
        min_radius
            The smallest separation, as an angle: nearer sources are not considered.
        max_radius
            The largest separation, as an angle, if the radius is an attribute.
        on
            The names of right ascension and declination: a pair of names, for both catalogs, or one pair for each,
            where None means the positions that `provenn.sky.positions` finds.
        frame
            The frame of positions: "icrs", "fk5" (J2000) or "galactic", for both catalogs, or one for each. Without a
            frame, positions whose UCDs are galactic are galactic, all others are in ICRS.
        epoch
            The epoch in Julian years at which sources are compared. Without one, positions are taken as they are.
        epochs
            The epochs of the positions of both catalogs: numbers, or attributes; None to find the attribute.
        motions
            The attributes with the motions of both catalogs: proper motions in right ascension and declination, or also
            parallax and radial velocity. Empty if sources stay where they are; None to find the attributes.
        suffix
            The suffix for names of attributes of `right` that are already taken.

        Raises
        ------
        DefinitionError
            If the radius is not valid, or the positions of the sources are unknown.
        AttributeNotFoundError
            If an attribute does not exist.
        """
        position_names = read_position_names(on)
        positions = [
            find_position(catalog, names, side_frame)
            for catalog, names, side_frame in zip((left, right), position_names, read_frames(frame), strict=True)
        ]
        frames = [side_frame for _, side_frame in positions]
        placements = PlacementOptions(epoch, epochs, motions).place_sides((left, right), frames)
        return cls(
            left,
            right,
            read_rule(left, radius, matches, min_radius, max_radius),
            (*positions[0][0], *positions[1][0]),
            check_name(suffix),
            position_names,
            placements,
        )

    @property
    def dependencies(self) -> tuple[Catalog, ...]:
        """`left` and `right`."""
        return self.left, self.right

    def parameters(self) -> Parameters:
        """Return radius, matches, position attributes, suffix, and the extents of both sides."""
        return {
            **self.rule.parameters(),
            **self._list_placement_parameters(),
            "coordinates": [list(coordinate) for coordinate in self.coordinates],
            "suffix": self.suffix,
            "extents": [self.left.extent.digest, self.right.extent.digest],
        }

    def _list_placement_parameters(self) -> dict[str, Any]:
        """Return how positions are placed, as parameters; empty if they are taken as they are."""
        placements = [placement.parameters() for placement in self.placements]
        return {"placements": placements} if any(placements) else {}

    def notes(self) -> Parameters:
        """Return the names of the position attributes and of the radius from the user."""
        radius_name = self._find_radius_name()
        sides = zip(("left", "right"), self.position_names, strict=True)
        notes = {
            f"{side} {axis}": name for side, names in sides for axis, name in zip(_PLACES, names or (), strict=False)
        }
        return notes | ({"radius": radius_name} if radius_name else {})

    @classmethod
    def restored(cls, parameters: Parameters, notes: Parameters, dependencies: Sequence[Catalog]) -> Self:
        """Return the catalog with these parameters, notes and dependencies."""
        left, right = dependencies
        coordinates = tuple((identity, unit) for identity, unit in parameters["coordinates"])
        for (identity, unit), side in zip(coordinates, (left, left, right, right), strict=True):
            if identity not in side.schema.by_identity or (unit not in DEGREES and unit not in TEXT_UNITS):
                raise DefinitionError(f"{identity} in {unit} is not a position")
        rule = MatchRule.restored(parameters)
        if rule.radius_column is not None and rule.radius_column[0] not in left.schema.by_identity:
            raise DefinitionError(f"{rule.radius_column[0]} is not an attribute of the left catalog")
        keys = [[f"{side} {axis}" for axis in _PLACES] for side in ("left", "right")]
        position_names = tuple(tuple(notes[key] for key in pair) if pair[0] in notes else None for pair in keys)
        suffix = check_name(parameters["suffix"])
        placements = restore_placements(parameters, (left.schema.by_identity, right.schema.by_identity))
        return cls(left, right, rule, coordinates, suffix, position_names, placements)

    def on(self, dependencies: Sequence[Catalog]) -> Catalog:
        """Return the same match of different catalogs."""
        left, right = dependencies
        frames = [placement.frame for placement in self.placements]
        options = self._list_rule_options() | list_placement_options(self.dependencies, self.placements)
        return self.of(left, right, **options | {"frame": frames}, on=self.position_names, suffix=self.suffix)

    def _find_radius_name(self) -> str:
        """Return the name of the attribute with the radius of each source; empty without one."""
        column = self.rule.radius_column
        return "" if column is None else self.left.schema.by_identity[column[0]].name

    def _list_rule_options(self) -> dict[str, Any]:
        """Return the options of `of` that define the rule."""
        radius_name = self._find_radius_name()
        options = {"radius": radius_name or self.radius, "matches": self.matches}
        limits = {"min_radius": self.rule.min_radius or None, "max_radius": self.radius if radius_name else None}
        return options | {name: limit for name, limit in limits.items() if limit is not None}

    @classmethod
    def local_statement(cls, digest: CatalogDigest, dependencies: Sequence[CatalogDigest]) -> Statement | None:  # noqa: ARG003
        """Return None: a pair is no source of either side."""
        return None

    @classmethod
    def facts_of(cls, digest: CatalogDigest, dependencies: Sequence[CatalogDigest], parameters: Parameters) -> Facts:  # noqa: ARG003
        """Return the facts: pairs are nested by radius, and the pairs that are kept are among all pairs."""
        every, kept = _make_pair_atoms(parameters)
        if kept == every:
            return (equal(digest, every.label),), (every,)
        return (equal(digest, kept.label), subset(digest, every.label)), (every, kept)

    @classmethod
    def new_attributes_of(cls, digest: CatalogDigest, parameters: Parameters) -> None:
        """Return None: the attributes of both sides decide."""

    # --- the definition in words and in exchanged files ---

    @classmethod
    def describe(cls, parameters: Parameters, notes: Parameters, parts: Sequence[str]) -> str:
        """Return both sides and the rule in words."""
        pairs = MatchRule.restored(parameters).describe_pairs(parts[0], parts[1], notes.get("radius", ""))
        ends = [placement["epochs"][1] for placement in parameters.get("placements", ()) if "epochs" in placement]
        return f"{pairs} at the epoch {ends[0]:g}" if ends else pairs

    def describe_briefly(self, parts: Sequence[str]) -> str:
        """Return both sides."""
        return " matched with ".join(parts)

    def show_parameters(self) -> Sequence[tuple[str, str]]:
        """Return the radius, the matches and the position attributes."""
        (ra, dec), others = self._list_position_names()
        radius_name, largest, smallest = self._find_radius_name(), f"{self.radius:g} arcsec", self.rule.min_radius
        return (
            ("radius", f"{radius_name}, at most {largest}" if radius_name else largest),
            *((("min_radius", f"{smallest:g} arcsec"),) if smallest else ()),
            ("matches", str(self.matches)),
            ("positions", "; ".join([f"{ra}, {dec} with {', '.join(others)}", *self.describe_placements()])),
        )

    def describe_placements(self) -> list[str]:
        """Return how the positions of both sides are placed, and why, in words; empty if they are taken as they are."""
        return [
            word
            for place, (side, placement) in enumerate(zip(SIDES, self.placements, strict=True))
            for word in describe_placement(self.get_side(side), side, self.coordinates[2 * place :][:2], placement)
        ]

    def exchange_form(self) -> ExchangeForm:
        """Return the radius, the matches, the position attributes and the suffix."""
        options = {
            **self._list_rule_options(),
            **list_placement_options(self.dependencies, self.placements),
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
            matches=options["matches"],
            min_radius=options.get("min_radius"),
            max_radius=options.get("max_radius"),
            frame=options.get("frame", "icrs"),
            **{name: options.get(name) for name in ("epoch", "epochs", "motions")},
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
        text = f"{self.describe_distance()} on the sky"
        for side in SIDES:
            catalog = self.get_side(side)
            for identity, _ in self.inputs_of(side):
                yield ColumnOrigin(catalog.digest, catalog.schema.by_identity[identity].name, kind, subtype, text)

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
        return leaf(_make_pair_atoms(self.parameters())[1].label)


def _make_pair_atoms(parameters: Parameters) -> tuple[Atom, Atom]:
    """Return the atoms of all pairs and of the pairs that the match keeps, which are equal if it keeps all."""
    limits = MatchRule.restored(parameters).list_limits()
    coordinates = parameters["coordinates"]
    placements = restore_placements(parameters)
    places = write_place(coordinates[:2], placements[0]) + write_place(coordinates[2:], placements[1])
    text, radius = make_pairs_term(parameters["extents"], places, limits), parameters["radius"]
    every = make_match_atom(text, radius)
    if parameters["matches"] == "all":
        return every, every
    return every, make_match_atom(make_kept_term(text, parameters["matches"]), radius, every.label)
