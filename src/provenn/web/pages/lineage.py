"""The page with the large picture of the lineage around a catalog."""

from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from provenn.archive import Archive, Catalog
from provenn.archive.neighbourhood import Direction
from provenn.display.lineage_picture import LineagePicture, lineage_svg
from provenn.web.policy import picture_policy
from provenn.web.remembering import Remembering
from provenn.web.rendering import ServedArchive, add_page, make_catalog_url

__all__ = ["CatalogReference", "Depth", "make_lineage_picture", "router"]

router = APIRouter()

CatalogReference = Annotated[str, Path(max_length=500, description="a name, a digest, or the beginning of a digest")]
"""The catalog in the path of a page."""

Depth = Annotated[int, Query(ge=1, le=20, description="how many steps to follow")]
Most = Annotated[int, Query(ge=1, le=300, description="how many catalogs to show")]


@dataclass(frozen=True, slots=True)
class LineagePage:
    """The content of the lineage page of a catalog.

    Attributes
    ----------
    name, digest
        The catalog.
    depth, direction, most
        The request: the number of steps, the direction, and the maximum number of catalogs.
    lineage
        The catalogs, as the picture shows them.
    """

    name: str
    digest: str
    depth: int
    direction: Direction
    most: int
    lineage: LineagePicture


def make_lineage_picture(
    archive: Archive, which: Catalog | str, depth: int, direction: Direction, most: int
) -> LineagePicture:
    """Return the lineage around a catalog, with links to the pages of its catalogs."""
    picture = archive.neighbourhood(which, depth=depth, direction=direction, most=most).picture
    return replace(
        picture, nodes=tuple(replace(node, link=make_catalog_url(node.name, node.id)) for node in picture.nodes)
    )


def show_lineage(
    archive: ServedArchive, which: CatalogReference, *, depth: Depth = 4, direction: Direction = "both", most: Most = 60
) -> LineagePage:
    """Show the lineage around a catalog: the catalogs it is made from and those that are made from it."""
    reference = which if which in archive else archive.catalog(which)  # a digest is not shown as a name
    picture = make_lineage_picture(archive, reference, depth, direction, most)
    (focus,) = (node for node in picture.nodes if node.focus)
    return LineagePage(focus.name, focus.id, depth, direction, most, picture)


add_page(router, "/catalogs/{which}/lineage", show_lineage, "lineage.html", remembering=Remembering())


@router.get("/catalogs/{which}/lineage.svg", include_in_schema=False)
def draw_lineage(
    archive: ServedArchive, which: CatalogReference, *, depth: Depth = 4, direction: Direction = "both", most: Most = 60
) -> Response:
    """Draw the lineage as an SVG file without links, for use outside the server."""
    picture = archive.neighbourhood(which, depth=depth, direction=direction, most=most).picture
    svg = lineage_svg(picture)
    return Response(svg, media_type="image/svg+xml", headers={"Content-Security-Policy": picture_policy(svg)})
