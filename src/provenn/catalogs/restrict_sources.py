"""The sources of a catalog that another one holds too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from provenn.catalogs.catalog import Catalog
from provenn.catalogs.extent import Extent
from provenn.logic import Statement, intersection

__all__ = ["RestrictSources"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RestrictSources(Catalog):
    """The sources of `parent` that `other` holds too, with the attributes of `parent`.

    Parameters
    ----------
    parent
        Where sources and attributes come from.
    other
        Which sources remain; of the same population.
    """

    parent: Catalog
    other: Catalog

    @property
    def dependencies(self) -> tuple[Catalog, ...]:
        """The parent and the other one."""
        return self.parent, self.other

    @classmethod
    def local_statement(cls, digest: str, dependencies: Sequence[str]) -> Statement:
        """The intersection."""
        return intersection(digest, *dependencies)

    def _own_extent(self) -> Extent:
        return self.parent.extent & self.other.extent
