"""Who sees what. All rules are here; everything else asks.

A viewer sees a name that is public, his own, or of a project of his. He sees a catalog directly if he defined it, or
if it carries a name that he sees; and he sees the definitions of all that such a catalog is made from. He sees a
fact that is public, his own, or of a project of his, if he sees all catalogs in it. What others did with a catalog
(stored, counted, observed, ran) he sees if they share it with him: it, or something made from it, has a name that he
sees, and the one who did it gave that name, or did it when the name was there. So somebody who defines what another
one has privately learns nothing of that.

Everything else does not exist for a viewer. Nobody is hidden anything where there is no viewer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Select,
    Subquery,
    Table,
    and_,
    func,
    or_,
    select,
    true,
    union,
    union_all,
)

from provenn.errors import VisibilityError, did_you_mean
from provenn.store.database import Reading
from provenn.store.tables import definers, dependencies, facts, members, name_history, names

__all__ = [
    "Deed",
    "Visibility",
    "as_seen_by",
    "check_visibility",
    "creations",
    "directly_seen",
    "everything_seen",
    "is_fact_for",
    "is_name_for",
    "nearest_creation",
    "seen",
    "state",
    "told_deeds",
]

Visibility = Literal["private", "project", "public"]
"""Who sees a name or a declaration: its owner; the members of a project, too; everybody."""

_LARGEST_BATCH = 10_000


@dataclass(frozen=True, slots=True)
class Deed:
    """That somebody did something with a catalog, some time."""

    catalog: str
    who: str
    at: datetime


def check_visibility(visibility: str, project: str | None) -> None:
    """Refuse a visibility that there is not, and one that does not go with a project.

    Raises
    ------
    VisibilityError
        If it is like that.
    """
    known = get_args(Visibility)
    if visibility not in known:
        hint = did_you_mean(str(visibility), known) or f"there are {', '.join(known)}"
        raise VisibilityError(f"there is no visibility {visibility!r}", hint=hint)
    if (visibility == "project") != (project is not None):
        raise VisibilityError(
            "what a project sees needs the project, and nothing else does", hint='visibility="project", project="…"'
        )


def as_seen_by(reading: Reading, who: str) -> Reading:
    """Return the same transaction, as seen by a person."""
    return Reading(reading.connection, viewer=who, who=who)


# -- conditions ------------------------------------------------------------------------------------------------------


def _open_to(table: Table, owner: str, person: str) -> ColumnElement[bool]:
    own_projects = select(members.c.project).where(members.c.who == person)
    return or_(
        table.c.visibility == "public",
        table.c[owner] == person,
        and_(table.c.visibility == "project", table.c.project.in_(own_projects)),
    )


def is_name_for(reading: Reading, table: Table = names) -> ColumnElement[bool]:
    """Return the condition that the viewer sees a name; or, of the history of names, a change."""
    return true() if reading.viewer is None else _open_to(table, "owner", reading.viewer)


def is_fact_for(person: str) -> ColumnElement[bool]:
    """Return the condition that a person may know a fact, if he sees the catalogs in it."""
    return _open_to(facts, "declared_by", person)


def _defined(viewer: str, *, by_person: bool = False) -> Select[str]:
    """Return the query of the catalogs that a viewer has: all, or only those that no run added."""
    query = select(definers.c.catalog).where(definers.c.who == viewer)
    return query.where(definers.c.defined) if by_person else query


def _named(viewer: str) -> Select[str]:
    return select(names.c.catalog).where(_open_to(names, "owner", viewer))


def directly_seen(reading: Reading, column: ColumnElement[str], *, by_person: bool = False) -> ColumnElement[bool]:
    """Return the condition that the viewer sees a catalog directly: that lists show it.

    With `by_person`, a catalog does not count that the viewer has from runs alone.
    """
    viewer = reading.viewer
    if viewer is None:
        return _defined_by_anybody(column) if by_person else true()
    return or_(column.in_(_defined(viewer, by_person=by_person)), column.in_(_named(viewer)))


def _defined_by_anybody(column: ColumnElement[str]) -> ColumnElement[bool]:
    """Return the condition that a person defined or named a catalog.

    Nothing is asked of its descendants: whoever defines a catalog is recorded to have defined its ancestors.
    """
    defined = select(definers.c.catalog).where(definers.c.defined)
    return or_(column.in_(defined), column.in_(select(names.c.catalog)))


def everything_seen(reading: Reading, column: ColumnElement[str], *, by_person: bool = False) -> ColumnElement[bool]:
    """Return the condition that the viewer sees a catalog, directly or in a lineage; `by_person` as above.

    It takes as long as it takes to walk through all that the viewer sees; of a few catalogs `seen` tells it sooner.
    """
    if reading.viewer is None:
        return directly_seen(reading, column, by_person=by_person)
    directly = union(_defined(reading.viewer, by_person=by_person), _named(reading.viewer)).subquery()
    reached = select(directly.c.catalog).cte("seen", recursive=True)
    above = select(dependencies.c.dependency).join(reached, dependencies.c.catalog == reached.c.catalog)
    return column.in_(select(reached.union(above).c.catalog))


def creations(viewer: str) -> Subquery:
    """Return the catalogs that a viewer sees directly: ``catalog``, and ``who`` defined it first ``at`` which moment.

    Of others he knows only since when their names are there that he sees.
    """
    own = select(definers.c.catalog, definers.c.who, definers.c.at).where(definers.c.who == viewer)
    named = select(names.c.catalog, names.c.owner, names.c.changed_at).where(_open_to(names, "owner", viewer))
    known = union_all(own, named).subquery()
    place = func.row_number().over(partition_by=known.c.catalog, order_by=(known.c.at, known.c.who))
    ranked = select(known.c.catalog, known.c.who, known.c.at, place.label("place")).subquery()
    return select(ranked.c.catalog, ranked.c.who, ranked.c.at).where(ranked.c.place == 1).subquery("creations")


# -- some catalogs ---------------------------------------------------------------------------------------------------


def seen(reading: Reading, digests: Collection[str], *, by_person: bool = False) -> frozenset[str]:
    """Return those of some digests of catalogs that the viewer sees, directly or in a lineage.

    With `by_person`, only those that a person defined, or that are in the lineage of such a definition.
    """
    viewer = reading.viewer
    if viewer is None:
        return _defined_among(reading, digests) if by_person else frozenset(digests)
    own = _defined(viewer, by_person=by_person)
    found = _among(reading, digests, lambda batch: own.where(definers.c.catalog.in_(batch)))
    found |= _among(reading, digests, lambda batch: _named(viewer).where(names.c.catalog.in_(batch)))
    rest = [one for one in digests if one not in found]
    if not rest:
        return frozenset(found)

    def below(batch: list[str]) -> Select[str]:
        reached = _below(batch)
        directly = directly_seen(reading, reached.c.catalog, by_person=by_person)
        return select(reached.c.origin).where(directly).distinct()

    return frozenset(found | _among(reading, rest, below))


def _defined_among(reading: Reading, digests: Collection[str]) -> frozenset[str]:
    def defined(batch: list[str]) -> Select[str]:
        return select(definers.c.catalog).where(definers.c.catalog.in_(batch), definers.c.defined)

    def named(batch: list[str]) -> Select[str]:
        return select(names.c.catalog).where(names.c.catalog.in_(batch))

    return frozenset(_among(reading, digests, defined) | _among(reading, digests, named))


def _below(digests: Collection[str]) -> FromClause:
    """Return what is made from some catalogs, each ``catalog`` with the ``origin`` that it is made from."""
    start = select(dependencies.c.dependency.label("origin"), dependencies.c.catalog)
    reached = start.where(dependencies.c.dependency.in_(digests)).cte("below", recursive=True)
    further = select(reached.c.origin, dependencies.c.catalog)
    return reached.union(further.join(reached, dependencies.c.dependency == reached.c.catalog))


def _among(reading: Reading, digests: Iterable[str], query: Callable[[list[str]], Select[str]]) -> set[str]:
    return {one for batch in _batches(digests) for one in reading.connection.scalars(query(batch))}


def nearest_creation(reading: Reading, digest: str) -> tuple[datetime, str] | None:
    """Return when and by whom a catalog was defined that the viewer sees in a lineage alone, as far as he may know.

    Of the catalogs made from it that he sees directly, the nearest tell it. None if he does not see it.
    """
    assert reading.viewer is not None, "who sees everything knows it"  # noqa: S101 - for the type checker
    known = creations(reading.viewer)
    frontier, passed = {digest}, {digest}
    while frontier:
        frontier = _among(reading, frontier, _dependents) - passed
        passed |= frontier
        found = [
            (at, who)
            for batch in _batches(frontier)
            for at, who in reading.connection.execute(select(known.c.at, known.c.who).where(known.c.catalog.in_(batch)))
        ]
        if found:
            return min(found)
    return None


def _dependents(digests: Collection[str]) -> Select[str]:
    return select(dependencies.c.catalog).where(dependencies.c.dependency.in_(digests))


def told_deeds(reading: Reading, deeds: Collection[Deed]) -> frozenset[Deed]:
    """Return what the viewer may know of what was done with catalogs."""
    if reading.viewer is None:
        return frozenset(deeds)
    there = seen(reading, {one.catalog for one in deeds})
    told = {one for one in deeds if one.catalog in there and one.who == reading.viewer}
    left = {one for one in deeds if one.catalog in there} - told
    shared = and_(_open_to(names, "owner", reading.viewer), names.c.visibility != "private")
    for deeper in (False, True):
        if not left:
            break
        named = _shared_names(reading, {one.catalog for one in left}, shared, deeper=deeper)
        known = {
            one for one in left if any(one.who == who or since <= one.at for who, since in named.get(one.catalog, ()))
        }
        told |= known
        left -= known
    return frozenset(told)


def _shared_names(
    reading: Reading, digests: Collection[str], shared: ColumnElement[bool], *, deeper: bool
) -> dict[str, set[tuple[str, datetime]]]:
    """Return the owners of names of catalogs, or of what is made from them, and since when these are there."""
    found: dict[str, set[tuple[str, datetime]]] = {}
    for batch in _batches(digests):
        query = select(names.c.catalog, names.c.owner, names.c.changed_at).where(shared)
        if deeper:
            reached = _below(batch)
            query = select(reached.c.origin, names.c.owner, names.c.changed_at).where(shared)
            query = query.join_from(reached, names, names.c.catalog == reached.c.catalog)
        else:
            query = query.where(names.c.catalog.in_(batch))
        for digest, owner, since in reading.connection.execute(query):
            found.setdefault(digest, set()).add((owner, since))
    return found


def _batches(digests: Iterable[str]) -> Iterable[list[str]]:
    wanted = sorted(digests)
    return (wanted[start : start + _LARGEST_BATCH] for start in range(0, len(wanted), _LARGEST_BATCH))


def state(reading: Reading) -> Hashable:
    """Return something that changes whenever what the viewer, or who asks, may know may have changed."""
    person = reading.viewer or reading.who
    own = tuple(
        reading.connection.scalars(select(members.c.project).where(members.c.who == person).order_by("project"))
    )
    if reading.viewer is None:
        return own
    changes = select(func.max(name_history.c.id)).scalar_subquery()
    definitions = select(func.count()).select_from(definers).scalar_subquery()
    return own, tuple(reading.connection.execute(select(changes, definitions)).one())
