"""What one row is."""

from __future__ import annotations

from dataclasses import dataclass

from provenn.criteria import Type
from provenn.errors import KeyColumnsError, PopulationError

__all__ = ["Population", "key_position"]

_KEY = "key:"


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
            raise PopulationError(f"{self.name!r} cannot name a population", hint="name what one row is: star, galaxy")
        if not self.key:
            raise KeyColumnsError(f"the population {self.name} has no key", hint="name at least one key column")

    def key_identity(self, position: int) -> str:
        """Return the identity of a key attribute, whatever base it comes from and however it is renamed."""
        return f"{_KEY}{self.name}:{position}"

    def __str__(self) -> str:
        return f"{self.name} ({', '.join(map(str, self.key))})"


def key_position(identity: str) -> int | None:
    """Return which attribute of the key an identity is, or None if it is no key.

    >>> key_position("key:star:0"), key_position("0f3a.vmag")
    (0, None)
    """
    return int(identity.rpartition(":")[2]) if identity.startswith(_KEY) else None
