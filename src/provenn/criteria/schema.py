"""The attributes readable by a criterion, and the rule for matching names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NewType, Protocol

from provenn.criteria.types import Type

__all__ = ["Attribute", "AttributeIdentity", "AttributeLike", "DefinedAttribute", "matching_names"]

AttributeIdentity = NewType("AttributeIdentity", str)
"""Where an attribute is defined, and so what its values mean, under any name."""


class AttributeLike(Protocol):
    """The properties of an attribute that criteria and expressions need; a schema maps names to attributes."""

    @property
    def identity(self) -> AttributeIdentity:
        """The place where the attribute is defined."""

    @property
    def type(self) -> Type:
        """The type of the values."""

    @property
    def nullable(self) -> bool:
        """Whether a source can lack a value."""

    @property
    def unit(self) -> str:
        """The unit of the values; empty if unknown."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """A minimal attribute."""

    identity: AttributeIdentity
    type: Type
    nullable: bool = True
    unit: str = ""


@dataclass(frozen=True, slots=True)
class DefinedAttribute:
    """An attribute with the defining expression or pieces.

    Parameters
    ----------
    identity, type, nullable, unit
        As for every attribute; the unit is not needed in canonical text.
    expression
        The canonical SQL expression that is the value of the attribute; empty if there is none.
    pieces
        For an attribute of a concatenation whose members define it differently: the digest of each member, and the
        identity of the member's attribute. The first member that holds a source gives the value.
    """

    identity: AttributeIdentity
    type: Type
    nullable: bool
    unit: str = ""
    expression: str = ""
    pieces: tuple[tuple[str, AttributeIdentity], ...] = ()


def matching_names(name: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return the names that match `name`: the exact name if known, otherwise all names that differ only in case.

    A single match is the answer, several matches are ambiguous, and none means unknown. This rule for case applies
    everywhere.

    >>> matching_names("VMAG", ["vmag", "Vmag"]), matching_names("vmag", ["vmag", "Vmag"])
    (('vmag', 'Vmag'), ('vmag',))
    """
    known = tuple(names)
    return (name,) if name in known else tuple(candidate for candidate in known if candidate.lower() == name.lower())
