"""Answers to failed requests: a page or JSON with a hint, without internals of the program."""

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
    ArchiveChangedError,
    ArchiveUnreachableError,
    ContradictionError,
    DeadlineError,
    NotYoursError,
    OutcomeUnknownError,
    PopulationError,
    ProvennError,
    QuotaError,
    ReadOnlyArchiveError,
    UnknownCatalogError,
    UnknownJobError,
)
from provenn.hints import Hint, find_page_target, phrase_for_page
from provenn.tap.xml_text import format_error
from provenn.web.rendering import render

__all__ = [
    "DELAY",
    "OBSERVATORY",
    "PAGE_FAILURE",
    "add_failure_handlers",
    "find_status",
    "make_busy_answer",
    "make_failure",
]

_LOG = logging.getLogger("provenn.web")

DELAY: Final = 0.5
"""Seconds before a refusal for too many requests is sent, so that immediate retries cost the server little."""

_STATUS: Final[Mapping[type[ProvennError], int]] = {
    UnknownCatalogError: 404,
    UnknownJobError: 404,
    PopulationError: 400,
    ContradictionError: 409,
    NotYoursError: 403,
    ReadOnlyArchiveError: 403,
    ArchiveBusyError: 503,
    ArchiveChangedError: 503,
    ArchiveUnreachableError: 503,
    OutcomeUnknownError: 503,
    DeadlineError: 503,
    QuotaError: 429,
}


OBSERVATORY: Final = ("/tap/", "/scs/", "/datalink/")
"""The paths of services of the Virtual Observatory."""

PAGE_FAILURE: Final[Mapping[str, Any]] = {
    "description": "The error in the request, as a page",
    "content": {"text/html": {}},
}
"""The description, for OpenAPI, of the failures of a route outside ``/api/``."""

_TO_CATALOGS: Final = Hint("start from the list of catalogs", target="/catalogs")


def make_failure(scope: Scope, status: int, message: str, hint: str = "") -> Response:
    """Return the answer to a failed request.

    It is JSON under ``/api/``, a VOTable for services of the Virtual Observatory, and otherwise a page, where a hint
    may be a link.
    """
    words = phrase_for_page(hint)
    if scope["path"].startswith(OBSERVATORY):
        text = f"{message}\n{words}" if words else message
        return Response(format_error(text), status, media_type="application/x-votable+xml")
    if scope["path"].startswith("/api/"):
        return JSONResponse({"error": {"message": message, "hint": words}}, status)
    values = {"phrase": HTTPStatus(status).phrase, "message": message, "hint": words, "target": find_page_target(hint)}
    return render("failure.html", values, status)


def make_busy_answer(scope: Scope, status: int, message: str, seconds: int = 1) -> Response:
    """Return the answer to a request beyond a limit, with the limit and the seconds until a retry makes sense."""
    moment = "a moment" if seconds == 1 else f"{seconds} seconds"
    refusal = make_failure(scope, status, message, f"try again in {moment}")
    refusal.headers["Retry-After"] = str(seconds)
    return refusal


def find_status(error: ProvennError) -> int:
    """Return the HTTP status for an error."""
    return next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 400)


def describe_invalid_value(detail: Mapping[str, Any]) -> str:
    """Return an error of a parameter in plain words.

    >>> describe_invalid_value({"loc": ("query", "page"), "type": "greater_than_equal", "ctx": {"ge": 1}, "msg": ""})
    'page must be at least 1'
    """
    limits = detail.get("ctx", {})
    words = {
        "missing": "is missing",
        "greater_than_equal": f"must be at least {limits.get('ge')}",
        "less_than_equal": f"must be at most {limits.get('le')}",
        "int_parsing": "must be a whole number",
        "float_parsing": "must be a number",
        "bool_parsing": "must be true or false",
        "string_too_long": f"must have at most {limits.get('max_length')} characters",
        "string_too_short": "must not be empty",
        "too_long": f"may occur at most {limits.get('max_length')} times",
        "too_short": "must not be empty",
        "literal_error": f"must be one of {str(limits.get('expected', '')).replace(' or ', ', ')}",
        "json_invalid": "is not JSON",
    }
    name = detail["loc"][-1] if detail["loc"] else "the request"
    return f"{name} {words.get(detail['type']) or 'is not valid: ' + detail['msg']}"


def add_failure_handlers(app: FastAPI) -> None:
    """Make an application answer all errors with `make_failure`."""

    async def answer_error(request: Request, error: Any) -> Response:  # noqa: ANN401 - a ProvennError, says FastAPI
        return make_failure(request.scope, find_status(error), error.message, error.hint)

    async def answer_invalid_request(request: Request, error: Any) -> Response:  # noqa: ANN401 - a RequestValidationError
        details = "; ".join(describe_invalid_value(detail) for detail in error.errors())
        return make_failure(request.scope, 422, details, "correct the value, and send the request again")

    async def answer_http_error(request: Request, error: Any) -> Response:  # noqa: ANN401 - an HTTPException
        if error.status_code == 404:
            return make_failure(request.scope, 404, "this page does not exist", _TO_CATALOGS)
        refusal = make_failure(request.scope, error.status_code, str(error.detail))
        refusal.headers.update(error.headers or {})
        return refusal

    async def answer_crash(request: Request, error: Exception) -> Response:
        _LOG.error("%s %s failed", request.method, request.url.path, exc_info=error)
        return make_failure(
            request.scope,
            500,
            "the server failed to answer this request",
            "the administrator finds the reason in the log of the server",
        )

    app.add_exception_handler(ProvennError, answer_error)
    app.add_exception_handler(RequestValidationError, answer_invalid_request)
    app.add_exception_handler(HTTPException, answer_http_error)
    app.add_exception_handler(Exception, answer_crash)
