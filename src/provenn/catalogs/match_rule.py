"""The rule of a match: which pairs of close sources it keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from provenn.criteria import AttributeIdentity, backquoted
from provenn.errors import DefinitionError
from provenn.sky.positions import DEGREES
from provenn.sky.separations import read_arcseconds

__all__ = ["MOST_NEIGHBOURS", "Coordinate", "MatchRule", "Matches", "check_matches", "read_matches"]

Coordinate = tuple[AttributeIdentity, str]
"""The identity of an attribute, and its unit, a key of `provenn.sky.positions.DEGREES`."""

Matches = Literal["best", "all", "mutual"] | int
"""The pairs to keep: for every source of the left catalog the nearest source of the right, or the k nearest with a
number k of at least 2; the pairs of sources that are the nearest of each other; or every pair."""

MOST_NEIGHBOURS = 1000
"""The largest number of neighbours that a match keeps of each source."""


@dataclass(frozen=True, slots=True)
class MatchRule:
    """Which pairs of close sources a match keeps.

    The candidates are the pairs of sources that are from `min_radius` to `radius` apart, both included, and lie within
    the radius of the left source, if it has a radius of its own. They are ordered by separation, then by the keys of
    their sources.

    Parameters
    ----------
    radius
        The largest separation, in arcseconds.
    matches
        "all": every candidate. "best": the first candidate of each left source; a number k: its first k candidates.
        "mutual": the candidates that are both the first of their left source and the first of their right source.
    min_radius
        The smallest separation, in arcseconds.
    radius_column
        The attribute of the left catalog that holds the radius of each source. A source whose radius is NULL, NaN or
        negative is in no pair.
    """

    radius: float
    matches: Matches = "best"
    min_radius: float = 0.0
    radius_column: Coordinate | None = None

    @property
    def most(self) -> int | None:
        """The most pairs of a left source; None if their number is not limited."""
        if isinstance(self.matches, int):
            return self.matches
        return None if self.matches == "all" else 1

    @property
    def is_mutual(self) -> bool:
        """Whether a pair must also be the first of its right source."""
        return self.matches == "mutual"

    def list_limits(self, owner: str = "") -> list[str]:
        """Return the limits of separations other than the radius, as parts of the terms of sets.

        Parameters
        ----------
        owner
            Whose attribute the radius of a source is, for sets of sources: "own" or "other". Pairs need no owner.
        """
        limits = [f"from {self.min_radius!r}"] if self.min_radius else []
        if self.radius_column is not None:
            identity, unit = self.radius_column
            limits.append(f"within {owner + ' ' if owner else ''}{backquoted(identity)} {unit}")
        return limits

    def has_candidates_of(self, other: MatchRule) -> bool:
        """Return whether all candidates of another rule with the same radius are candidates of this rule."""
        return self.min_radius <= other.min_radius and self.radius_column in (None, other.radius_column)

    def describe_pairs(self, left: str, right: str, radius_name: str = "") -> str:
        """Return the pairs of two catalogs in words; `radius_name` is the name of the radius attribute."""
        distance = f"{self.describe_distance(radius_name)} on the sky"
        match self.matches:
            case "all":
                return f"all pairs of {left} and {right} {distance}"
            case "mutual":
                return f"the sources of {left} and {right} that are the nearest of each other {distance}"
            case "best":
                return f"each source of {left} with the nearest of {right} {distance}"
            case number:
                return f"each source of {left} with the {number} nearest of {right} {distance}"

    def describe_choice(self) -> str:
        """Return which pairs of the two inputs of a step are kept, in words."""
        match self.matches:
            case "all":
                return "all pairs"
            case "mutual":
                return "the pairs of sources that are the nearest of each other"
            case "best":
                return "for each source, the nearest of the second input"
            case number:
                return f"for each source, the {number} nearest of the second input"

    def describe_distance(self, radius_name: str = "") -> str:
        """Return how close the sources of a pair are, in words; `radius_name` is the name of the radius attribute."""
        largest = f"{self.radius:g} arcsec"
        if self.radius_column is not None:
            largest = f"{radius_name or 'the radius of the left source'}, at most {largest},"
        return f"from {self.min_radius:g} arcsec to {largest}" if self.min_radius else f"within {largest}"

    def parameters(self) -> dict[str, Any]:
        """Return the rule as parameters of a definition; those with a usual value are left out, but for two."""
        parameters: dict[str, Any] = {"radius": self.radius, "matches": self.matches}
        if self.min_radius:
            parameters["min_radius"] = self.min_radius
        if self.radius_column is not None:
            parameters["radius_column"] = list(self.radius_column)
        return parameters

    @classmethod
    def restored(cls, parameters: Mapping[str, Any]) -> MatchRule:
        """Return the rule with some parameters.

        Raises
        ------
        DefinitionError
            If the parameters are not those of a rule.
        """
        radius, smallest, column = read_arcseconds(parameters["radius"]), 0.0, None
        if "min_radius" in parameters:
            smallest = read_arcseconds(parameters["min_radius"])
        if "radius_column" in parameters:
            identity, unit = parameters["radius_column"]
            if unit not in DEGREES:
                raise DefinitionError(f"expected a unit of angles, got {unit!r}")
            column = (identity, unit)
        if smallest > radius:
            raise DefinitionError(f"expected a smallest radius up to {radius:g} arcsec, got {smallest:g}")
        return cls(radius, check_matches(parameters["matches"]), smallest, column)


def read_matches(matches: object) -> Matches:
    """Return the pairs to keep from user input: a number 1 means the same as "best"; text may hold a number.

    Raises
    ------
    DefinitionError
        If the input is neither best, all, mutual, nor a number from 1 to `MOST_NEIGHBOURS`.

    >>> read_matches("mutual"), read_matches("3"), read_matches(1)
    ('mutual', 3, 'best')
    """
    number = int(matches) if isinstance(matches, str) and matches.isascii() and matches.isdigit() else matches
    if not isinstance(number, str | bool | int) and hasattr(number, "__index__"):
        number = number.__index__()
    return "best" if number == 1 and not isinstance(number, bool) else check_matches(number)


def check_matches(matches: object) -> Matches:
    """Return the pairs to keep, if they are in canonical form.

    Raises
    ------
    DefinitionError
        If they are not.
    """
    if matches == "best":
        return "best"
    if matches == "all":
        return "all"
    if matches == "mutual":
        return "mutual"
    if isinstance(matches, int) and not isinstance(matches, bool) and 2 <= matches <= MOST_NEIGHBOURS:
        return matches
    raise DefinitionError(
        f"expected best, all, mutual, or a number of neighbours from 1 to {MOST_NEIGHBOURS} as matches, got {matches!r}"
    )
