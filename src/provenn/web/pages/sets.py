"""The page of catalogs proved to equal, lie inside, cover, or be disjoint from a catalog."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query

from provenn.archive import Archive, Catalog
from provenn.web.pages.catalog import CatalogLink, make_catalog_link
from provenn.web.pages.lineage import CatalogReference
from provenn.web.remembering import Remembering
from provenn.web.rendering import ServedArchive, add_page

__all__ = ["router"]

router = APIRouter()

Kind = Literal["same", "inside", "covering", "apart"]

_LOOK_UPS: Final[Mapping[Kind, tuple[str, Callable[[Archive, Catalog], list[Catalog]]]]] = {
    "same": ("have the same sources as", Archive.same_sources),
    "inside": ("lie inside", Archive.inside),
    "covering": ("cover", Archive.covering),
    "apart": ("share no source with", Archive.apart_from),
}

_QUICK = 2_000
"""Maximum number of catalogs that are examined without a request by the user."""

_FEW, _PER_PAGE = 20, 100


@dataclass(frozen=True, slots=True)
class RelatedCatalogs:
    """The catalogs with a given relation to the catalog of the page.

    Attributes
    ----------
    kind, words
        The relation, and its verb for a sentence: these catalogs *lie inside* it.
    catalogs
        The catalogs on this page, by name; empty without a search.
    total
        The number of catalogs on all pages; None without a search.
    page, pages
        The number of this page, from 1, and the number of pages.
    """

    kind: Kind
    words: str
    catalogs: tuple[CatalogLink, ...]
    total: int | None
    page: int
    pages: int


@dataclass(frozen=True, slots=True)
class SetsPage:
    """The proved relations of a catalog to all other catalogs of its population.

    Attributes
    ----------
    name, digest, population
        The catalog.
    looked_through
        The number of catalogs to examine.
    looked
        Whether the catalogs were examined: many catalogs are only examined on request.
    relations
        The catalogs by relation.
    declared
        The number of declared facts that the proofs may use.
    """

    name: str
    digest: str
    population: str
    looked_through: int
    looked: bool
    relations: tuple[RelatedCatalogs, ...]
    declared: int = 0


def show_sets(
    archive: ServedArchive,
    which: CatalogReference,
    *,
    relation: Annotated[Kind | None, Query(description="only this relation, completely")] = None,
    look: Annotated[bool, Query(description="search all catalogs, however many")] = False,
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
) -> SetsPage:
    """Show the catalogs that are proved to have the same sources, fewer, more, or none of them."""
    catalog = archive.catalog(which)
    population = catalog.population
    total = archive.matches(population=population)
    looked = look or total <= _QUICK
    chosen = tuple(_LOOK_UPS) if relation is None else (relation,)
    size = _FEW if relation is None else _PER_PAGE
    relations = tuple(
        _make_related(kind, _LOOK_UPS[kind][1](archive, catalog) if looked else None, page if relation else 1, size)
        for kind in chosen
    )
    declared = sum(fact.origin == "declared" for fact in archive.facts()) if looked else 0
    return SetsPage(catalog.name, catalog.digest, population, total, looked, relations, declared)


def _make_related(kind: Kind, catalogs: list[Catalog] | None, page: int, size: int) -> RelatedCatalogs:
    words = _LOOK_UPS[kind][0]
    if catalogs is None:
        return RelatedCatalogs(kind, words, (), None, 1, 1)
    links = tuple(map(make_catalog_link, catalogs[(page - 1) * size : page * size]))
    return RelatedCatalogs(kind, words, links, len(catalogs), page, max(1, -(-len(catalogs) // size)))


add_page(router, "/catalogs/{which}/sets", show_sets, "sets.html", remembering=Remembering())
