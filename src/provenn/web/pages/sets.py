"""The catalogs proved to have the same sources as one, to lie inside it, to cover it, or to be apart from it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query

from provenn.archive import Archive, Catalog
from provenn.web.pages.catalog import Linked, linked
from provenn.web.pages.lineage import Which
from provenn.web.rendering import Held, add_page

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
"""How many catalogs are looked through without asking."""

_FEW, _PER_PAGE = 20, 100


@dataclass(frozen=True, slots=True)
class Related:
    """The catalogs that stand in a relation to one.

    Attributes
    ----------
    kind, words
        The relation, and how to say it: these catalogs *lie inside* it.
    catalogs
        Those on this page, by name; none if they were not looked for.
    total
        How many there are; None if they were not looked for.
    page, pages
        Which page it is, from 1, and how many there are.
    """

    kind: Kind
    words: str
    catalogs: tuple[Linked, ...]
    total: int | None
    page: int
    pages: int


@dataclass(frozen=True, slots=True)
class Sets:
    """What is proved of a catalog and all others of its population.

    Attributes
    ----------
    name, digest, population
        The catalog.
    looked_through
        How many catalogs are to be looked through.
    looked
        Whether they were: many are only looked through if that is asked for.
    relations
        What was found.
    """

    name: str
    digest: str
    population: str
    looked_through: int
    looked: bool
    relations: tuple[Related, ...]


def show_sets(
    archive: Held,
    which: Which,
    *,
    relation: Annotated[Kind | None, Query(description="only this relation, all of it")] = None,
    look: Annotated[bool, Query(description="whether to look through however many catalogs there are")] = False,
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
) -> Sets:
    """Show the catalogs that are proved to have the same sources, fewer, more, or none of them."""
    one = archive.catalog(which)
    population = one.population
    total = archive.matches(population=population)
    looked = look or total <= _QUICK
    chosen = tuple(_LOOK_UPS) if relation is None else (relation,)
    size = _FEW if relation is None else _PER_PAGE
    found = tuple(
        _related(kind, _LOOK_UPS[kind][1](archive, one) if looked else None, page if relation else 1, size)
        for kind in chosen
    )
    return Sets(one.name, one.digest, population, total, looked, found)


def _related(kind: Kind, found: list[Catalog] | None, page: int, size: int) -> Related:
    words = _LOOK_UPS[kind][0]
    if found is None:
        return Related(kind, words, (), None, 1, 1)
    listed = tuple(map(linked, found[(page - 1) * size : page * size]))
    return Related(kind, words, listed, len(found), page, max(1, -(-len(found) // size)))


add_page(router, "/catalogs/{which}/sets", show_sets, "sets.html")
