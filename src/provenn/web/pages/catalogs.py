"""The catalogs of an archive: searched, sorted, a page at a time."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query

from provenn.web.rendering import Held, add_page

__all__ = ["router"]

router = APIRouter()

Text = Annotated[str, Query(max_length=500)]
_PER_PAGE = 50
_FURTHEST = 10_000_000


@dataclass(frozen=True, slots=True)
class Listed:
    """A catalog, as a list shows it."""

    name: str
    names: tuple[str, ...]
    digest: str
    kind: str
    population: str
    attributes: int
    created_at: datetime
    created_by: str


@dataclass(frozen=True, slots=True)
class Search:
    """What was asked for."""

    text: str
    attribute: str
    population: str
    owner: str
    sort: str
    unnamed: bool


@dataclass(frozen=True, slots=True)
class Catalogs:
    """A page of a list of catalogs.

    Attributes
    ----------
    search
        What was asked for.
    catalogs
        Those on this page.
    total
        How many there are on all pages.
    page, pages
        Which page it is, from 1, and how many there are.
    populations, owners
        What can be chosen from.
    """

    search: Search
    catalogs: tuple[Listed, ...]
    total: int
    page: int
    pages: int
    populations: tuple[str, ...]
    owners: tuple[str, ...]


def list_catalogs(
    archive: Held,
    *,
    text: Text = "",
    attribute: Text = "",
    population: Text = "",
    owner: Text = "",
    sort: Literal["newest", "oldest", "name"] = "newest",
    unnamed: bool = False,
    page: Annotated[int, Query(ge=1, le=_FURTHEST)] = 1,
) -> Catalogs:
    """List catalogs: with a text in the name or the definition, an attribute, of a population, of an owner."""
    asked: dict[str, Any] = {
        "attribute": attribute or None,
        "population": population or None,
        "owner": owner or None,
        "named": not unnamed,
    }
    total = archive.matches(text, **asked)
    found = archive.search(text, **asked, sort=sort, start=(page - 1) * _PER_PAGE, most=_PER_PAGE)
    return Catalogs(
        Search(text, attribute, population, owner, sort, unnamed),
        tuple(
            Listed(
                next(iter(one.names), one.digest[:12]),
                one.names,
                one.digest,
                one.kind,
                one.population,
                one.attributes,
                one.created_at,
                one.created_by,
            )
            for one in found
        ),
        total,
        page,
        max(1, -(-total // _PER_PAGE)),
        archive.populations(),
        archive.owners(),
    )


add_page(router, "/catalogs", list_catalogs, "catalogs.html")
