"""The page that lists the catalogs of an archive, with search, sorting and pagination."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query

from provenn.data.planning_state import read_shown_state
from provenn.definitions.search import read_list_state
from provenn.web.remembering import Remembering, StateReader
from provenn.web.rendering import ServedArchive, add_page

__all__ = ["router"]

router = APIRouter()

Text = Annotated[str, Query(max_length=500)]
_PER_PAGE = 50
_FURTHEST = 10_000_000


@dataclass(frozen=True, slots=True)
class ListedCatalog:
    """A catalog in the list."""

    name: str
    names: tuple[str, ...]
    digest: str
    kind: str
    population: str
    attributes: int
    created_at: datetime
    created_by: str


@dataclass(frozen=True, slots=True)
class CatalogQuery:
    """The search parameters of the request."""

    text: str
    attribute: str
    population: str
    owner: str
    sort: str
    unnamed: bool


@dataclass(frozen=True, slots=True)
class CatalogsPage:
    """A page of a list of catalogs.

    Attributes
    ----------
    search
        The search parameters of the request.
    catalogs
        The catalogs on this page.
    total
        The number of catalogs on all pages.
    page, pages
        The number of this page, from 1, and the number of pages.
    populations, owners
        The populations and owners to choose from.
    """

    search: CatalogQuery
    catalogs: tuple[ListedCatalog, ...]
    total: int
    page: int
    pages: int
    populations: tuple[str, ...]
    owners: tuple[str, ...]


def list_catalogs(
    archive: ServedArchive,
    *,
    text: Text = "",
    attribute: Text = "",
    population: Text = "",
    owner: Text = "",
    sort: Literal["newest", "oldest", "name"] = "newest",
    unnamed: bool = False,
    page: Annotated[int, Query(ge=1, le=_FURTHEST)] = 1,
) -> CatalogsPage:
    """List catalogs: with a text in the name or the definition, an attribute, of a population, of an owner."""
    filters: dict[str, Any] = {
        "attribute": attribute or None,
        "population": population or None,
        "owner": owner or None,
        "named": not unnamed,
    }
    start = (page - 1) * _PER_PAGE
    matches = archive.search(text, **filters, sort=sort, start=start, most=_PER_PAGE)
    is_last = 0 < len(matches) < _PER_PAGE
    total = start + len(matches) if is_last else archive.matches(text, **filters)
    return CatalogsPage(
        CatalogQuery(text, attribute, population, owner, sort, unnamed),
        tuple(
            ListedCatalog(
                next(iter(match.names), match.digest[:12]),
                match.names,
                match.digest,
                match.kind,
                match.population,
                match.attributes,
                match.created_at,
                match.created_by,
            )
            for match in matches
        ),
        total,
        page,
        max(1, -(-total // _PER_PAGE)),
        archive.populations(),
        archive.owners(),
    )


def _read_state(states: StateReader, options: Mapping[str, Any]) -> Hashable:
    """Return what a list depends on; a text is also sought in definitions, whose wording may change."""
    return states.read(read_shown_state if options["text"] else read_list_state)


add_page(router, "/catalogs", list_catalogs, "catalogs.html", remembering=Remembering(read_state=_read_state))
