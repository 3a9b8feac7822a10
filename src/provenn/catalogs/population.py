"""Populations: what one row is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from provenn.criteria import AttributeIdentity, Type
from provenn.errors import KeyColumnsError, PopulationError

__all__ = ["ONE_POPULATION", "Population", "key_position", "make_plural"]

_KEY = "key:"

ONE_POPULATION: Final = "only catalogs of one population can share sources"
"""The hint for catalogs of different populations."""


@dataclass(frozen=True, slots=True)
class Population:
    """What one row is: star, galaxy, visit. Sets of different populations are never compared.

    Parameters
    ----------
    name
        Its name.
    key
        The types of the columns that identify one source.
    """

    name: str
    key: tuple[Type, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip() or not self.name.isprintable():
            raise PopulationError(
                f"{self.name!r} cannot name a population", hint="name the object in a row, for example star or galaxy"
            )
        if not self.key:
            raise KeyColumnsError(f"the population {self.name} has no key", hint="name at least one key column")

    def key_identity(self, position: int) -> AttributeIdentity:
        """Return the identity of a key attribute: the same in all bases and after any renaming."""
        return self.name_key(self.name, position)

    @staticmethod
    def name_key(population: str, position: int) -> AttributeIdentity:
        """Return the identity of a key attribute of the population with a name."""
        return AttributeIdentity(f"{_KEY}{population}:{position}")

    def __str__(self) -> str:
        return f"{self.name} ({', '.join(map(str, self.key))})"


def key_position(identity: AttributeIdentity) -> int | None:
    """Return the position in the key of an identity, or None if the identity is no key attribute.

    >>> key_position("key:star:0"), key_position("0f3a.vmag")
    (0, None)
    """
    return int(identity.rpartition(":")[2]) if identity.startswith(_KEY) else None


def make_plural(noun: str) -> str:
    """Return the plural of the name of a population.

    >>> [make_plural(noun) for noun in ("star", "galaxy", "survey", "bigsky entry", "flux", "stars")]
    ['stars', 'galaxies', 'surveys', 'bigsky entries', 'fluxes', 'stars']
    >>> make_plural("star & galaxy")
    'star & galaxy pairs'
    """
    if " & " in noun:  # the population of a cross-match
        return f"{noun} pairs"
    if noun.endswith("s"):
        return noun
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("x", "z", "ch", "sh")) else f"{noun}s"
