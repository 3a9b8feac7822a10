"""The union of the sources of several catalogs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from provenn.catalogs import extent
from provenn.catalogs.base import Base
from provenn.catalogs.calculators import Expressions
from provenn.catalogs.catalog import Catalog, Parameters
from provenn.catalogs.column_origins import ColumnOrigin
from provenn.catalogs.derive_attributes import DeriveAttributes
from provenn.catalogs.exchange_options import ExchangeForm, ExchangeOptions
from provenn.catalogs.extent import Extent
from provenn.catalogs.pieces import join_pieces
from provenn.catalogs.profile import ClassProfile
from provenn.catalogs.schema import Attribute, AttributePiece, Schema
from provenn.criteria import identities_in, same_unit
from provenn.digests import CatalogDigest
from provenn.display.text import join_words
from provenn.errors import AttributeConflictError, DefinitionError
from provenn.hints import Hint
from provenn.logic import Statement, disjoint, union

__all__ = [
    "ConcatSources",
    "Overlap",
    "differing_attributes",
    "find_shared_attributes",
    "list_joined_bases",
    "list_version_bases",
]

Overlap = Literal["first", "disjoint", "files"]
"""Why a source has one value though members define an attribute differently: the first member that holds the source
gives the value; or no two members hold the same source; or the members are the files of one version of a base, in which
a key occurs once."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ConcatSources(Catalog):
    """The sources of all members, with the attributes common to all members.

    An attribute defined differently by members is a new attribute. Its value for a source is the value in the first
    member with this source.

    Parameters
    ----------
    members
        At least two catalogs of one population.
    overlap
        Why the value is no guess, if members define an attribute differently; otherwise None.
    """

    profile = ClassProfile(
        word="concat", shape="rows", part_counts=range(2, sys.maxsize), needs_proof=True, joins_attributes=True
    )
    members: tuple[Catalog, ...]
    overlap: Overlap | None

    @classmethod
    def prove(
        cls, members: Sequence[Catalog], order: Literal["first"] | None, is_proved: Callable[[Statement], bool]
    ) -> ConcatSources:
        """Concatenate catalogs; members that define attributes differently must be proved disjoint, unless in order.

        Raises
        ------
        AttributeConflictError, DefinitionError
            As for `of`.
        """
        needs_proof = order is None and len(members) > 1 and bool(differing_attributes(*members))
        if needs_proof and is_proved(disjoint(*(member.digest for member in members))):
            return cls.of(*members, overlap="disjoint")
        return cls.of(*members, overlap=order)

    def redefine(self, dependencies: Sequence[Catalog], is_proved: Callable[[Statement], bool]) -> Catalog:
        """Return the concatenation of other members, in order or proved disjoint."""
        return self.prove(dependencies, "first" if self.overlap == "first" else None, is_proved)

    @classmethod
    def of(cls, *members: Catalog, overlap: Overlap | None = None) -> ConcatSources:
        """Concatenate catalogs.

        Parameters
        ----------
        *members
            The catalogs; the order matters if ``overlap="first"``.
        overlap
            ``"first"`` if the first member that holds a source gives the values of attributes that members define
            differently; ``"disjoint"`` if a proof shows that no two members hold the same source.

        Raises
        ------
        AttributeConflictError
            If members define attributes differently and `overlap` is None; or with different types or units.
        DefinitionError
            If there is only one member, or `overlap` has any other value.
        """
        if len(members) < 2:
            raise DefinitionError(f"concatenating needs at least two catalogs, got {len(members)}")
        if overlap not in (None, *get_args(Overlap)):
            raise DefinitionError(f"overlap is first, disjoint or files, not {overlap!r}")
        catalog = cls(members, overlap)
        if overlap == "files":
            if catalog.bases is None:
                raise DefinitionError("only base catalogs are the files of a version")
            return catalog
        differing = differing_attributes(*members)
        if differing and overlap is None:
            few = ", ".join(differing[:5]) + " …" * (len(differing) > 5)
            raise AttributeConflictError(
                f"a source in several members could have several values of {few}",
                hint=Hint(
                    'let the first member win: .concat(…, order="first"); or declare that the members are disjoint',
                    command="let the first member win: --order first; or declare that the members are disjoint",
                ),
            )
        return catalog if differing or overlap is None else cls(members, None)

    @property
    def bases(self) -> tuple[Base, ...] | None:
        """The base catalogs whose files make up a version; None for any other concatenation."""
        bases = tuple(base for base in map(_find_member_base, self.members) if base is not None)
        return bases if self.overlap == "files" and len(bases) == len(self.members) else None

    def _define_anew(self) -> Catalog:
        return type(self).of(*self.members, overlap=self.overlap)

    @property
    def dependencies(self) -> tuple[Catalog, ...]:
        """The members."""
        return self.members

    def parameters(self) -> Parameters:
        """Return the reason why a source has one value of each attribute."""
        return {"overlap": self.overlap}

    @classmethod
    def restored(cls, parameters: Parameters, notes: Parameters, dependencies: Sequence[Catalog]) -> ConcatSources:  # noqa: ARG003
        """Return the catalog with these parameters and members."""
        return cls(tuple(dependencies), parameters["overlap"])

    def on(self, dependencies: Sequence[Catalog]) -> Catalog:
        """Return the concatenation of different members. The caller must prove their disjointness again."""
        return self.of(*dependencies, overlap=self.overlap)

    @classmethod
    def local_statement(cls, digest: CatalogDigest, dependencies: Sequence[CatalogDigest]) -> Statement:
        """Return the union of the members."""
        return union(digest, *dependencies)

    @classmethod
    def new_attributes_of(cls, digest: CatalogDigest, parameters: Parameters) -> None:
        """Return None: the attributes of the members decide."""

    def required_statement(self) -> Statement | None:
        """Return that the members are disjoint, if the values rest on that."""
        if self.overlap not in ("disjoint", "files"):
            return None
        return disjoint(*(member.digest for member in self.members))

    @classmethod
    def describe(cls, parameters: Parameters, notes: Parameters, parts: Sequence[str]) -> str:  # noqa: ARG003
        """Return the members in words, and which of them gives the values."""
        if parameters["overlap"] == "files":
            return f"the files of {join_words(parts)}, one version of one catalog"
        first = (
            "; for a source in several, the first one provides the values" if parameters["overlap"] == "first" else ""
        )
        return f"the sources of {join_words(parts)} together{first}"

    def describe_briefly(self, parts: Sequence[str]) -> str:
        """Return the members."""
        return " together with ".join(parts)

    def show_parameters(self) -> Sequence[tuple[str, str]]:
        """Return which member gives the values, if members define an attribute differently."""
        if self.overlap is None:
            return ()
        which = "of the first that has a source" if self.overlap == "first" else "of the only one that has a source"
        return (("values", which),)

    def exchange_form(self) -> ExchangeForm:
        """Return the verb, and the reason why a source has one value."""
        return self.profile.word, {"overlap": self.overlap} if self.overlap else {}

    @classmethod
    def from_exchange(cls, verb: str, options: ExchangeOptions, parts: Sequence[Catalog]) -> Catalog:  # noqa: ARG003
        """Return the concatenation of the parts."""
        return cls.of(*parts, overlap=options.get("overlap"))

    @property
    def row_parents(self) -> tuple[Catalog, ...]:
        """An empty tuple: the rows get a new schema."""
        return ()

    def trace_attributes(self) -> dict[str, tuple[ColumnOrigin, ...]]:
        """Return, for each attribute, the attributes of the members of which it consists."""
        return {
            pieces[0].attribute.name: tuple(
                dict.fromkeys(ColumnOrigin(piece.member, piece.attribute.name) for piece in pieces)
            )
            for pieces in find_shared_attributes(self.members)
        }

    def _build_schema(self) -> Schema:
        shared = find_shared_attributes(self.members)
        if self.overlap == "files":
            shared = [[replace(piece, is_apart=True) for piece in pieces] for pieces in shared]
        return Schema(tuple(map(join_pieces, shared)))

    def _build_extent(self) -> Extent:
        return extent.union(member.extent for member in self.members)


