"""A look at how two catalogs overlap: the sources in both and in one alone are counted once, and observed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from provenn.archive.catalog_computing import count_sources
from provenn.catalogs import verbs

if TYPE_CHECKING:
    from provenn.archive.context import Context
    from provenn.archive.sky_map import SkyMap
    from provenn.catalogs import Catalog
    from provenn.targets.engine_choice import EngineChoice

__all__ = ["Overlap", "count_overlap", "map_overlap"]

Named = tuple["Catalog", str]
"""A catalog and its name."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """The number of sources in both of two catalogs, in the left one alone, and in the right one alone."""

    both: int
    left_only: int
    right_only: int


def count_overlap(context: Context, left: Named, right: Named, *, engine: EngineChoice = "auto") -> Overlap:
    """Count the sources that two catalogs share, and those of one alone; counts that are known are not made again.

    Each count is recorded with an observed fact: the set has sources, or has none. So the relation of the catalogs is
    proved afterwards.

    Raises
    ------
    PopulationError
        If the catalogs have different populations.
    SparkNeededError
        If only a look is allowed, and Spark must count.
    """
    counts = [
        count_sources(context, catalog, name, check=False, engine=engine) for catalog, name in _divide(left, right)
    ]
    return Overlap(*counts)


def map_overlap(context: Context, left: Named, right: Named, *, most: int | None = None) -> SkyMap:
    """Return the map of the sources that two catalogs share, and of those of one alone; never start Spark."""
    from provenn.archive.sky_map import make_sky_map  # noqa: PLC0415 - a command starts without it

    return make_sky_map(context, _divide(left, right), engine="look", most=most)


def _divide(left: Named, right: Named) -> list[Named]:
    """Return the catalogs of the sources in both of two catalogs, and in one alone, with their names."""
    (first, first_name), (second, second_name) = left, right
    return [
        (verbs.restrict(first, second), f"{first_name} & {second_name}"),
        (verbs.exclude(first, second), f"{first_name} - {second_name}"),
        (verbs.exclude(second, first), f"{second_name} - {first_name}"),
    ]
