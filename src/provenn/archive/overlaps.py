"""A look at how catalogs overlap: the sources in both and in one alone are counted once, and observed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from provenn.archive.catalog_computing import count_sources
from provenn.catalogs import verbs

if TYPE_CHECKING:
    from provenn.archive.context import Context
    from provenn.archive.sky_map import SkyMap
    from provenn.catalogs import Catalog
    from provenn.targets.engine_choice import EngineChoice

__all__ = ["Overlap", "count_overlap", "map_overlap", "map_region"]

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
    """Return the map of the sources of one of two catalogs alone, with those in both above; never start Spark."""
    from provenn.archive.sky_map import make_sky_map  # noqa: PLC0415 - a command starts without it

    both, *alone = _divide(left, right)
    return make_sky_map(context, [*alone, both], engine="look", most=most)


def map_region(
    context: Context, catalogs: Sequence[Named], inside: Sequence[bool], *, most: int | None = None
) -> SkyMap:
    """Return the map of one region of a Venn diagram; never start Spark.

    All regions of the same catalogs are shown on the same part of the sky: the part with the sources of all of them.

    Parameters
    ----------
    context, catalogs
        The archive, and the catalogs, of one population.
    inside
        For each catalog, whether the region lies inside; at least one is true.
    most
        As for `make_sky_map`.

    Raises
    ------
    SparkNeededError, TooLargeError
        If the sources cannot be counted by a look, or are more than `most`.
    """
    from provenn.archive.sky_map import make_sky_map  # noqa: PLC0415 - a command starts without it

    whole = make_sky_map(context, catalogs, engine="look", most=most)
    region = make_sky_map(context, [_cut_out(catalogs, inside)], engine="look", most=most)
    return replace(region, view=whole.view)


def _cut_out(catalogs: Sequence[Named], inside: Sequence[bool]) -> Named:
    """Return the catalog of the sources in a region of a Venn diagram, with its name."""
    within = [named for named, flag in zip(catalogs, inside, strict=True) if flag]
    without = [named for named, flag in zip(catalogs, inside, strict=True) if not flag]
    region, name = within[0][0], " & ".join(name for _, name in within)
    for catalog, _ in within[1:]:
        region = verbs.restrict(region, catalog)
    for catalog, other in without:
        region, name = verbs.exclude(region, catalog), f"{name} - {other}"
    return region, name


def _divide(left: Named, right: Named) -> list[Named]:
    """Return the catalogs of the sources in both of two catalogs, and in one alone, with their names."""
    return [_cut_out((left, right), inside) for inside in ((True, True), (True, False), (False, True))]
