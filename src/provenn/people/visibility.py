"""Visibility: who sees which names, catalogs, facts and actions. All rules are here; other modules ask this one.

A viewer sees a name that is public, the viewer's own, or of one of the viewer's projects. The viewer sees a catalog
directly if the viewer defined it, or if the catalog has a name that the viewer sees. The viewer also sees the
definitions of all ancestors of these catalogs. The viewer sees a fact that is public, the viewer's own, or of one of
the viewer's projects, if the viewer sees all catalogs in it.

The viewer sees an action of another person on a catalog (storing, counting, observing, running) if that person shares
the catalog: the catalog, or one of its descendants, has a name that the viewer sees, and the other person gave that
name, or acted when the name existed. So a viewer that defines the same catalog as another person has privately learns
nothing about that person.

Everything else does not exist for a viewer. Without a viewer, nothing is hidden.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal, get_args

from sqlalchemy import (
    BindParameter,
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

from provenn.batches import split_batches
from provenn.database.tables import definers, dependencies, facts, members, name_history, names
from provenn.database.transactions import Reading
from provenn.errors import VisibilityError, did_you_mean
from provenn.hints import Hint

if TYPE_CHECKING:
    from provenn.digests import CatalogDigest

__all__ = [
    "CatalogAction",
    "Visibility",
    "check_visibility",
    "filter_visible",
    "filter_visible_actions",
    "find_nearest_creation",
    "is_directly_visible",
    "is_directly_visible_to",
    "is_one_directly_visible_to",
    "is_open_fact",
    "is_visible",
    "is_visible_name",
    "read_visibility_state",
    "select_creations",
    "view_as",
]

Visibility = Literal["private", "project", "public"]
"""The people that see a name or a declaration: only its owner; also the members of a project; everybody."""


@dataclass(frozen=True, slots=True)
class CatalogAction:
    """An action of a person on a catalog at a time."""

    catalog: CatalogDigest
    who: str
    at: datetime


def check_visibility(visibility: str, project: str | None) -> None:
    """Check that a visibility exists, and that a project is given if and only if the visibility is "project".

    Raises
    ------
    VisibilityError
        If the visibility does not exist, or does not fit the project.
    """
    known = get_args(Visibility)
    if visibility not in known:
        hint = did_you_mean(str(visibility), known) or f"there are {', '.join(known)}"
        raise VisibilityError(f"unknown visibility {visibility!r}", hint=hint)
    if (visibility == "project") != (project is not None):
        raise VisibilityError(
            "the visibility project needs a project, and no other visibility has one",
            hint=Hint('pass visibility="project", project="…"', command="write --visibility project --project PROJECT"),
        )


def view_as(reading: Reading, who: str) -> Reading:
    """Return the same transaction with another person as the viewer."""
    return Reading(reading.connection, viewer=who, who=who)


# -- conditions ------------------------------------------------------------------------------------------------------


def _is_open_to(table: Table, owner: str, person: str | BindParameter[str]) -> ColumnElement[bool]:
    """Return the condition that a person may see a row, by its visibility; `owner` names the owner's column."""
    own_projects = select(members.c.project).where(members.c.who == person)
    return or_(
        table.c.visibility == "public",
        table.c[owner] == person,
        and_(table.c.visibility == "project", table.c.project.in_(own_projects)),
    )


def is_visible_name(reading: Reading, table: Table = names) -> ColumnElement[bool]:
    """Return the condition for a name, or a change in the name history, to be visible to the viewer."""
    return true() if reading.viewer is None else _is_open_to(table, "owner", reading.viewer)


def is_open_fact(person: str | BindParameter[str]) -> ColumnElement[bool]:
    """Return the condition that a person may know a fact, provided that the person sees the fact's catalogs."""
    return _is_open_to(facts, "declared_by", person)


def _select_defined(viewer: str | BindParameter[str], *, by_person: bool = False) -> Select[CatalogDigest]:
    """Return the query for the catalogs that a viewer defined or, unless `by_person`, that the viewer's runs need."""
    query = select(definers.c.catalog).where(definers.c.who == viewer)
    return query.where(definers.c.defined) if by_person else query


def _select_named(viewer: str | BindParameter[str]) -> Select[CatalogDigest]:
    """Return the query for the catalogs with a name visible to a viewer."""
    return select(names.c.catalog).where(_is_open_to(names, "owner", viewer))


def is_directly_visible(
    reading: Reading, column: ColumnElement[str], *, by_person: bool = False
) -> ColumnElement[bool]:
    """Return the condition for a catalog to be directly visible to the viewer, and shown in lists.

    With `by_person`, catalogs needed only by the viewer's runs do not count.
    """
    viewer = reading.viewer
    if viewer is None:
        return _is_defined_by_anybody(column) if by_person else true()
    return is_directly_visible_to(viewer, column, by_person=by_person)


