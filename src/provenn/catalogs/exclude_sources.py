"""The sources of a catalog that another one does not hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from provenn.catalogs.catalog import Catalog
from provenn.catalogs.extent import Extent
from provenn.logic import Statement, difference

__all__ = ["ExcludeSources"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExcludeSources(Catalog):
    """The sources of `parent` that `other` does not hold, with the attributes of `parent`.

    Parameters
    ----------
    parent
        Where sources and attributes come from.
    other
        Which sources are left out; of the same population.
    """

    parent: Catalog
    other: Catalog

    @property
    def dependencies(self) -> tuple[Catalog, ...]:
        """The parent and the other one."""
        return self.parent, self.other

    @classmethod
    def local_statement(cls, digest: str, dependencies: Sequence[str]) -> Statement:
        """The difference."""
        return difference(digest, *dependencies)

    def _own_extent(self) -> Extent:
        return self.parent.extent - self.other.extent
