"""One catalog: what it is, what it has, what it is made from, and what is known of it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter

from provenn.archive import Archive, Catalog, Stored
from provenn.archive.neighbourhood import Direction
from provenn.archive.relation import WORDS
from provenn.catalogs import CrossMatch, MatchedSources
from provenn.display.lineage import LineagePicture
from provenn.store.facts import Fact
from provenn.web.defining import Parameter, definers, parameters
from provenn.web.pages.lineage import Depth, Which, picture
from provenn.web.rendering import Held, add_page

__all__ = ["Linked", "linked", "router"]

router = APIRouter()

_MOST = 20
"""How many catalogs, changes and fragments a part of the page shows; it says how many there are."""

_DRAWN = 30

_OF_SEVERAL_POPULATIONS = (CrossMatch.kind, MatchedSources.kind)
"""The classes of catalogs that may be of another population than what they are made from."""


@dataclass(frozen=True, slots=True)
class Linked:
    """Another catalog."""

    name: str
    digest: str


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A catalog that this one is made from, or that is made from this one; and how this one relates to it, in words."""

    name: str
    digest: str
    relation: str
    words: str


@dataclass(frozen=True, slots=True)
class Some:
    """The first of some catalogs, and how many there are."""

    catalogs: tuple[Linked, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Made:
    """The first of the catalogs that are made from this one, and how many there are."""

    catalogs: tuple[Neighbour, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Column:
    """An attribute: `defined_by` is the catalog that defines it, there under the name `defined_as`."""

    name: str
    type: str
    unit: str
    ucd: str
    description: str
    nullable: bool
    key: bool
    defined_by: Linked
    defined_as: str


@dataclass(frozen=True, slots=True)
class Piece:
    """What is stored: a fragment. If it is not used any more, `unusable` says why."""

    number: int
    stored_for: str
    attributes: tuple[str, ...]
    rows: int
    size: int
    seconds: float
    stored_at: datetime
    stored_by: str
    uses: int
    used_at: datetime
    unusable: str


@dataclass(frozen=True, slots=True)
class Told:
    """A fact: what it says, who says so and why; and, if it was taken back, who did and why."""

    number: int
    statement: str
    origin: str
    reason: str
    by: str
    at: datetime
    holds: bool
    retracted_by: str | None
    retracted_at: datetime | None
    retracted_reason: str | None


@dataclass(frozen=True, slots=True)
class Moved:
    """That a name came to a catalog, or was deleted (then there is none)."""

    catalog: str | None
    at: datetime
    by: str


@dataclass(frozen=True, slots=True)
class History:
    """The latest changes of a name, and how many there were."""

    name: str
    changes: tuple[Moved, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Shown:
    """A catalog.

    Attributes
    ----------
    name, names, digest, kind
        What it is called here; all its names, its digest, its class.
    what, parameters
        Its definition: as a sentence, and what the user wrote.
    population, key, sources
        What one row is, what identifies it, and which there are.
    created_at, created_by
        When it was defined first, and by whom.
    attributes
        Its attributes, in the order of the columns.
    made_from, made_from_it
        The catalogs it is made from, and those that are made from it.
    lineage
        The catalogs around it, as a picture shows them.
    same_sources
        Catalogs that have the same sources by construction.
    fragments
        What is stored of its sources, and what was.
    says, facts
        What its definition says of sets; the facts about it, also those that were taken back.
    warnings
        What is not proved any more.
    history
        What happened to its names.
    """

    name: str
    names: tuple[str, ...]
    digest: str
    kind: str
    what: str
    parameters: tuple[Parameter, ...]
    population: str
    key: tuple[str, ...]
    sources: str
    created_at: datetime
    created_by: str
    attributes: tuple[Column, ...]
    made_from: tuple[Neighbour, ...]
    made_from_it: Made
    lineage: LineagePicture
    depth: int
    direction: str
    same_sources: Some
    fragments: tuple[Piece, ...]
    says: tuple[str, ...]
    facts: tuple[Told, ...]
    warnings: tuple[str, ...]
    history: tuple[History, ...]


def show_catalog(archive: Held, which: Which, *, depth: Depth = 2, direction: Direction = "both") -> Shown:
    """Show a catalog: definition, attributes, lineage, neighbours, what is stored, facts, history of its names."""
    one = archive.catalog(which)
    asked = which if which in one.names else one  # one of several names may be meant, but not a digest
    told = archive.describe(asked)
    drawn = picture(archive, asked, depth, direction, _DRAWN)
    above = [Linked(name, each.digest) for name, each in zip(told.made_from, one.definition.dependencies, strict=True)]
    below = picture(archive, one, 1, "down", _MOST + 1)
    (focus,) = (node for node in below.nodes if node.focus)
    made = [Linked(node.name, node.id) for node in below.nodes if not node.focus]
    strange = {each.digest for each in one.definition.dependencies if each.population != one.definition.population}
    strange |= {
        node.id
        for node in below.nodes
        if node.kind in _OF_SEVERAL_POPULATIONS and archive.catalog(node.id).population != one.population
    }
    related = _related(archive, one, [*dict.fromkeys(above), *made], strange)
    same = archive.same_sources(one, by_construction=True)
    return Shown(
        name=told.name,
        names=told.names,
        digest=told.digest,
        kind=told.kind,
        what=told.is_what,
        parameters=parameters(one.definition),
        population=told.population,
        key=told.key,
        sources=told.sources,
        created_at=told.created_at,
        created_by=told.created_by,
        attributes=_columns(archive, one),
        made_from=tuple(related[each.digest] for each in dict.fromkeys(above)),
        made_from_it=Made(tuple(related[each.digest] for each in made), len(made) + focus.below),
        lineage=drawn,
        depth=depth,
        direction=direction,
        same_sources=Some(tuple(map(linked, same[:_MOST])), len(same)),
        fragments=tuple(_piece(each) for each in archive.fragments(one, dropped=True)),
        says=tuple(map(str, told.says)),
        facts=tuple(_told(each) for each in archive.facts(one, retracted=True)),
        warnings=tuple(f"the members of {name} are not known to be disjoint any more" for name in told.unproved)
        + tuple(f"taken on trust: {line}" for line in told.caveats),
        history=tuple(_history(archive, name) for name in told.names),
    )


def _related(
    archive: Archive, one: Catalog, others: Sequence[Linked], strange: Collection[str]
) -> dict[str, Neighbour]:
    """Return how a catalog relates to others, by the digest of the other; some are of another population."""
    names = {each.digest: each.name for each in others}
    found = {
        other.digest: Neighbour(names[other.digest], other.digest, summary, WORDS[summary])
        for other, summary in archive.relations(one, [digest for digest in names if digest not in strange])
    }
    words = "is of another population than"
    return found | {digest: Neighbour(names[digest], digest, "", words) for digest in names if digest in strange}


def _columns(archive: Archive, one: Catalog) -> tuple[Column, ...]:
    where = definers(one.definition)
    attributes = one.schema.attributes
    key = {each.name for each in one.schema.key}
    used = {where[each.identity][0] for each in attributes}
    links = {definer.digest: linked(Catalog(archive, definer)) for definer in used}
    return tuple(
        Column(
            name=each.name,
            type=str(each.type),
            unit=each.unit,
            ucd=each.ucd,
            description=each.description,
            nullable=each.nullable,
            key=each.name in key,
            defined_by=links[where[each.identity][0].digest],
            defined_as=where[each.identity][1],
        )
        for each in attributes
    )


def linked(one: Catalog) -> Linked:
    """Return what a page needs to lead to a catalog."""
    return Linked(one.name, one.digest)


def _piece(stored: Stored) -> Piece:
    one = stored.fragment
    return Piece(
        number=one.id,
        stored_for=stored.name,
        attributes=stored.attributes,
        rows=one.rows,
        size=one.size,
        seconds=one.seconds,
        stored_at=one.stored_at,
        stored_by=one.stored_by,
        uses=one.uses,
        used_at=one.used_at,
        unusable=stored.unusable,
    )


def _told(fact: Fact) -> Told:
    return Told(
        number=fact.id,
        statement=str(fact.statement),
        origin=fact.origin,
        reason=fact.reason,
        by=fact.declared_by,
        at=fact.declared_at,
        holds=fact.holds,
        retracted_by=fact.retracted_by,
        retracted_at=fact.retracted_at,
        retracted_reason=fact.retracted_reason,
    )


def _history(archive: Archive, name: str) -> History:
    changes = archive.log(name)
    return History(name, tuple(Moved(one.catalog, one.at, one.by) for one in changes[:_MOST]), len(changes))


add_page(router, "/catalogs/{which}", show_catalog, "catalog.html")