def is_directly_visible_to(
    person: str | BindParameter[str], column: ColumnElement[str], *, by_person: bool = False
) -> ColumnElement[bool]:
    """Return the condition for a catalog to be directly visible to a person, as for `is_directly_visible`."""
    return or_(column.in_(_select_defined(person, by_person=by_person)), column.in_(_select_named(person)))


def is_one_directly_visible_to(
    person: str | BindParameter[str], column: ColumnElement[str], *, by_person: bool = False
) -> ColumnElement[bool]:
    """Return the same condition as `is_directly_visible_to`, for queries about few catalogs.

    Here the database looks up each catalog, there it reads all catalogs of the person first.
    """
    defined = _select_defined(person, by_person=by_person).where(definers.c.catalog == column)
    return or_(defined.exists(), _select_named(person).where(names.c.catalog == column).exists())


def _is_defined_by_anybody(column: ColumnElement[str]) -> ColumnElement[bool]:
    """Return the condition that a person defined or named a catalog.

    Descendants need no check: the definer of a catalog is also recorded as a definer of the ancestors.
    """
    defined = select(definers.c.catalog).where(definers.c.defined)
    return or_(column.in_(defined), column.in_(select(names.c.catalog)))


def is_visible(reading: Reading, column: ColumnElement[str], *, by_person: bool = False) -> ColumnElement[bool]:
    """Return the condition for a catalog to be visible to the viewer, directly or in a lineage.

    With `by_person`, catalogs needed only by runs do not count. The condition walks through all catalogs that the
    viewer sees; for a few catalogs `filter_visible` is faster.
    """
    if reading.viewer is None:
        return is_directly_visible(reading, column, by_person=by_person)
    defined = _select_defined(reading.viewer, by_person=by_person)
    directly = union(defined, _select_named(reading.viewer)).subquery()
    reached = select(directly.c.catalog).cte("seen", recursive=True)
    above = select(dependencies.c.dependency).join(reached, dependencies.c.catalog == reached.c.catalog)
    return column.in_(select(reached.union(above).c.catalog))


def select_creations(viewer: str) -> Subquery:
    """Return the query for the catalogs that a viewer sees directly, with their creation as the viewer may know it.

    Its columns are ``catalog``, ``who`` and ``at``: the person and time of the viewer's own definition, or the owner
    and time of a name that the viewer sees, whichever is oldest.
    """
    own = select(definers.c.catalog, definers.c.who, definers.c.at).where(definers.c.who == viewer)
    named = select(names.c.catalog, names.c.owner, names.c.changed_at).where(_is_open_to(names, "owner", viewer))
    known = union_all(own, named).subquery()
    place = func.row_number().over(partition_by=known.c.catalog, order_by=(known.c.at, known.c.who))
    ranked = select(known.c.catalog, known.c.who, known.c.at, place.label("place")).subquery()
    return select(ranked.c.catalog, ranked.c.who, ranked.c.at).where(ranked.c.place == 1).subquery("creations")


# -- some catalogs ---------------------------------------------------------------------------------------------------


def filter_visible(
    reading: Reading, digests: Collection[CatalogDigest], *, by_person: bool = False
) -> frozenset[CatalogDigest]:
    """Return the digests of the catalogs visible to the viewer, directly or in a lineage.

    With `by_person`, return only catalogs that a person defined, or that are ancestors of such catalogs.
    """
    viewer = reading.viewer
    if viewer is None:
        return _filter_defined(reading, digests) if by_person else frozenset(digests)
    defined = _select_defined(viewer, by_person=by_person)
    visible = _run_in_batches(reading, digests, lambda batch: defined.where(definers.c.catalog.in_(batch)))
    visible |= _run_in_batches(reading, digests, lambda batch: _select_named(viewer).where(names.c.catalog.in_(batch)))
    others = [digest for digest in digests if digest not in visible]
    if not others:
        return frozenset(visible)

    def select_ancestors(batch: list[CatalogDigest]) -> Select[CatalogDigest]:
        reached = _select_descendants(batch)
        directly = is_directly_visible(reading, reached.c.catalog, by_person=by_person)
        return select(reached.c.origin).where(directly).distinct()

    return frozenset(visible | _run_in_batches(reading, others, select_ancestors))


def _filter_defined(reading: Reading, digests: Collection[CatalogDigest]) -> frozenset[CatalogDigest]:
    """Return the digests of the catalogs defined or named by anybody."""

    def select_defined(batch: list[CatalogDigest]) -> Select[CatalogDigest]:
        return select(definers.c.catalog).where(definers.c.catalog.in_(batch), definers.c.defined)

    def select_named(batch: list[CatalogDigest]) -> Select[CatalogDigest]:
        return select(names.c.catalog).where(names.c.catalog.in_(batch))

    defined = _run_in_batches(reading, digests, select_defined)
    return frozenset(defined | _run_in_batches(reading, digests, select_named))


