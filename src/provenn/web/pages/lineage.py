"""The lineage around a catalog, large: what it is made from and what is made from it, to walk through."""

from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from provenn.archive import Archive, Catalog
from provenn.archive.neighbourhood import Direction
from provenn.display.lineage import LineagePicture, lineage_svg
from provenn.web.rendering import Held, add_page, catalog_url

__all__ = ["Depth", "Which", "picture", "router"]

router = APIRouter()

Which = Annotated[str, Path(max_length=500, description="a name, a digest, or the beginning of one")]
"""The catalog that a page is about."""

Depth = Annotated[int, Query(ge=1, le=20, description="how many steps to go")]
Most = Annotated[int, Query(ge=1, le=300, description="how many catalogs to show")]


@dataclass(frozen=True, slots=True)
class Around:
    """The lineage around a catalog.

    Attributes
    ----------
    name, digest
        The catalog.
    depth, direction, most
        What was asked for: how many steps, where to, how many catalogs at most.
    lineage
        The catalogs, as the picture shows them.
    """

    name: str
    digest: str
    depth: int
    direction: Direction
    most: int
    lineage: LineagePicture


def picture(archive: Archive, which: Catalog | str, depth: int, direction: Direction, most: int) -> LineagePicture:
    """Return the lineage around a catalog; what is in it leads to the pages of catalogs."""
    found = archive.neighbourhood(which, depth=depth, direction=direction, most=most).picture
    return replace(found, nodes=tuple(replace(one, link=catalog_url(one.name, one.id)) for one in found.nodes))


def show_lineage(
    archive: Held, which: Which, *, depth: Depth = 4, direction: Direction = "both", most: Most = 60
) -> Around:
    """Show the lineage around a catalog: the catalogs it is made from and those that are made from it."""
    asked = which if which in archive else archive.catalog(which)  # a digest is nothing to call it by
    drawn = picture(archive, asked, depth, direction, most)
    (focus,) = (one for one in drawn.nodes if one.focus)
    return Around(focus.name, focus.id, depth, direction, most, drawn)


add_page(router, "/catalogs/{which}/lineage", show_lineage, "lineage.html")


@router.get("/catalogs/{which}/lineage.svg", include_in_schema=False)
def draw_lineage(
    archive: Held, which: Which, *, depth: Depth = 4, direction: Direction = "both", most: Most = 60
) -> Response:
    """Draw the same as a file, which has no links: it is to be shown anywhere."""
    drawn = archive.neighbourhood(which, depth=depth, direction=direction, most=most).picture
    return Response(lineage_svg(drawn), media_type="image/svg+xml")
