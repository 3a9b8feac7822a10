"""The report on a catalog, to be kept."""

from urllib.parse import quote

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from provenn.web.pages.lineage import Which
from provenn.web.rendering import Held
from provenn.web.report import report_html, reported

__all__ = ["router"]

router = APIRouter()


@router.get(
    "/catalogs/{which}/report",
    response_class=HTMLResponse,
    summary="A report on a catalog, in one HTML file.",
    responses={"4XX": {"description": "What is wrong with the request, as a page", "content": {"text/html": {}}}},
)
def report(archive: Held, which: Which) -> HTMLResponse:
    """Give the report on a catalog as a file."""
    made = reported(archive, which)
    name = quote(f"{made.told.name}.html", safe="")
    return HTMLResponse(
        report_html(made),
        headers={"Content-Disposition": f"attachment; filename=\"report.html\"; filename*=UTF-8''{name}"},
    )
