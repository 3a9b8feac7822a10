"""The attributes of a catalog, and the rule by which names find them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from provenn.catalogs.extent import Extent
from provenn.catalogs.population import key_position
from provenn.criteria import Type, matching_names
from provenn.errors import AttributeConflictError, AttributeNotFoundError

__all__ = ["Attribute", "Piece", "Schema", "check_name", "merged"]


@dataclass(frozen=True, slots=True)
class Attribute:
    """A named property of sources.

    Parameters
    ----------
    name
        What it is called in this catalog.
    identity
        Where it is defined. A source has one value of one identity.
    type
        The type of its values.
    nullable
        Whether a source can be without a value.
    unit, description, ucd
        For people and their tools; empty if nothing is known. A UCD is a word of the Virtual Observatory for what is
        measured, such as ``pos.eq.ra;meta.main``.
    pieces
        After a concatenation of members that define it differently: which member gives the value. The first member
        that holds a source does.
    """

    name: str
    identity: str
    type: Type
    nullable: bool
    unit: str = ""
    description: str = ""
    ucd: str = ""
    pieces: tuple[Piece, ...] = field(default=(), repr=False, compare=False)  # the identity tells them

    def renamed(self, name: str) -> Attribute:
        """Return the same attribute under another name."""
        return replace(self, name=name)


@dataclass(frozen=True, slots=True)
class Piece:
    """What one member of a concatenation gives to an attribute.

    Parameters
    ----------
    member
        The digest of the member.
    extent
        Its sources.
    attribute
        The attribute as the member has it.
    """

    member: str
    extent: Extent
    attribute: Attribute

    @property
    def identity(self) -> str:
        """The identity that the attribute has in the member."""
        return self.attribute.identity


@dataclass(frozen=True, slots=True)
class Schema(Mapping[str, Attribute]):
    """Attributes by name, in the order of the columns.

    A name that is there means itself; otherwise it means the one attribute whose name differs in case alone.

    Parameters
    ----------
    attributes
        The attributes; no two have the same name.
    """

    attributes: tuple[Attribute, ...]
    _by_name: dict[str, Attribute] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_name: dict[str, Attribute] = {}
        for one in self.attributes:
            if one.name in by_name:
                raise AttributeConflictError(f"there would be two attributes {one.name}", hint="choose another name")
            by_name[one.name] = one
        object.__setattr__(self, "_by_name", by_name)

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in the order of the columns."""
        return tuple(self._by_name)

    @property
    def key(self) -> tuple[Attribute, ...]:
        """The attributes that identify a source, in the order of the population's key."""
        found: dict[int, Attribute] = {}
        for one in self.attributes:
            position = key_position(one.identity)
            if position is not None:
                found.setdefault(position, one)
        return tuple(found[position] for position in sorted(found))

    @property
    def by_identity(self) -> dict[str, Attribute]:
        """The attributes by identity; of several names for one identity, the first."""
        return {one.identity: one for one in reversed(self.attributes)}

    def matching(self, name: str) -> tuple[Attribute, ...]:
        """Return the attributes that a name may mean: one is the answer, several are ambiguous, none is unknown."""
        found = self._by_name.get(name)
        if found is not None:
            return (found,)
        return tuple(self._by_name[one] for one in matching_names(name, self._by_name))

    def __getitem__(self, name: str) -> Attribute:
        matches = self.matching(name) if isinstance(name, str) else ()
        if len(matches) != 1:
            raise AttributeNotFoundError(name, self._by_name, (one.name for one in matches))
        return matches[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)


def merged(attributes: Iterable[Attribute]) -> Schema:
    """Return the schema with these attributes, of which those of one name and one identity are one.

    Raises
    ------
    AttributeConflictError
        If two of one name have different identities.
    """
    by_name: dict[str, Attribute] = {}
    for one in attributes:
        if by_name.setdefault(one.name, one).identity != one.identity:
            raise AttributeConflictError(
                f"there are two different attributes {one.name}", hint=f"rename one of them: .rename({_renaming(one)})"
            )
    return Schema(tuple(by_name.values()))


def _renaming(one: Attribute) -> str:
    plain = one.name.isidentifier()
    return f'{one.name}="{one.name}_2"' if plain else f"{{{one.name!r}: {one.name + ' 2'!r}}}"


def check_name(name: object) -> str:
    """Return `name` if it can name an attribute: any printable text can."""
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise AttributeConflictError(f"{name!r} cannot name an attribute", hint="a name is text that can be printed")
    return name