def _find_member_base(member: Catalog) -> Base | None:
    """Return the base catalog that a member of a version is, or adds NULL for absent columns to; None for another."""
    if isinstance(member, DeriveAttributes):
        is_null = isinstance(member.calculation, Expressions) and not any(
            map(identities_in, (output.canonical for output in member.calculation.outputs))
        )
        member = member.parent if is_null else member
    return member if isinstance(member, Base) else None


def list_joined_bases(catalog: Catalog) -> tuple[Base, ...] | None:
    """Return the base catalogs that make up a version of a base, joined as they are; None for any other catalog."""
    if isinstance(catalog, Base):
        return (catalog,)
    return catalog.bases if isinstance(catalog, ConcatSources) else None


def list_version_bases(catalog: Catalog) -> tuple[Base, ...] | None:
    """Return the base catalogs that make up a version of a base; None for a catalog made from others.

    Files that were appended one after the other are one base catalog each, also where they are joined.
    """
    bases = list_joined_bases(catalog)
    return None if bases is None else tuple(part for base in bases for part in base.list_parts())


def differing_attributes(*members: Catalog) -> tuple[str, ...]:
    """Return the names of the common attributes with different definitions in the members."""
    return tuple(
        pieces[0].attribute.name
        for pieces in find_shared_attributes(members)
        if any(piece.identity != pieces[0].identity for piece in pieces)
    )


def find_shared_attributes(members: Sequence[Catalog]) -> list[list[AttributePiece]]:
    """Return, for each attribute common to all members, the pieces from the members."""
    return list(_iterate_shared_attributes(members))


def _iterate_shared_attributes(members: Sequence[Catalog]) -> Iterator[list[AttributePiece]]:
    first, *others = members
    keys = [{attribute.identity: attribute for attribute in other.schema.key} for other in others]
    for attribute in first.schema.attributes:
        counterparts = [attribute]
        for other, key in zip(others, keys, strict=True):
            # Key attributes match by identity, under any name.
            matches = (key[attribute.identity],) if attribute.identity in key else other.schema.matching(attribute.name)
            if len(matches) == 1:
                counterparts += matches
        if len(counterparts) == len(members):
            _check_counterparts(counterparts)
            yield [
                AttributePiece(member.digest, member.extent, counterpart)
                for member, counterpart in zip(members, counterparts, strict=True)
            ]


def _check_counterparts(counterparts: Sequence[Attribute]) -> None:
    """Refuse counterparts of different types or units."""
    first, *others = counterparts
    for other in others:
        if other.type != first.type:
            raise AttributeConflictError(
                f"{first.name} has the type {first.type} in one member and {other.type} in another",
                hint=f"derive it with one type, for example CAST({first.name} AS {first.type}), under a new name",
            )
        if first.unit and other.unit and not same_unit(first.unit, other.unit):
            raise AttributeConflictError(
                f"{first.name} is in {first.unit} in one member and in {other.unit} in another",
                hint="derive it in one unit, with a new name",
            )
