"""The download of the report on a catalog."""

from urllib.parse import quote

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from provenn.web.failures import PAGE_FAILURE
from provenn.web.pages.lineage import CatalogReference
from provenn.web.rendering import ServedArchive
from provenn.web.standalone_report import make_report, render_report

__all__ = ["router"]

router = APIRouter()


@router.get(
    "/catalogs/{which}/report",
    response_class=HTMLResponse,
    summary="A report on a catalog, in one HTML file.",
    responses={"4XX": {**PAGE_FAILURE}},
)
def report(archive: ServedArchive, which: CatalogReference) -> HTMLResponse:
    """Give the report on a catalog as a file."""
    content = make_report(archive, which)
    name = quote(f"{content.description.name}.html", safe="")
    return HTMLResponse(
        render_report(content),
        headers={"Content-Disposition": f"attachment; filename=\"report.html\"; filename*=UTF-8''{name}"},
    )
