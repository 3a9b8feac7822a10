"""The application: all pages of an archive."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from fastapi import APIRouter, FastAPI
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.staticfiles import StaticFiles

from provenn import __version__
from provenn.archive import Archive
from provenn.web.accounts import Accounts
from provenn.web.failures import tell_failures
from provenn.web.pages import (
    audit,
    catalog,
    catalogs,
    compare,
    jobs,
    knowledge,
    lineage,
    login,
    report,
    runs,
    sets,
    target,
)
from provenn.web.people import People
from provenn.web.rendering import render

__all__ = ["create_app"]

_STATIC: Final = Path(__file__).parent / "static"
_REFUSED: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "hint"],
            "properties": {"message": {"type": "string"}, "hint": {"type": "string"}},
        }
    },
}
"""What programs are told of a request that is refused, as `provenn.web.failures` tells it."""

_PAGES: Final[tuple[APIRouter, ...]] = (
    catalogs.router,
    catalog.router,
    lineage.router,
    report.router,
    sets.router,
    compare.router,
    target.router,
    jobs.router,
    knowledge.router,
    runs.router,
    audit.router,
)


def create_app(archive: Archive, *, accounts: Accounts | None = None, roots: Sequence[str] | None = None) -> FastAPI:
    """Return the application that serves an archive; `provenn.web.guarding` is to stand before it.

    Parameters
    ----------
    archive
        The archive. It stays open, and belongs to the caller.
    accounts
        Who uses it, each as they see it; `provenn.web.entering` is to stand before it then. None if whoever asks is who
        opened the archive.
    roots
        Where files of base catalogs may lie; None for anywhere.
    """
    people = People(archive, roots)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        people.close()

    app = FastAPI(
        lifespan=lifespan,
        title="provenn",
        version=__version__,
        description="Catalogs that know what they hold before they are computed.",
        docs_url=None,  # these load scripts from elsewhere; /api is ours
        redoc_url=None,
        openapi_url="/api/openapi.json",
        responses={
            "4XX": {
                "description": "What is wrong with the request, and what to do",
                "content": {"application/json": {"schema": _REFUSED}},
            }
        },
    )
    app.state.people = people
    app.state.accounts = accounts
    tell_failures(app)
    app.mount("/static", StaticFiles(directory=_STATIC), name="static")
    for router in (*_PAGES, *([] if accounts is None else [login.router])):
        app.include_router(router)

    @app.get("/", include_in_schema=False)
    def home() -> RedirectResponse:
        return RedirectResponse("/catalogs")

    @app.get("/api", include_in_schema=False, response_class=HTMLResponse)
    def programs() -> HTMLResponse:
        return render("api.html", {"operations": _operations(app.openapi())})

    return app


def _operations(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what programs can ask for: method, path, what it is, and its parameters."""
    return [
        {
            "method": method.upper(),
            "path": path,
            "summary": told.get("summary", ""),
            "parameters": [
                {"name": one["name"], "where": one["in"], "says": one.get("description", "")}
                for one in told.get("parameters", ())
            ],
        }
        for path, methods in schema["paths"].items()
        for method, told in methods.items()
    ]
