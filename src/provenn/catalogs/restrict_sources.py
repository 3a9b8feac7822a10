"""The sources of a catalog also in a second catalog."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from provenn.catalogs.catalog import Catalog, Parameters
from provenn.catalogs.column_origins import ColumnOrigin, build_key_origins
from provenn.catalogs.exchange_options import ExchangeOptions
from provenn.catalogs.extent import Extent
from provenn.catalogs.profile import ClassProfile
from provenn.digests import CatalogDigest
from provenn.logic import Statement, intersection

__all__ = ["RestrictSources"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RestrictSources(Catalog):
    """The sources of `parent` also in `other`, with the attributes of `parent`.

    Parameters
    ----------
    parent
        The catalog of the sources and attributes.
    other
        The sources to keep; of the same population.
    """

    profile = ClassProfile(word="restrict", shape="waist", part_counts=range(2, 3), narrows=True)
    parent: Catalog
    other: Catalog

    @classmethod
    def of(cls, parent: Catalog, other: Catalog) -> Self:
        """Keep the sources also in `other`.

        Raises
        ------
        PopulationError
            If the catalogs have different populations.
        """
        return cls(parent, other)

    @property
    def dependencies(self) -> tuple[Catalog, ...]:
        """`parent` and `other`."""
        return self.parent, self.other

    @classmethod
    def local_statement(cls, digest: CatalogDigest, dependencies: Sequence[CatalogDigest]) -> Statement:
        """Return the intersection of the dependencies."""
        return intersection(digest, *dependencies)

    @classmethod
    def describe(cls, parameters: Parameters, notes: Parameters, parts: Sequence[str]) -> str:  # noqa: ARG003
        """Return both dependencies in words."""
        return f"the sources of {parts[0]} that are also in {parts[1]}"

    def describe_briefly(self, parts: Sequence[str]) -> str:
        """Return both dependencies."""
        return f"{parts[0]} within {parts[1]}"

    @classmethod
    def from_exchange(cls, verb: str, options: ExchangeOptions, parts: Sequence[Catalog]) -> Catalog:  # noqa: ARG003
        """Return the catalog of the first part; the second part decides which sources stay."""
        return cls.of(*parts)

    def trace_selection(self) -> tuple[ColumnOrigin, ...]:
        """Return the keys of both dependencies: an inner join."""
        schemas = {dependency.digest: dependency.schema for dependency in self.dependencies}
        return build_key_origins(schemas, "JOIN", "inner join on the key")

    def _build_extent(self) -> Extent:
        return self.parent.extent & self.other.extent
