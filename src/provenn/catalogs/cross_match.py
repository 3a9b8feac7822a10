"""Pairs of sources of two catalogs that lie close to one another on the sky."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

from provenn.catalogs.catalog import Catalog, Facts, Parameters
from provenn.catalogs.extent import Extent, leaf
from provenn.catalogs.population import Population, key_position
from provenn.catalogs.schema import Attribute, Schema, check_name
from provenn.criteria import Atom, backquoted
from provenn.criteria.domains import double_key
from provenn.criteria.types import DOUBLE
from provenn.errors import DefinitionError
from provenn.logic import Statement, equal, subset
from provenn.logic.terms import term
from provenn.sky.positions import DEGREES, angle_unit, positions
from provenn.sky.separations import arcseconds

__all__ = ["Coordinate", "CrossMatch", "Matches", "Side", "match_atom", "match_words", "near_term"]

Matches = Literal["best", "all"]
"""Which pairs: of every source of the left catalog the nearest one of the right; or every pair."""

Side = Literal["left", "right"]
"""One of the two catalogs."""

Coordinate = tuple[str, str]
"""The identity of an attribute, and its unit, as `provenn.sky.positions.DEGREES` has it."""

SEPARATION = "separation"

_PLACES = ("right ascension", "declination")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CrossMatch(Catalog):
    """Pairs of a source of `left` and one of `right` that are at most `radius` apart.

    One row is a pair: a population of its own, whose key is the key of both. A pair has all attributes of both, and
    the separation. A source without a position (NULL, NaN, a declination beyond the poles) is in no pair.

    Parameters
    ----------
    left, right
        The catalogs, of any populations.
    radius
        How far apart the sources of a pair are at most, in arcseconds.
    matches
        "best": for every source of `left` the nearest of `right`; of several that are equally near, the one with the
        smallest key. "all": every pair.
    coordinates
        Right ascension and declination of `left`, then those of `right`.
    suffix
        What is appended to the names of attributes of `right` that others have already.
    told
        The names of the position attributes, if they were given.
    """

    left: Catalog
    right: Catalog
    radius: float
    matches: Matches
    coordinates: tuple[Coordinate, ...]
    suffix: str = "_2"
    told: tuple[tuple[str, ...] | None, ...] = (None, None)

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
            where None means those that `provenn.sky.positions` finds.
        suffix
            What is appended to the names of attributes of `right` that others have already.

        Raises
        ------
        DefinitionError
            If the radius is none, or it is not known where the sources are.
        AttributeNotFoundError
            If there is no attribute of a name.
        """
        told = _told(on)
        coordinates = (*_coordinates(left, told[0]), *_coordinates(right, told[1]))
        return cls(left, right, arcseconds(radius), _which(matches), coordinates, check_name(suffix), told)

    @property
    def dependencies(self) -> tuple[Catalog, ...]:
        """Both."""
        return self.left, self.right

    def parameters(self) -> Parameters:
        """Radius, which matches, where the positions are, the suffix, and the sets of sources that are matched."""
        return {
            "radius": self.radius,
            "matches": self.matches,
            "coordinates": [list(one) for one in self.coordinates],
            "suffix": self.suffix,
            "extents": [self.left.extent.digest, self.right.extent.digest],
        }

    def notes(self) -> Parameters:
        """The names of the position attributes, as they were given."""
        sides = zip(("left", "right"), self.told, strict=True)
        return {
            f"{side} {what}": name for side, names in sides for what, name in zip(_PLACES, names or (), strict=False)
        }

    @classmethod
    def restored(cls, parameters: Parameters, notes: Parameters, dependencies: Sequence[Catalog]) -> Self:
        """Return the catalog that has these parameters, notes and dependencies."""
        left, right = dependencies
        coordinates = tuple((identity, unit) for identity, unit in parameters["coordinates"])
        for (identity, unit), side in zip(coordinates, (left, left, right, right), strict=True):
            if identity not in side.schema.by_identity or unit not in DEGREES:
                raise DefinitionError(f"{identity} in {unit} tells no position")
        radius, which, suffix = arcseconds(parameters["radius"]), _which(parameters["matches"]), parameters["suffix"]
        names = [[f"{side} {what}" for what in _PLACES] for side in ("left", "right")]
        told = tuple(tuple(notes[one] for one in given) if given[0] in notes else None for given in names)
        return cls(left, right, radius, which, coordinates, check_name(suffix), told)

    def on(self, dependencies: Sequence[Catalog]) -> Catalog:
        """Return the same match of other catalogs."""
        left, right = dependencies
        return self.of(left, right, self.radius, matches=self.matches, on=self.told, suffix=self.suffix)

    @classmethod
    def local_statement(cls, digest: str, dependencies: Sequence[str]) -> Statement | None:  # noqa: ARG003
        """Nothing: a pair is no source of either."""
        return None

    @classmethod
    def facts_of(cls, digest: str, dependencies: Sequence[str], parameters: Parameters) -> Facts:  # noqa: ARG003
        """Pairs within a smaller radius are pairs within a larger one, and the best are among all."""
        every, best = _pair_atoms(parameters)
        if parameters["matches"] == "all":
            return (equal(digest, every.label),), (every,)
        return (equal(digest, best.label), subset(digest, every.label)), (every, best)

    # --- the attributes of pairs ---

    @property
    def separation(self) -> Attribute:
        """How far apart the sources of a pair are, in arcseconds."""
        return self.schema.attributes[-1]

    def attributes_of(self, side: Side) -> tuple[tuple[Attribute, Attribute], ...]:
        """Return the attributes that pairs have from a side: as the pair has them, and as the side has them."""
        own, width = (self.left if side == "left" else self.right).schema.attributes, len(self.left.schema.attributes)
        lifted = self.schema.attributes[:width] if side == "left" else self.schema.attributes[width:-1]
        return tuple(zip(lifted, own, strict=True))

    def _own_population(self) -> Population:
        left, right = self.left.population, self.right.population
        names = (f"({one.name})" if " & " in one.name else one.name for one in (left, right))
        return Population(" & ".join(names), (*left.key, *right.key))

    def _own_schema(self) -> Schema:
        taken: set[str] = set()
        made = [self._lifted(one, one.name, 0) for one in self.left.schema.attributes]
        taken.update(one.name for one in made)
        for one in self.right.schema.attributes:
            made.append(self._lifted(one, self._free(one.name, taken), len(self.left.population.key)))
            taken.add(made[-1].name)
        name = self._free(SEPARATION, taken)
        text = "distance on the sky between the two"
        made.append(Attribute(name, f"{self.digest}:{name}", DOUBLE, False, "arcsec", text, "pos.angDistance"))
        return Schema(tuple(made))

    def _lifted(self, one: Attribute, name: str, before: int) -> Attribute:
        """Return an attribute of a side as one of pairs: a value of the pair, not of a source of that side."""
        place = key_position(one.identity)
        identity = f"{self.digest}:{name}" if place is None else self.population.key_identity(before + place)
        # The main position of a pair is that of its left source.
        ucd = one.ucd if not before else re.sub(r"\s*;\s*meta\.main\b", "", one.ucd, flags=re.IGNORECASE)
        return replace(one, name=name, identity=identity, ucd=ucd, pieces=())

    def _free(self, name: str, taken: set[str]) -> str:
        while name in taken:
            name += self.suffix
        return name

    def _own_extent(self) -> Extent:
        every, best = _pair_atoms(self.parameters())
        return leaf(every.label if self.matches == "all" else best.label)


