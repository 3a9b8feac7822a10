"""The data of a catalog on its page: size, rows, tallies of values, and a map of the sky; Spark is never started."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from provenn.archive import Catalog
from provenn.archive.overview import SeenValues
from provenn.archive.sky_cells import find_position
from provenn.archive.sky_map import SkyMap, make_sky_map
from provenn.display.row_counts import Rows
from provenn.errors import ProvennError

__all__ = ["MOST_UNASKED", "CatalogData", "SkySummary", "has_position", "see_data", "see_sky", "summarize_sky"]

_MOST_ATTRIBUTES: Final = 200
"""The most attributes of a request."""

MOST_UNASKED: Final = 3_000_000
"""The most sources whose positions are counted because a page is looked at."""


@dataclass(frozen=True, slots=True)
class SkySummary:
    """The sources on the sky: the number with a position, and without; the inhabited cells, and their order."""

    placed: int
    unplaced: int
    order: int
    cells: int


@dataclass(frozen=True, slots=True)
class CatalogData:
    """The data of a catalog, as far as they are seen without Spark.

    Attributes
    ----------
    size, size_words, size_says
        The number of sources; in words; and whether it is counted, bounded or estimated.
    values
        Some rows and tallies of values; None if only Spark can read them.
    refusal
        Why rows cannot be read; empty if they can.
    rests_on
        The declared facts on which the rows rest, in words.
    attributes
        The names of the attributes, for a request that computes and keeps them.
    sky, sky_refusal
        The sources on the sky; None without positions, or if they were not counted, and then the reason.
    """

    size: Rows
    size_words: str
    size_says: str
    values: SeenValues | None
    refusal: str
    rests_on: tuple[str, ...]
    attributes: tuple[str, ...]
    sky: SkySummary | None
    sky_refusal: str = ""


def see_data(catalog: Catalog) -> CatalogData:
    """Return the data of a catalog for its page."""
    overview = catalog.overview()
    sky_map, refusal = see_sky(catalog)
    return CatalogData(
        overview.size,
        overview.size.describe("source") or "not counted yet",
        overview.size_words,
        overview.values,
        overview.refusal,
        overview.rests_on,
        catalog.attributes[:_MOST_ATTRIBUTES],
        None if sky_map is None else summarize_sky(sky_map),
        refusal,
    )


def see_sky(
    catalog: Catalog, *others: Catalog, names: Sequence[str] = (), most: int | None = MOST_UNASKED
) -> tuple[SkyMap | None, str]:
    """Return the map of catalogs, or None and the reason; the reason is empty without a position.

    Parameters
    ----------
    catalog, others
        The catalogs.
    names
        The names of all of them for the legend; by default their own.
    most
        The most sources, roughly, whose positions are counted; None for as many as possible, and -1 for none: then only
        what was counted before is shown.
    """
    if not has_position(catalog):
        return None, ""
    layers = (catalog, *others)
    try:
        return make_sky_map(
            catalog.archive.context,
            [
                (layer.definition, name)
                for layer, name in zip(layers, names or [layer.name for layer in layers], strict=True)
            ],
            engine="look",
            most=most,
        ), ""
    except ProvennError as error:
        return None, error.message


def has_position(catalog: Catalog) -> bool:
    """Return whether attributes of a catalog are known to hold a position on the sky."""
    try:
        find_position(catalog.definition)
    except ProvennError:
        return False
    return True


def summarize_sky(sky_map: SkyMap) -> SkySummary:
    """Return the sources of the first catalog on a map."""
    cells = sky_map.layers[0].cells
    drawn = cells.at_order(sky_map.order)
    return SkySummary(cells.total, cells.unplaced, drawn.order, len(drawn.numbers))
