"""What is answered when something is wrong: a page or JSON, with what to do, and nothing of the program's inside."""

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.types import Scope

from provenn.errors import (
    ArchiveBusyError,
    ContradictionError,
    NotYoursError,
    PopulationError,
    ProvennError,
    ReadOnlyArchiveError,
    UnknownCatalogError,
    UnknownJobError,
)
from provenn.web.rendering import render

__all__ = ["failure", "status_of", "tell_failures"]

_LOG = logging.getLogger("provenn.web")

_STATUS: Final[Mapping[type[ProvennError], int]] = {
    UnknownCatalogError: 404,
    UnknownJobError: 404,
    PopulationError: 400,
    ContradictionError: 409,
    NotYoursError: 403,
    ReadOnlyArchiveError: 403,
    ArchiveBusyError: 503,
}


def failure(scope: Scope, status: int, message: str, hint: str = "") -> Response:
    """Return the answer to a request that fails: JSON to programs, a page to people."""
    if scope["path"].startswith("/api/"):
        return JSONResponse({"error": {"message": message, "hint": hint}}, status)
    found = {"status": status, "phrase": HTTPStatus(status).phrase, "message": message, "hint": hint}
    return render("failure.html", found, status)


def status_of(error: ProvennError) -> int:
    """Return the status of the answer to a request that an error ends."""
    return next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 400)


def tell_failures(app: FastAPI) -> None:
    """Have an application tell people and programs what is wrong."""

    async def refused(request: Request, error: Any) -> Response:  # noqa: ANN401 - a ProvennError, says FastAPI
        return failure(request.scope, status_of(error), error.message, error.hint or "")

    async def unusable(request: Request, error: Any) -> Response:  # noqa: ANN401 - a RequestValidationError
        said = "; ".join(f"{one['loc'][-1]}: {one['msg']}" for one in error.errors())
        return failure(request.scope, 422, f"the request cannot be understood: {said}", "correct what is named")

    async def missing(request: Request, error: Any) -> Response:  # noqa: ANN401 - an HTTPException
        if error.status_code == 404:
            return failure(request.scope, 404, "there is no such page", "the list of catalogs is a good start")
        return failure(request.scope, error.status_code, str(error.detail))

    async def broken(request: Request, error: Exception) -> Response:
        _LOG.error("%s %s failed", request.method, request.url.path, exc_info=error)
        return failure(
            request.scope, 500, "provenn failed to answer this", "who runs the server finds out why in its log"
        )

    app.add_exception_handler(ProvennError, refused)
    app.add_exception_handler(RequestValidationError, unusable)
    app.add_exception_handler(HTTPException, missing)
    app.add_exception_handler(Exception, broken)