def _which(matches: object) -> Matches:
    if matches == "best":
        return "best"
    if matches == "all":
        return "all"
    raise DefinitionError(f"matches are best or all, not {matches!r}")


def _told(on: object) -> tuple[tuple[str, ...] | None, ...]:
    """Return the names of the positions of both sides."""
    if on is None:
        return None, None
    both = tuple(on) if isinstance(on, list | tuple) else ()
    if len(both) == 2 and all(isinstance(one, str) for one in both):
        both = (both, both)
    if len(both) != 2 or not all(one is None or isinstance(one, list | tuple) for one in both):
        raise DefinitionError(
            f"positions cannot be told as {on!r}",
            hint='on=("ra", "dec"), or on=(("ra", "dec"), ("raj2000", "dej2000"))',
        )
    return tuple(None if one is None else tuple(one) for one in both)


def _coordinates(catalog: Catalog, on: Sequence[str] | None) -> Iterator[Coordinate]:
    for one in positions(catalog.schema, on):
        if not one.type.numeric:
            raise DefinitionError(f"{one.name} is a {one.type}, which tells no position", hint="an angle is a number")
        yield one.identity, angle_unit(one)


# --- sets that no criterion defines ---
#
# Whether a source or a pair is in one of these is told by a match, not by its row. What is known of them without
# matching: those of one term are nested, by radius.


def match_atom(text: str, radius: float, *inside: str) -> Atom:
    """Return the atom of a set that a match makes: the term that the radius cuts, and sets that it lies in."""
    return Atom(f"{text} <= {radius!r}", text, double_key(radius), tuple(map(term, inside)))


def _pair_atoms(parameters: Parameters) -> tuple[Atom, Atom]:
    """Return the sets of all pairs, and of the best."""
    places = [_written(one) for one in parameters["coordinates"]]
    text = f"pairs({', '.join([*parameters['extents'], *places])})"
    every = match_atom(text, parameters["radius"])
    return every, match_atom(f"best {text}", parameters["radius"], every.label)


def near_term(own: Sequence[Coordinate], extent: Extent, others: Sequence[Coordinate]) -> str:
    """Return the term by which sources are nested that lie near a source of an extent."""
    return f"near({', '.join([extent.digest, *map(_written, (*own, *others))])})"


def _written(coordinate: Sequence[str]) -> str:
    identity, unit = coordinate
    return f"{backquoted(identity)} {unit}"


_MATCHED = re.compile(r"(near|paired|pairs|best pairs)\(.*\) <= ([0-9.e+-]+)", re.DOTALL)
_NEAR = re.compile(r"near\(([0-9a-f]{64}),")


def match_words(label: str) -> tuple[str, str | None] | None:
    """Return what the set of a match is, in words; None if the label is that of something else.

    Returns
    -------
    tuple or None
        The words, and the digest of the extent near which the sources lie, to be named after them, if there is one.

    >>> match_words("vmag < 6")
    """
    found = _MATCHED.fullmatch(label)
    if found is None:
        return None
    within = f"within {float(found[2]):g} arcsec"
    near = _NEAR.search(label)
    match found[1]:
        case "near":
            return f"{within} of", near and near[1]
        case "paired":
            side = "left" if label.startswith("paired(left,") else "right"
            return f"on the {side} of such a pair {within} of", near and near[1]
        case "best pairs":
            return f"best pairs {within}", None
    return f"pairs {within}", None
