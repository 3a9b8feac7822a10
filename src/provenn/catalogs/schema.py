"""The attributes of a catalog, and the rule for looking them up by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from shlex import quote

from provenn.catalogs.extent import Extent
from provenn.catalogs.population import key_position
from provenn.criteria import AttributeIdentity, Type, matching_names
from provenn.digests import CatalogDigest
from provenn.errors import AttributeConflictError, AttributeNotFoundError
from provenn.hints import Hint

__all__ = [
    "Attribute",
    "AttributePiece",
    "Schema",
    "check_name",
    "describe_values",
    "make_own_identity",
    "merge_attributes",
]


@dataclass(frozen=True, slots=True)
class Attribute:
    """A named property of sources.

    Parameters
    ----------
    name
        Its name in this catalog.
    identity
        Where it is defined. A source has one value of one identity.
    type
        The type of its values.
    nullable
        Whether a source can be without a value.
    unit, description, ucd
        Metadata for people and tools; empty if unknown. A UCD is a word of the Virtual Observatory for what is
        measured, such as ``pos.eq.ra;meta.main``.
    pieces
        After a concatenation of members that define the attribute differently: the attribute of each member, in order.
        The first member that holds a source gives the value.
    derived_pieces
        For an attribute that is calculated row by row from attributes in pieces: returns the attribute that the same
        calculation gives in each member; see `provenn.catalogs.derived_pieces`. They are made when they are asked for.
    """

    name: str
    identity: AttributeIdentity
    type: Type
    nullable: bool
    unit: str = ""
    description: str = ""
    ucd: str = ""
    pieces: tuple[AttributePiece, ...] = field(
        default=(), repr=False, compare=False
    )  # the identity determines the pieces
    derived_pieces: Callable[[], tuple[AttributePiece, ...]] | None = field(default=None, repr=False, compare=False)

    @property
    def all_pieces(self) -> tuple[AttributePiece, ...]:
        """The pieces of the attribute, whether members define it or it is derived from such attributes."""
        return self.pieces or (() if self.derived_pieces is None else self.derived_pieces())

    @property
    def expanded_pieces(self) -> tuple[AttributePiece, ...]:
        """The pieces by which criteria on the attribute are expanded.

        Derived attributes of other concatenations than versions have none, so that old selections keep their digests.
        """
        pieces = self.all_pieces
        return pieces if self.pieces or all(piece.is_apart for piece in pieces) else ()

    @property
    def piece_identities(self) -> frozenset[AttributeIdentity]:
        """The identities of all pieces, at any depth."""
        identities: set[AttributeIdentity] = set()
        pending = [piece.attribute for piece in self.all_pieces]
        while pending:
            current = pending.pop()
            if current.identity not in identities:
                identities.add(current.identity)
                pending.extend(piece.attribute for piece in current.all_pieces)
        return frozenset(identities)

    @property
    def members(self) -> tuple[CatalogDigest, ...]:
        """The members that define the pieces; empty for an attribute without pieces."""
        return tuple(piece.member for piece in self.all_pieces)

    def renamed(self, name: str) -> Attribute:
        """Return the same attribute under another name."""
        return replace(self, name=name)


def make_own_identity(catalog: CatalogDigest, name: str) -> AttributeIdentity:
    """Return the identity of an attribute that a catalog itself defines under a name."""
    return AttributeIdentity(f"{catalog}:{name}")


@dataclass(frozen=True, slots=True)
class AttributePiece:
    """The contribution of one member of a concatenation to an attribute.

    Parameters
    ----------
    member
        The digest of the member.
    extent
        Its sources.
    attribute
        The attribute in the schema of the member.
    is_apart
        Whether the members are the files of a version, which share no source.
    """

    member: CatalogDigest
    extent: Extent
    attribute: Attribute
    is_apart: bool = False

    @property
    def identity(self) -> AttributeIdentity:
        """The identity of the attribute in the member."""
        return self.attribute.identity


@dataclass(frozen=True, slots=True)
class Schema(Mapping[str, Attribute]):
    """Attributes by name, in the order of the columns.

    A name first means the attribute of exactly this name; otherwise the only attribute whose name differs in case
    alone.

    Parameters
    ----------
    attributes
        The attributes; no two have the same name.
    """

    attributes: tuple[Attribute, ...]
    _by_name: dict[str, Attribute] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_name: dict[str, Attribute] = {}
        for attribute in self.attributes:
            if attribute.name in by_name:
                raise AttributeConflictError(
                    f"there would be two attributes {attribute.name}", hint="choose another name"
                )
            by_name[attribute.name] = attribute
        object.__setattr__(self, "_by_name", by_name)

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in the order of the columns."""
        return tuple(self._by_name)

    @property
    def key(self) -> tuple[Attribute, ...]:
        """The attributes that identify a source, in the order of the population's key."""
        by_position: dict[int, Attribute] = {}
        for attribute in self.attributes:
            position = key_position(attribute.identity)
            if position is not None:
                by_position.setdefault(position, attribute)
        return tuple(by_position[position] for position in sorted(by_position))

    @property
    def by_identity(self) -> dict[AttributeIdentity, Attribute]:
        """The attributes by identity; for several names of an identity, the first."""
        return {attribute.identity: attribute for attribute in reversed(self.attributes)}

    @property
    def by_canonical_name(self) -> dict[str, Attribute]:
        """The attributes by their names in canonical text, which are their identities."""
        return {attribute.identity: attribute for attribute in reversed(self.attributes)}

    def matching(self, name: str) -> tuple[Attribute, ...]:
        """Return the candidates for a name: a single one is the answer, several are ambiguous, none is unknown."""
        exact = self._by_name.get(name)
        if exact is not None:
            return (exact,)
        return tuple(self._by_name[match] for match in matching_names(name, self._by_name))

    def __getitem__(self, name: str) -> Attribute:
        matches = self.matching(name) if isinstance(name, str) else ()
        if len(matches) != 1:
            raise AttributeNotFoundError(name, self._by_name, (match.name for match in matches))
        return matches[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)


def merge_attributes(attributes: Iterable[Attribute]) -> Schema:
    """Return the schema with these attributes; equal name and equal identity count once.

    Raises
    ------
    AttributeConflictError
        If two attributes have the same name and different identities.
    """
    by_name: dict[str, Attribute] = {}
    for attribute in attributes:
        if by_name.setdefault(attribute.name, attribute).identity != attribute.identity:
            raise AttributeConflictError(
                f"there are two different attributes {attribute.name}",
                hint=Hint(
                    f"rename one of them: .rename({_suggest_rename(attribute)})",
                    command=f"rename one: provenn rename CATALOG {quote(f'{attribute.name}={attribute.name}_2')}",
                ),
            )
    return Schema(tuple(by_name.values()))


def describe_values(schema: Schema) -> str:
    """Return the names of the attributes outside the key, as a list; the words "the key" if there are none."""
    key = {attribute.name for attribute in schema.key}
    return ", ".join(name for name in schema.names if name not in key) or "the key"


def _suggest_rename(attribute: Attribute) -> str:
    is_identifier = attribute.name.isidentifier()
    return (
        f'{attribute.name}="{attribute.name}_2"'
        if is_identifier
        else f"{{{attribute.name!r}: {attribute.name + ' 2'!r}}}"
    )


def check_name(name: object) -> str:
    """Return `name` if it can name an attribute: any printable text can."""
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise AttributeConflictError(f"{name!r} cannot name an attribute", hint="use printable characters")
    return name
