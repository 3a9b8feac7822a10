"""The page with the sources of a catalog on the sky: a map, the richest cells, and the sources of a cell."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np
from fastapi import APIRouter, Query
from fastapi.responses import Response

from provenn.archive import Archive, Catalog
from provenn.archive.sky_cells import DEEPEST_COUNTED, find_position, find_sources_in_cell, read_positions
from provenn.archive.sky_map import CellLink, SkyMap, name_cell
from provenn.display.cell_texts import format_cell, list_values
from provenn.display.sky_map import SkyPoints
from provenn.errors import PictureError, ProvennError
from provenn.sky.cells import build_cells
from provenn.web.asking import FormProblem, add_form, make_problem
from provenn.web.catalog_data import MOST_UNASKED, SkySummary, see_sky, summarize_sky
from provenn.web.failures import PAGE_FAILURE
from provenn.web.first_rows import FirstRows
from provenn.web.pages.catalog import CatalogLink
from provenn.web.pages.compare import suggest_names
from provenn.web.pages.lineage import CatalogReference
from provenn.web.policy import make_picture
from provenn.web.rendering import ServedArchive, make_catalog_url, make_query

__all__ = ["router"]

router = APIRouter()

_CELL: Final = re.compile(r"([0-9]{1,2})/([0-9]{1,10})")
_RICHEST: Final = 10
_LISTED: Final = 50
_DOTS: Final = 2_000
"""The most sources of a cell that are drawn."""

Cell = Annotated[str, Query(max_length=500, description="A cell of HEALPix, such as 4/1023")]
Others = Annotated[list[Annotated[str, Query(max_length=500)]] | None, Query(max_length=3)]


@dataclass(frozen=True, slots=True)
class RichCell:
    """A cell with many sources: its name, its centre in degrees, the number of sources, and the page of the cell."""

    name: str
    ra: float
    dec: float
    sources: int
    link: str


@dataclass(frozen=True, slots=True)
class CellPart:
    """A cell that the viewer chose.

    Attributes
    ----------
    name, ra, dec
        The cell, and its centre in degrees.
    sources
        The number of sources in the cell; None if it is smaller than the cells that were counted, and cannot be read.
    criterion
        The criterion that selects them.
    listed
        The first of them: keys and positions.
    refusal
        Why they cannot be listed without Spark; empty if they can.
    """

    name: str
    ra: float
    dec: float
    sources: int | None
    criterion: str
    listed: FirstRows
    refusal: str


@dataclass(frozen=True, slots=True)
class SkyPage:
    """The sources of a catalog on the sky.

    Attributes
    ----------
    name, digest
        The catalog.
    others, suggested
        The catalogs drawn over it, and names of catalogs to choose from.
    summary
        The number of sources with a position; None if the map cannot be shown.
    refusal
        Why the map cannot be shown.
    regions
        The regions that select the sources, in words.
    richest
        The cells with most sources on the map.
    part
        The cell that the viewer chose; None for the whole map.
    attributes
        The attributes of the position.
    svg
        The map.
    problem
        The error in the names of the catalogs to draw over it.
    rests_on
        The declared facts on which the map rests, in words.
    """

    name: str
    digest: str
    others: tuple[CatalogLink, ...]
    suggested: tuple[str, ...]
    summary: SkySummary | None
    refusal: str
    regions: tuple[str, ...]
    richest: tuple[RichCell, ...]
    part: CellPart | None
    attributes: tuple[str, ...]
    svg: str
    problem: FormProblem | None = None
    rests_on: tuple[str, ...] = ()


def show_sky(
    archive: ServedArchive,
    which: CatalogReference,
    *,
    also: Others = None,
    cell: Cell = "",
    count: Annotated[bool, Query(description="Whether to count very many sources, too")] = False,
) -> SkyPage:
    """Show the sources of a catalog on the sky, and those of a cell."""
    catalog = archive.catalog(which)
    position = find_position(catalog.definition)
    others, problem = _find_others(archive, also or ())
    shown = [_keep_name(which, catalog), *(_keep_name(name, other) for name, other in others)]
    name, *names = (layer.name for layer in shown)
    most = None if count else MOST_UNASKED
    sky_map, refusal = see_sky(catalog, *(other for _, other in others), names=(name, *names), most=most)
    place = _read_cell(cell) if cell else None
    part, points = None, None
    rests_on: tuple[str, ...] = ()
    svg = ""
    richest: tuple[RichCell, ...] = ()
    if sky_map is not None:
        rests_on = tuple(fact.words for fact in sky_map.rests_on)
        if place is not None:
            part, points = _show_part(catalog, sky_map, *place)
            centre = build_cells(place[0], np.array([place[1]]))
            sky_map = sky_map.zoomed(part.ra, part.dec, centre.radius * 1.2)
        home = make_catalog_url(name, catalog.digest) + "/sky"

        def link(order: int, number: int) -> str:
            return make_query(home, cell=name_cell(order, number), also=names)

        svg = sky_map.svg(inline=True, link=link, points=points)
        richest = _find_richest(sky_map, place, link)
    return SkyPage(
        name,
        catalog.digest,
        tuple(shown[1:]),
        suggest_names(archive),
        None if sky_map is None else summarize_sky(sky_map),
        refusal,
        () if sky_map is None else tuple(words for layer in sky_map.layers for words, _ in layer.regions),
        richest,
        part,
        (position.ra, position.dec),
        svg,
        problem,
        rests_on,
    )


def _keep_name(name: str, catalog: Catalog) -> CatalogLink:
    """Return a link to a catalog by the name that the viewer wrote, but not by a digest."""
    return CatalogLink(name if name in catalog.names else catalog.name, catalog.digest)


def _find_others(archive: Archive, names: Sequence[str]) -> tuple[list[tuple[str, Catalog]], FormProblem | None]:
    """Return the catalogs to draw over a map by name, and the error in the first name without positions."""
    others: list[tuple[str, Catalog]] = []
    problem = None
    for name in filter(str.strip, names):
        try:
            other = archive.catalog(name)
            find_position(other.definition)
            others.append((name, other))
        except ProvennError as error:
            problem = problem or make_problem("also", error)
    return others, problem


def _read_cell(cell: str) -> tuple[int, int]:
    """Return the order and number of a cell.

    Raises
    ------
    PictureError
        If there is no such cell.
    """
    parts = _CELL.fullmatch(cell)
    order, number = map(int, parts.groups()) if parts else (0, 12)
    if order > DEEPEST_COUNTED or number >= 12 << (2 * order):
        raise PictureError(
            f"there is no cell {cell}",
            hint=f"an order from 0 to {DEEPEST_COUNTED}, and a number below 12 · 4^order: 4/1023",
        )
    return order, number


def _show_part(catalog: Catalog, sky_map: SkyMap, order: int, number: int) -> tuple[CellPart, SkyPoints | None]:
    """Return a cell with its first sources, and the positions of all of them unless they are very many."""
    centre = build_cells(order, np.array([number])).centres
    position = find_position(catalog.definition)
    counted = sky_map.layers[0].cells
    sources = counted.at_order(order).inside(order, number).total if order <= counted.order else None
    listed, refusal, points = FirstRows(), "", None
    try:
        context = catalog.archive.context
        inside, table = find_sources_in_cell(context, catalog.definition, catalog.name, order, number, most=_DOTS)
        sources = inside if sources is None else sources
        points = SkyPoints(*read_positions(table, position)) if inside <= _DOTS else None
        columns = [list_values(column) for column in table.slice(0, _LISTED).columns]
        listed = FirstRows(
            tuple(table.column_names), tuple(tuple(map(format_cell, row)) for row in zip(*columns, strict=True))
        )
    except ProvennError as error:
        refusal = error.message
    part = CellPart(
        name_cell(order, number),
        float(centre.ra[0]),
        float(centre.dec[0]),
        sources,
        f"in_moc({_quote(position.ra)}, {_quote(position.dec)}, '{name_cell(order, number)}')",
        listed,
        refusal,
    )
    return part, points


def _quote(name: str) -> str:
    """Return the name of an attribute for a criterion."""
    return name if name.isidentifier() and name.isascii() else "`" + name.replace("`", "``") + "`"


def _find_richest(sky_map: SkyMap, place: tuple[int, int] | None, link: CellLink) -> tuple[RichCell, ...]:
    """Return the cells of the first catalog with most sources, on the map or inside a cell of it."""
    cells = sky_map.layers[0].cells.at_order(sky_map.order)
    cells = cells if place is None else cells.inside(*place)
    most = np.argsort(-cells.counts, kind="stable")[:_RICHEST]
    centres = build_cells(cells.order, cells.numbers[most]).centres
    return tuple(
        RichCell(
            name_cell(cells.order, int(number)), float(ra), float(dec), int(sources), link(cells.order, int(number))
        )
        for number, ra, dec, sources in zip(
            cells.numbers[most], centres.ra, centres.dec, cells.counts[most], strict=True
        )
    )


add_form(router, "/catalogs/{which}/sky", show_sky, "sky.html")


@router.get(
    "/catalogs/{which}/sky.svg",
    response_class=Response,
    summary="The map of a catalog's sources on the sky, as a picture.",
    responses={200: {"content": {"image/svg+xml": {}}}, "4XX": {**PAGE_FAILURE}},
)
def draw_sky(archive: ServedArchive, which: CatalogReference) -> Response:
    """Draw the map of a catalog as a picture of its own."""
    sky_map, refusal = see_sky(archive.catalog(which))
    if sky_map is None:
        raise PictureError(refusal or f"{which} has no positions on the sky")
    return make_picture(sky_map.svg())
