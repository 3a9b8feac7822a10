"""The attributes of several catalogs, for the sources common to all."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from provenn.catalogs import extent
from provenn.catalogs.catalog import Catalog, Parameters
from provenn.catalogs.column_origins import ColumnOrigin, build_key_origins
from provenn.catalogs.exchange_options import ExchangeOptions
from provenn.catalogs.extent import Extent
from provenn.catalogs.profile import ClassProfile
from provenn.catalogs.schema import Schema, merge_attributes
from provenn.digests import CatalogDigest
from provenn.display.text import join_words
from provenn.errors import DefinitionError
from provenn.logic import Statement, intersection

__all__ = ["CombineAttributes"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CombineAttributes(Catalog):
    """The sources common to all members, with the attributes of all members, in the order of the members.

    Parameters
    ----------
    members
        At least two catalogs of one population.

    Raises
    ------
    AttributeConflictError
        If two members have different attributes of the same name.
    """

    profile = ClassProfile(word="combine", shape="columns", part_counts=range(2, sys.maxsize))
    members: tuple[Catalog, ...]

    @classmethod
    def of(cls, *members: Catalog) -> CombineAttributes:
        """Combine catalogs."""
        if len(members) < 2:
            raise DefinitionError(f"combining needs at least two catalogs, got {len(members)}")
        return cls(members)

    def _define_anew(self) -> Catalog:
        return type(self).of(*self.members)

    @property
    def dependencies(self) -> tuple[Catalog, ...]:
        """The members."""
        return self.members

    @classmethod
    def restored(
        cls,
        parameters: Parameters,  # noqa: ARG003
        notes: Parameters,  # noqa: ARG003
        dependencies: Sequence[Catalog],
    ) -> CombineAttributes:
        """Return the catalog with these members."""
        return cls(tuple(dependencies))

    @classmethod
    def local_statement(cls, digest: CatalogDigest, dependencies: Sequence[CatalogDigest]) -> Statement:
        """Return the intersection of the members."""
        return intersection(digest, *dependencies)

    @classmethod
    def describe(cls, parameters: Parameters, notes: Parameters, parts: Sequence[str]) -> str:  # noqa: ARG003
        """Return the members in words."""
        return f"the attributes of {join_words(parts)}, for the sources common to all"

    def describe_briefly(self, parts: Sequence[str]) -> str:
        """Return the members."""
        return " combined with ".join(parts)

    @classmethod
    def from_exchange(cls, verb: str, options: ExchangeOptions, parts: Sequence[Catalog]) -> Catalog:  # noqa: ARG003
        """Return the combination of the parts."""
        return cls.of(*parts)

    @property
    def row_parents(self) -> tuple[Catalog, ...]:
        """The members: each gives its attributes."""
        return self.members

    def trace_selection(self) -> tuple[ColumnOrigin, ...]:
        """Return the keys of all members: an inner join."""
        schemas = {member.digest: member.schema for member in self.members}
        return build_key_origins(schemas, "JOIN", "inner join on the key")

    def _build_schema(self) -> Schema:
        return merge_attributes([attribute for member in self.members for attribute in member.schema.attributes])

    def _build_extent(self) -> Extent:
        return extent.intersection(member.extent for member in self.members)