def _select_descendants(digests: Collection[CatalogDigest]) -> FromClause:
    """Return the query for the descendants of catalogs: each ``catalog`` with the ``origin`` that it is made from."""
    start = select(dependencies.c.dependency.label("origin"), dependencies.c.catalog)
    reached = start.where(dependencies.c.dependency.in_(digests)).cte("below", recursive=True)
    further = select(reached.c.origin, dependencies.c.catalog)
    return reached.union(further.join(reached, dependencies.c.dependency == reached.c.catalog))


def _run_in_batches(
    reading: Reading,
    digests: Iterable[CatalogDigest],
    make_query: Callable[[list[CatalogDigest]], Select[CatalogDigest]],
) -> set[CatalogDigest]:
    return {
        digest for batch in split_batches(sorted(digests)) for digest in reading.connection.scalars(make_query(batch))
    }


def find_nearest_creation(reading: Reading, digest: CatalogDigest) -> tuple[datetime, str] | None:
    """Return the time and the definer, as far as the viewer may know, of a catalog seen only in a lineage.

    The nearest descendants that the viewer sees directly decide. None if the viewer does not see the catalog.
    """
    assert reading.viewer is not None, "ask an administrator of the archive"  # noqa: S101 - for the type checker
    creations = select_creations(reading.viewer)
    query = select(creations.c.at, creations.c.who)
    frontier, passed = {digest}, {digest}
    while frontier:
        frontier = _run_in_batches(reading, frontier, _select_dependents) - passed
        passed |= frontier
        candidates = [
            (at, who)
            for batch in split_batches(sorted(frontier))
            for at, who in reading.connection.execute(query.where(creations.c.catalog.in_(batch)))
        ]
        if candidates:
            return min(candidates)
    return None


def _select_dependents(digests: Collection[CatalogDigest]) -> Select[CatalogDigest]:
    return select(dependencies.c.catalog).where(dependencies.c.dependency.in_(digests))


def filter_visible_actions(reading: Reading, actions: Collection[CatalogAction]) -> frozenset[CatalogAction]:
    """Return the actions that the viewer may know."""
    if reading.viewer is None:
        return frozenset(actions)
    visible_catalogs = filter_visible(reading, {action.catalog for action in actions})
    candidates = {action for action in actions if action.catalog in visible_catalogs}
    visible = {action for action in candidates if action.who == reading.viewer}
    undecided = candidates - visible
    is_shared = and_(_is_open_to(names, "owner", reading.viewer), names.c.visibility != "private")
    for of_descendants in (False, True):
        if not undecided:
            break
        shared_names = _find_shared_names(
            reading, {action.catalog for action in undecided}, is_shared, of_descendants=of_descendants
        )
        shared = {
            action
            for action in undecided
            if any(action.who == owner or since <= action.at for owner, since in shared_names.get(action.catalog, ()))
        }
        visible |= shared
        undecided -= shared
    return frozenset(visible)


def _find_shared_names(
    reading: Reading, digests: Collection[CatalogDigest], is_shared: ColumnElement[bool], *, of_descendants: bool
) -> dict[CatalogDigest, set[tuple[str, datetime]]]:
    """Return the owners and start times of shared names of catalogs, or of their descendants, by digest."""
    owners_by_digest: dict[CatalogDigest, set[tuple[str, datetime]]] = {}
    for batch in split_batches(sorted(digests)):
        query = select(names.c.catalog, names.c.owner, names.c.changed_at).where(is_shared)
        if of_descendants:
            reached = _select_descendants(batch)
            query = select(reached.c.origin, names.c.owner, names.c.changed_at).where(is_shared)
            query = query.join_from(reached, names, names.c.catalog == reached.c.catalog)
        else:
            query = query.where(names.c.catalog.in_(batch))
        for digest, owner, since in reading.connection.execute(query):
            owners_by_digest.setdefault(digest, set()).add((owner, since))
    return owners_by_digest


def read_visibility_state(reading: Reading) -> Hashable:
    """Return a value that changes whenever the viewer, or the asking person, may see more or less than before."""
    person = reading.viewer or reading.who
    query = select(members.c.project).where(members.c.who == person).order_by("project")
    own_projects = tuple(reading.connection.scalars(query))
    if reading.viewer is None:
        return own_projects
    changes = select(func.max(name_history.c.id)).scalar_subquery()
    definitions = select(func.count()).select_from(definers).scalar_subquery()
    return own_projects, tuple(reading.connection.execute(select(changes, definitions)).one())
