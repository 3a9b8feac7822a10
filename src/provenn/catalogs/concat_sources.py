"""The sources of several catalogs together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from provenn.catalogs import extent
from provenn.catalogs.catalog import Catalog, Parameters
from provenn.catalogs.extent import Extent
from provenn.catalogs.pieces import joined
from provenn.catalogs.schema import Attribute, Piece, Schema
from provenn.criteria import same_unit
from provenn.errors import AttributeConflictError, DefinitionError
from provenn.logic import Statement, union

__all__ = ["ConcatSources", "Overlap", "differing_attributes", "shared_attributes"]

Overlap = Literal["first", "disjoint"]
"""Why a source has one value though members define an attribute differently: the first member that holds it gives it,
or no two members hold it."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ConcatSources(Catalog):
    """The sources of all members, with the attributes that all members have.

    An attribute that members define differently is a new one; for each source it is the attribute of the first member
    that holds the source.

    Parameters
    ----------
    members
        At least two catalogs of one population.
    overlap
        Why that is no guess, if there are such attributes; otherwise None.
    """

    members: tuple[Catalog, ...]
    overlap: Overlap | None

    @classmethod
    def of(cls, *members: Catalog, overlap: Overlap | None = None) -> ConcatSources:
        """Concatenate catalogs.

        Parameters
        ----------
        *members
            The catalogs; the order matters if ``overlap="first"``.
        overlap
            ``"first"`` if the first member that holds a source may give the values of attributes that members define
            differently; ``"disjoint"`` if it is proved that no two members hold the same source.

        Raises
        ------
        AttributeConflictError
            If members define attributes differently and `overlap` is not given; or with different types or units.
        DefinitionError
            If there is only one member, or `overlap` is not one of these.
        """
        if len(members) < 2:
            raise DefinitionError(f"sources of at least two catalogs are concatenated, not of {len(members)}")
        if overlap not in (None, "first", "disjoint"):
            raise DefinitionError(f"overlap is first or disjoint, not {overlap!r}")
        made = cls(members, overlap)
        differing = differing_attributes(*members)
        if differing and overlap is None:
            few = ", ".join(differing[:5]) + " …" * (len(differing) > 5)
            raise AttributeConflictError(
                f"a source that several members hold could have several values of {few}",
                hint='say that the first member counts: .concat(…, order="first"); or declare that they are disjoint',
            )
        return made if differing or overlap is None else cls(members, None)

    @property
    def dependencies(self) -> tuple[Catalog, ...]:
        """The members."""
        return self.members

    def parameters(self) -> Parameters:
        """Why a source has one value of each attribute."""
        return {"overlap": self.overlap}

    @classmethod
    def restored(cls, parameters: Parameters, notes: Parameters, dependencies: Sequence[Catalog]) -> ConcatSources:  # noqa: ARG003
        """Return the catalog that has these parameters and members."""
        return cls(tuple(dependencies), parameters["overlap"])

    def on(self, dependencies: Sequence[Catalog]) -> Catalog:
        """Return the same of other members. Whether those are disjoint is to be proved again."""
        return self.of(*dependencies, overlap=self.overlap)

    @classmethod
    def local_statement(cls, digest: str, dependencies: Sequence[str]) -> Statement:
        """The union."""
        return union(digest, *dependencies)

    def _own_schema(self) -> Schema:
        return Schema(tuple(joined(pieces) for pieces in shared_attributes(self.members)))

    def _own_extent(self) -> Extent:
        return extent.union(member.extent for member in self.members)


def differing_attributes(*members: Catalog) -> tuple[str, ...]:
    """Return the names of the attributes that all members have and that they define differently."""
    return tuple(
        pieces[0].attribute.name
        for pieces in shared_attributes(members)
        if any(piece.identity != pieces[0].identity for piece in pieces)
    )


def shared_attributes(members: Sequence[Catalog]) -> list[list[Piece]]:
    """Return, for each attribute that all members have, what each gives to it."""
    return list(_shared(members))


def _shared(members: Sequence[Catalog]) -> Iterator[list[Piece]]:
    first, *others = members
    keys = [{one.identity: one for one in other.schema.key} for other in others]
    for one in first.schema.attributes:
        counterparts = [one]
        for other, key in zip(others, keys, strict=True):
            # The key is the key, whatever it is called.
            found = (key[one.identity],) if one.identity in key else other.schema.matching(one.name)
            if len(found) == 1:
                counterparts += found
        if len(counterparts) == len(members):
            _check(counterparts)
            yield [
                Piece(member.digest, member.extent, attribute)
                for member, attribute in zip(members, counterparts, strict=True)
            ]


def _check(counterparts: Sequence[Attribute]) -> None:
    """Refuse to put together what is not of one type and one unit."""
    first, *others = counterparts
    for other in others:
        if other.type != first.type:
            raise AttributeConflictError(
                f"{first.name} is a {first.type} in one member and a {other.type} in another",
                hint=f"derive it in one type, as in CAST({first.name} AS {first.type}), under a new name",
            )
        if first.unit and other.unit and not same_unit(first.unit, other.unit):
            raise AttributeConflictError(
                f"{first.name} is in {first.unit} in one member and in {other.unit} in another",
                hint="derive it in one unit, under a new name",
            )
