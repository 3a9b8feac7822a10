"""The web application with all pages of an archive."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from anyio import to_thread
from fastapi import APIRouter, FastAPI
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.staticfiles import StaticFiles

from provenn._version import __version__
from provenn.archive import Archive
from provenn.tap.service_limits import ServiceLimits
from provenn.web.accounts import Accounts
from provenn.web.failures import add_failure_handlers
from provenn.web.job_threads import JobLimits
from provenn.web.pages import (
    audit,
    bounds,
    catalog,
    catalogs,
    compare,
    define,
    explore,
    jobs,
    knowledge,
    lineage,
    login,
    plot,
    quota,
    report,
    runs,
    sets,
    sky,
    target,
)
from provenn.web.people import People
from provenn.web.remembering import PageMemory, ViewMemory, list_remembered_paths
from provenn.web.rendering import render

__all__ = ["READING_PATHS", "create_app"]

_LOG: Final = logging.getLogger("provenn.web")
_THREADS: Final = 400
SWEEP_SECONDS = 30.0
"""How often expired TAP jobs are deleted."""
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
"""The JSON schema of a refused request, as `provenn.web.failures` answers it."""

_PAGES: Final[tuple[APIRouter, ...]] = (
    catalogs.router,
    catalog.router,
    lineage.router,
    explore.router,
    report.router,
    sets.router,
    plot.router,
    sky.router,
    compare.router,
    define.router,
    target.router,
    jobs.router,
    knowledge.router,
    bounds.router,
    runs.router,
    audit.router,
    quota.router,
)

READING_PATHS: Final = list_remembered_paths(_PAGES)
"""The paths of the pages that depend on the archive and the viewer alone, and change nothing."""


async def _sweep_jobs(people: People) -> None:
    """Delete expired TAP jobs now and then: their owners may never ask for them again."""
    while True:
        await asyncio.sleep(SWEEP_SECONDS)
        try:
            await to_thread.run_sync(people.purge_jobs)
        except Exception:  # noqa: BLE001 - the next sweep tries again
            _LOG.exception("expired TAP jobs could not be deleted")


def create_app(
    archive: Archive,
    *,
    accounts: Accounts | None = None,
    roots: Sequence[str] | None = None,
    jobs_limits: JobLimits | None = None,
    tap_limits: ServiceLimits | None = None,
) -> FastAPI:
    """Return the application that serves an archive; the caller must put `provenn.web.guarding` before it.

    Parameters
    ----------
    archive
        The archive. The application does not close it.
    accounts
        The accounts of the users, which see only their part of the archive; the caller must then put
        `provenn.web.entering` before the application. With None, every request acts as the opener of the archive.
    roots
        The folders that may contain files of base catalogs; None for any folder.
    jobs_limits
        The limits of jobs; by default two run at once. Without accounts, the limit per person equals the total limit.
    tap_limits
        The limits of the TAP service.
    """
    limits = jobs_limits or JobLimits()
    limits = limits if accounts is not None else replace(limits, per_client=limits.at_once)
    people = People(archive, roots, None if accounts is None else accounts.notes, limits, tap_limits)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        # `Turns` limits how many questions run. Abandoned work keeps its thread until it ends: this needs more threads.
        to_thread.current_default_thread_limiter().total_tokens = _THREADS
        sweeping = asyncio.create_task(_sweep_jobs(people))
        try:
            yield
        finally:
            sweeping.cancel()
        people.close()
        app.state.memory.close()
        app.state.pages.clear()

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
                "description": "The error in the request, with a hint",
                "content": {"application/json": {"schema": _REFUSED}},
            }
        },
    )
    app.state.people = people
    app.state.accounts = accounts
    app.state.memory = ViewMemory(archive)
    app.state.pages = PageMemory()
    add_failure_handlers(app)
    app.mount("/static", StaticFiles(directory=_STATIC), name="static")
    for router in (*_PAGES, *_list_observatory_routers(), *([] if accounts is None else [login.router])):
        app.include_router(router)

    @app.get("/", include_in_schema=False)
    def home() -> RedirectResponse:
        return RedirectResponse("/catalogs")

    @app.get("/api", include_in_schema=False, response_class=HTMLResponse)
    def programs() -> HTMLResponse:
        return render("api.html", {"operations": _list_operations(app.openapi())})

    return app


def _list_observatory_routers() -> tuple[APIRouter, ...]:
    """Return the routers of the services of the Virtual Observatory."""
    from provenn.web.pages import cone_search, datalink, tap, tap_async  # noqa: PLC0415 - a report does without them

    return tap.router, tap_async.router, cone_search.router, datalink.router


def _list_operations(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the method, path, summary and parameters of each operation in an OpenAPI schema."""
    return [
        {
            "method": method.upper(),
            "path": path,
            "summary": operation.get("summary", ""),
            "parameters": [
                {"name": parameter["name"], "where": parameter["in"], "says": parameter.get("description", "")}
                for parameter in operation.get("parameters", ())
            ],
        }
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    ]
