"""What a criterion needs to know of the attributes it may read, and the rule by which names are matched."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from provenn.criteria.types import Type

__all__ = ["Attribute", "AttributeLike", "matching_names"]


class AttributeLike(Protocol):
    """An attribute, as far as criteria and expressions care. A schema maps names to these."""

    @property
    def identity(self) -> str:
        """Where the attribute is defined."""

    @property
    def type(self) -> Type:
        """The type of its values."""

    @property
    def nullable(self) -> bool:
        """Whether a source can be without a value."""

    @property
    def unit(self) -> str:
        """What its values are in; empty if that is not known."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """The least that is an attribute."""

    identity: str
    type: Type
    nullable: bool = True
    unit: str = ""


def matching_names(name: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return the names that `name` may mean: itself if it is there, otherwise all that differ in case alone.

    One match is the answer, several are ambiguous, none is unknown. This is the rule for case everywhere.

    >>> matching_names("VMAG", ["vmag", "Vmag"]), matching_names("vmag", ["vmag", "Vmag"])
    (('vmag', 'Vmag'), ('vmag',))
    """
    known = tuple(names)
    return (name,) if name in known else tuple(one for one in known if one.lower() == name.lower())
