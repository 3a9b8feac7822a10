"""Rendering of templates, and the registration of pages with their JSON."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache, partial
from typing import Annotated, Any, get_type_hints
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from provenn.archive import Archive
from provenn.display.histogram import histogram_svg
from provenn.display.lineage_picture import lineage_svg
from provenn.display.markup import make_printable
from provenn.sizes import format_size
from provenn.web.accounts import get_current_account
from provenn.web.people import People
from provenn.web.remembering import (
    PageMemory,
    Remembering,
    ViewAnswer,
    answer_unchanged,
    mark_remembered,
    remember_view,
)

__all__ = [
    "ServedArchive",
    "add_page",
    "load_environment",
    "make_catalog_url",
    "make_page",
    "make_query",
    "render",
    "render_text",
]

# Names that a URL path can contain. A slash is impossible, and "." and ".." have a meaning in paths.
_PLAIN = re.compile(r"(?!\.{1,2}$)[^/\\?#%]+")


def _find_archive(request: Request) -> Archive:
    people: People = request.app.state.people
    return people.archive


ServedArchive = Annotated[Archive, Depends(_find_archive)]
"""The parameter type of a view that receives the archive, as the person of the request sees it."""


def add_page(
    router: APIRouter,
    path: str,
    view: Callable[..., Any],
    template: str,
    *,
    remembering: Remembering | None = None,
) -> None:
    """Add a page, and the JSON of its view at the same path under ``/api``.

    Parameters
    ----------
    router
        The router that receives both routes.
    path
        The address of the page.
    view
        Returns the content of the page, a dataclass; its parameters are the parameters of the request.
    template
        The template that renders the content.
    remembering
        How answers of the view are remembered; None if they depend on more than the archive.
    """
    result_type = get_type_hints(view)["return"]
    name = view.__name__
    answer_view = remember_view(view, remembering)

    @router.get(f"/api{path}", response_model=result_type, name=name, summary=(view.__doc__ or name).split("\n")[0])
    def as_json(answer: Annotated[ViewAnswer, Depends(answer_view)], request: Request, response: Response) -> Any:  # noqa: ANN401 - the result of the view
        headers, unchanged = answer_unchanged(request, answer)
        response.headers.update(headers)
        return unchanged or answer.content

    @router.get(path, response_class=HTMLResponse, include_in_schema=False, name=f"{name}_page")
    def as_page(answer: Annotated[ViewAnswer, Depends(answer_view)], request: Request) -> Response:
        headers, unchanged = answer_unchanged(request, answer, template)
        if unchanged is not None:
            return unchanged
        values = {"content": answer.content, "json": _make_json_address(request)}
        return make_page(request, headers, lambda: render_text(template, values), is_remembered=remembering is not None)

    if remembering is not None:
        mark_remembered(as_json, as_page)


def make_page(
    request: Request, headers: Mapping[str, str], render_page: Callable[[], str], *, is_remembered: bool
) -> HTMLResponse:
    """Return a page with the headers that identify it; a remembered page is rendered once."""
    pages: PageMemory = request.app.state.pages
    return HTMLResponse(pages.recall(headers["ETag"], render_page) if is_remembered else render_page(), headers=headers)


def render(template: str, values: dict[str, Any], status: int = 200) -> HTMLResponse:
    """Return the page that a template makes of some values."""
    return HTMLResponse(render_text(template, values), status)


def render_text(template: str, values: dict[str, Any]) -> str:
    """Return the text of the page that a template makes of some values."""
    return load_environment().get_template(template).render(values)


@cache
def load_environment() -> Environment:
    """Return the template environment. All values are escaped; a missing value is an error."""
    environment = Environment(
        loader=PackageLoader("provenn.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["account"] = get_current_account
    environment.globals["catalog_url"] = make_catalog_url
    environment.globals["with_query"] = make_query
    environment.filters["svg"] = Markup  # `provenn.display` makes the pictures, and escapes their texts
    environment.filters["lineage_svg"] = partial(lineage_svg, inline=True)
    environment.filters["histogram_svg"] = partial(histogram_svg, inline=True)
    environment.filters["size"] = format_size
    environment.filters["visible"] = make_printable
    environment.filters["moment"] = _format_time
    environment.filters["number"] = _format_number
    return environment


def make_catalog_url(name: str, digest: str) -> str:
    """Return the address of a catalog's page: by name if a URL can contain the name, otherwise by digest.

    >>> make_catalog_url("bright stars", "0f3a"), make_catalog_url("a/b", "0f3a")
    ('/catalogs/bright%20stars', '/catalogs/0f3a')
    """
    is_usable = _PLAIN.fullmatch(name) and not digest.startswith(name)
    return f"/catalogs/{quote(name) if is_usable else digest}"


def _make_json_address(request: Request) -> str:
    """Return the address of the JSON of a page."""
    query = f"?{request.url.query}" if request.url.query else ""
    return "/api" + quote(request.scope["path"]) + query


def make_query(path: str, **values: object) -> str:
    """Return an address with a query; empty values are left out, and a sequence repeats its key."""
    nonempty = {key: value for key, value in values.items() if value not in (None, "", False)}
    return f"{path}?{urlencode(nonempty, doseq=True)}"


def _format_time(when: datetime | None) -> str:
    return "" if when is None else f"{when:%Y-%m-%d %H:%M} UTC"


def _format_number(value: float) -> str:
    return f"{value:,}"
