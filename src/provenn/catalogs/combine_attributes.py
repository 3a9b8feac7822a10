"""The attributes of several catalogs, for the sources that all of them hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from provenn.catalogs import extent
from provenn.catalogs.catalog import Catalog, Parameters
from provenn.catalogs.extent import Extent
from provenn.catalogs.schema import Schema, merged
from provenn.errors import DefinitionError
from provenn.logic import Statement, intersection

__all__ = ["CombineAttributes"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CombineAttributes(Catalog):
    """The sources that all members hold, with the attributes of all of them, in the order of the members.

    Parameters
    ----------
    members
        At least two catalogs of one population.

    Raises
    ------
    AttributeConflictError
        If two members have different attributes of the same name.
    """

    members: tuple[Catalog, ...]

    @classmethod
    def of(cls, *members: Catalog) -> CombineAttributes:
        """Combine catalogs."""
        if len(members) < 2:
            raise DefinitionError(f"attributes of at least two catalogs are combined, not of {len(members)}")
        return cls(members)

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
        """Return the catalog that has these members."""
        return cls(tuple(dependencies))

    @classmethod
    def local_statement(cls, digest: str, dependencies: Sequence[str]) -> Statement:
        """The intersection."""
        return intersection(digest, *dependencies)

    def _own_schema(self) -> Schema:
        return merged([one for member in self.members for one in member.schema.attributes])

    def _own_extent(self) -> Extent:
        return extent.intersection(member.extent for member in self.members)
