"""Pages from templates; and what adds a page, with its JSON beside it."""

import re
from collections.abc import Callable
from datetime import datetime
from functools import cache, partial
from typing import Annotated, Any, get_type_hints
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from provenn.archive import Archive
from provenn.display.lineage import lineage_svg
from provenn.display.markup import visible
from provenn.display.text import size_text
from provenn.web.accounts import current
from provenn.web.people import People

__all__ = ["Held", "add_page", "catalog_url", "environment", "render"]

# Names that can stand in an address as they are. A slash cannot, nor a name that an address takes for a way.
_PLAIN = re.compile(r"(?!\.{1,2}$)[^/\\?#%]+")


def _held(request: Request) -> Archive:
    people: People = request.app.state.people
    return people.archive


Held = Annotated[Archive, Depends(_held)]
"""The archive that is served, as who asks sees it, as a parameter of a view."""


def add_page(router: APIRouter, path: str, view: Callable[..., Any], template: str) -> None:
    """Add a page, and what it shows as JSON, at the same path under ``/api``.

    Parameters
    ----------
    router
        Where they are added.
    path
        The address of the page.
    view
        Returns what there is to show, a dataclass; its parameters are those of the request.
    template
        What makes a page of it.
    """
    shown = get_type_hints(view)["return"]
    name = view.__name__

    @router.get(f"/api{path}", response_model=shown, name=name, summary=(view.__doc__ or name).split("\n")[0])
    def as_json(found: Annotated[Any, Depends(view)]) -> Any:  # noqa: ANN401 - what the view returns
        return found

    @router.get(path, response_class=HTMLResponse, include_in_schema=False, name=f"{name}_page")
    def as_page(found: Annotated[object, Depends(view)], request: Request) -> HTMLResponse:
        return render(template, {"found": found, "json": _beside(request)})


def render(template: str, values: dict[str, Any], status: int = 200) -> HTMLResponse:
    """Return a page."""
    return HTMLResponse(environment().get_template(template).render(values), status)


@cache
def environment() -> Environment:
    """Return what reads templates. Whatever is put in is escaped; a value that is not there is an error."""
    made = Environment(
        loader=PackageLoader("provenn.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["account"] = current
    made.globals["catalog_url"] = catalog_url
    made.globals["with_query"] = _with_query
    made.filters["svg"] = Markup  # a picture is made by provenn.display, which escapes what is in it
    made.filters["lineage_svg"] = partial(lineage_svg, inline=True)
    made.filters["size"] = size_text
    made.filters["visible"] = visible
    made.filters["moment"] = _moment
    made.filters["number"] = _number
    return made


def catalog_url(name: str, digest: str) -> str:
    """Return the address of a catalog's page: by name, if it has one and an address can hold it.

    >>> catalog_url("bright stars", "0f3a"), catalog_url("a/b", "0f3a")
    ('/catalogs/bright%20stars', '/catalogs/0f3a')
    """
    named = _PLAIN.fullmatch(name) and not digest.startswith(name)
    return f"/catalogs/{quote(name) if named else digest}"


def _beside(request: Request) -> str:
    """Return the address of the JSON of a page."""
    query = f"?{request.url.query}" if request.url.query else ""
    return "/api" + quote(request.scope["path"]) + query


def _with_query(path: str, **values: object) -> str:
    """Return an address with a query; what is None or empty is left out, what is several is there several times."""
    given = {key: value for key, value in values.items() if value not in (None, "", False)}
    return f"{path}?{urlencode(given, doseq=True)}"


def _moment(when: datetime | None) -> str:
    return "" if when is None else f"{when:%Y-%m-%d %H:%M} UTC"


def _number(value: float) -> str:
    return f"{value:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")
