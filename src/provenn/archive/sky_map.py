"""Maps of the sky with the sources of catalogs, and the regions that select them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Final

import numpy as np

from provenn.archive.picture_files import write_svg_file
from provenn.archive.sky_cells import CellCounts, count_cells
from provenn.digests import is_catalog_label
from provenn.display.figure import shorten_label
from provenn.display.sky_map import MOST_LAYERS, SkyCells, SkyLinks, SkyOutline, SkyPoints, SkyView, sky_map_svg
from provenn.errors import PictureError
from provenn.sky import Region, read_call
from provenn.sky.cell_numbers import trace_cells
from provenn.sky.cells import build_cells
from provenn.sky.points import Points, measure_separation

if TYPE_CHECKING:
    from provenn.archive.context import Context
    from provenn.catalogs import Catalog
    from provenn.knowledge.stored_facts import Fact
    from provenn.targets.engine_choice import EngineChoice

__all__ = ["CellLink", "SkyLayer", "SkyMap", "make_sky_map", "name_cell"]

_WHOLE_ORDER: Final = 4
"""The order of the cells on a map of the whole sky: 3.7 degrees."""
_FINER: Final = 5
"""How many orders the cells on a map are above the cell of the size of the map."""
_SMALL: Final = 40.0
"""The radius in degrees below which sources are shown on a map of their part of the sky."""
_MOST_OUTLINES: Final = 400

CellLink = Callable[[int, int], str]
"""Returns the address to which a cell leads, from its order and number."""


@dataclass(frozen=True, slots=True)
class SkyLayer:
    """The sources of a catalog on a map, and the regions of its selection, each in words with its outlines."""

    name: str
    cells: CellCounts
    regions: tuple[tuple[str, tuple[Points, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class SkyMap:
    """A map of the sky with the sources of one or more catalogs; a notebook draws it.

    Attributes
    ----------
    layers
        The catalogs.
    view
        The part of the sky that is shown.
    """

    layers: tuple[SkyLayer, ...]
    view: SkyView

    @property
    def rests_on(self) -> tuple[Fact, ...]:
        """The declared facts on which the map rests."""
        return tuple({fact.id: fact for layer in self.layers for fact in layer.cells.rests_on}.values())

    @property
    def order(self) -> int:
        """The order of the cells that are drawn."""
        deepest = max((layer.cells.order for layer in self.layers), default=_WHOLE_ORDER)
        if self.view.radius is None:
            return min(_WHOLE_ORDER, deepest)
        size = next((order for order in range(deepest) if 58.6 / 2**order <= 2 * self.view.radius), deepest)
        return min(size + _FINER, deepest)

    @property
    def cell_size(self) -> str:
        """The size of a drawn cell in words."""
        degrees = 58.6 / 2**self.order
        return f"{degrees:.1f}°" if degrees >= 1 else f"{degrees * 60:.1f}′"

    def whole_sky(self) -> SkyMap:
        """Return the map of the whole sky."""
        return replace(self, view=SkyView())

    def zoomed(self, ra: float, dec: float, radius: float) -> SkyMap:
        """Return the map of the part of the sky within a radius of a centre, in degrees."""
        return replace(self, view=SkyView(ra, dec, radius))

    def svg(self, *, inline: bool = False, link: CellLink | None = None, points: SkyPoints | None = None) -> str:
        """Draw the map.

        Parameters
        ----------
        inline
            Whether the picture goes into a page and takes its colours; otherwise it brings its own.
        link
            Returns the address to which a cell of the first catalog leads; None without links.
        points
            Sources to draw as dots.
        """
        layers = [_trace_layer(layer, self.order) for layer in self.layers]
        links = None
        if link is not None:
            coarse = self.layers[0].cells.at_order(max(0, self.order - 1))
            addresses = tuple(link(coarse.order, int(number)) for number in coarse.numbers)
            links = SkyLinks(_trace_layer(self.layers[0], coarse.order), addresses)
        outlines = [
            SkyOutline(words, points.ra, points.dec)
            for layer in self.layers
            for words, lines in layer.regions
            for points in lines
        ]
        return sky_map_svg(
            layers,
            outlines[:_MOST_OUTLINES],
            links=links,
            points=points,
            view=self.view,
            size=self.cell_size,
            inline=inline,
        )

    def write(self, path: str | PathLike[str]) -> None:
        """Write the map as an SVG file."""
        write_svg_file(path, self.svg())

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        counted = ", ".join(f"{layer.name}: {layer.cells.total:,} sources" for layer in self.layers)
        return f"<SkyMap {counted}>"


def make_sky_map(
    context: Context,
    catalogs: Sequence[tuple[Catalog, str]],
    *,
    on: Sequence[str] | None = None,
    engine: EngineChoice = "auto",
    most: int | None = None,
) -> SkyMap:
    """Return the map of catalogs, each with its name; sources in a small part of the sky are shown larger.

    See `count_cells` for the options.

    Raises
    ------
    PictureError
        If there are more than four catalogs.
    """
    if len(catalogs) > MOST_LAYERS:
        raise PictureError(f"a map shows at most {MOST_LAYERS} catalogs, not {len(catalogs)}")
    layers = tuple(
        SkyLayer(name, count_cells(context, catalog, name, on=on, engine=engine, most=most), _find_regions(catalog))
        for catalog, name in catalogs
    )
    return SkyMap(layers, _choose_view(layers))


def _trace_layer(layer: SkyLayer, order: int) -> SkyCells:
    """Return the cells of a catalog with their corners, in an order or the nearest that was counted."""
    cells = layer.cells.at_order(order)
    pieces = max(1, 4 >> cells.order)
    points = trace_cells(cells.order, cells.numbers, pieces)
    shape = (len(cells.numbers), 4 * pieces)
    return SkyCells(layer.name, points.ra.reshape(shape), points.dec.reshape(shape), cells.counts, layer.cells.total)


def name_cell(order: int, number: int) -> str:
    """Return the name of a cell in the notation of MOCs.

    >>> name_cell(4, 1023)
    '4/1023'
    """
    return f"{order}/{number}"


def _find_regions(catalog: Catalog) -> tuple[tuple[str, tuple[Points, ...]], ...]:
    """Return the regions of the sky in the selection of a catalog, with their outlines."""
    from provenn.sky.outlines import trace_region  # noqa: PLC0415 - few pictures have regions

    calls = [read_call(label) for label in catalog.extent.labels if not is_catalog_label(label)]
    regions = [call[1] for call in calls if call is not None]
    return tuple((_describe_region(region), tuple(trace_region(region))) for region in regions)


def _describe_region(region: Region) -> str:
    """Return a region in the words of a criterion, without the attributes of the position."""
    constants = [constant if isinstance(constant, str) else f"{constant:g}" for constant in region.constants]
    return f"{region.function}({shorten_label(', '.join(constants), 60)})"


def _choose_view(layers: Sequence[SkyLayer]) -> SkyView:
    """Return the whole sky, or the part of it with all sources if that is small."""
    cells = [build_cells(layer.cells.order, layer.cells.numbers) for layer in layers if len(layer.cells.numbers)]
    if not cells:
        return SkyView()
    vectors = np.concatenate([cell.centres.vectors for cell in cells])
    middle = vectors.mean(axis=0)
    length = float(np.linalg.norm(middle))
    if length < 0.1:
        return SkyView()
    middle /= length
    radius = float(measure_separation(vectors, middle).max()) + max(cell.radius for cell in cells)
    if radius > _SMALL:
        return SkyView()
    ra = float(np.degrees(np.arctan2(middle[1], middle[0])) % 360)
    return SkyView(ra, float(np.degrees(np.arcsin(np.clip(middle[2], -1, 1)))), max(0.05, radius * 1.1))
