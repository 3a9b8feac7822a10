"""Searching catalogs: filtered and sorted lists, a page at a time.

A list is read from an index, in the order of the index. So a list of a large archive takes no longer than a walk
through that index, whatever the conditions, and usually much less.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from sqlalchemy import ColumnElement, Select, exists, func, or_, select

from provenn.database.tables import catalogs, definers, members, name_history, names
from provenn.definitions import wordings
from provenn.definitions.attributes import select_schemas_with_attribute
from provenn.definitions.catalog_entries import SHORTEST_DIGEST, CatalogEntry, read_entries, select_entries
from provenn.people.visibility import is_visible_name, select_creations

if TYPE_CHECKING:
    from provenn.database.transactions import Reading

__all__ = ["CatalogFilter", "SortOrder", "count_matches", "list_owners", "read_list_state", "search_catalogs"]

SortOrder = Literal["newest", "oldest", "name"]
"""The order of a list."""

_BEGINNING = re.compile(rf"[0-9a-f]{{{SHORTEST_DIGEST},64}}")
_MOST = 2**31  # more catalogs than there can be
# Not the column itself: then databases would look up each matching catalog instead of walking the index.
_DIGEST = catalogs.c.digest.concat("")


@dataclass(frozen=True, slots=True)
class CatalogFilter:
    """Conditions on catalogs; a catalog matches if it fulfils all of them.

    Parameters
    ----------
    text
        A text in a name, or in the definition as the user wrote it, ignoring case; or the beginning of the digest, with
        at least `SHORTEST_DIGEST` digits.
    kind, population, owner
        The name of the class; the name of the population; the person that added the catalog.
    attribute
        The name of an attribute, or the beginning of the name, ignoring case.
    named
        Whether only catalogs with a name match.
    """

    text: str = ""
    kind: str | None = None
    population: str | None = None
    attribute: str | None = None
    owner: str | None = None
    named: bool = False


def search_catalogs(
    reading: Reading, catalog_filter: CatalogFilter, *, sort: SortOrder = "newest", start: int = 0, most: int = 1000
) -> Sequence[CatalogEntry]:
    """Return a page of the catalogs matching a filter.

    Parameters
    ----------
    reading
        The transaction.
    catalog_filter
        The filter.
    sort
        The order: by time of addition; or by name, where unnamed catalogs come last, newest first.
    start, most
        The number of catalogs to skip, and the largest number to return.
    """
    start, most = _clamp(start), _clamp(most)
    if not most or not _can_match(catalog_filter):
        return []
    query = select_entries(reading)
    created_at = query.selected_columns.created_at
    query = query.where(*_make_conditions(reading, catalog_filter, query.selected_columns.created_by))
    newest = (created_at.desc(), catalogs.c.digest.desc())
    if sort == "oldest":
        return read_entries(reading, query.order_by(created_at, catalogs.c.digest).offset(start).limit(most))
    if sort == "newest":
        return read_entries(reading, query.order_by(*newest).offset(start).limit(most))
    first_names = select(names.c.catalog, func.min(names.c.name).label("first")).where(is_visible_name(reading))
    first_names = first_names.group_by(names.c.catalog)
    if not _has_conditions(catalog_filter):  # then all names count, and the page is cut out before entries are read
        first_names = first_names.order_by("first").offset(start).limit(most)
    first = first_names.subquery()
    with_name = query.join(first, first.c.catalog == catalogs.c.digest).order_by(first.c.first)
    if _has_conditions(catalog_filter):
        with_name = with_name.offset(start).limit(most)
    entries = read_entries(reading, with_name)
    if len(entries) < most and not catalog_filter.named:
        if entries or not start:
            named_count = start + len(entries)
        else:
            named_count = count_matches(reading, replace(catalog_filter, named=True))
        without_name = query.where(~_is_named(reading)).order_by(*newest)
        unnamed = without_name.offset(max(0, start - named_count)).limit(most - len(entries))
        entries += read_entries(reading, unnamed)
    return entries


def count_matches(reading: Reading, catalog_filter: CatalogFilter) -> int:
    """Return the number of catalogs matching a filter."""
    if not _can_match(catalog_filter):
        return 0
    if catalog_filter.named and not _has_conditions(catalog_filter):  # every visible name is of a listed catalog
        named = select(func.count(names.c.catalog.distinct())).where(is_visible_name(reading))
        return reading.connection.execute(named).scalar_one()
    entries = select_entries(reading)
    query = entries.where(*_make_conditions(reading, catalog_filter, entries.selected_columns.created_by))
    return reading.connection.execute(query.with_only_columns(func.count(), maintain_column_froms=True)).scalar_one()


def list_owners(reading: Reading) -> tuple[str, ...]:
    """Return the owners of catalogs: the people that added them, sorted."""
    query = _OWNERS if reading.viewer is None else select(select_creations(reading.viewer).c.who).distinct()
    return tuple(sorted(reading.connection.scalars(query)))


def _select_owners() -> Select[str]:
    """Return the query for the owners of all catalogs: from one definer to the next in an index, not past each catalog.

    Whoever adds a catalog is among its definers.
    """
    first = select(func.min(definers.c.who).label("who")).cte("people", recursive=True)
    following = select(func.min(definers.c.who)).where(definers.c.who > first.c.who).scalar_subquery()
    people = first.union_all(select(following).where(first.c.who.is_not(None)))
    has_added = exists().where(definers.c.who == people.c.who, catalogs.c.digest == definers.c.catalog)
    return select(people.c.who).where(people.c.who.is_not(None), has_added.where(catalogs.c.created_by == people.c.who))


_OWNERS = _select_owners()


def read_list_state(reading: Reading) -> Hashable:
    """Return a value that changes whenever a list of catalogs may change for the viewer, unless a text is sought.

    Catalogs and definers are never deleted, and each change of a name, its owner or its visibility is in the history.
    Wordings, in which texts are sought, may change otherwise.
    """
    counts = (
        select(func.max(name_history.c.id)).scalar_subquery(),
        select(func.count()).select_from(catalogs).scalar_subquery(),
        select(func.count()).select_from(definers).scalar_subquery(),
    )
    own_projects = select(members.c.project).where(members.c.who == reading.viewer).order_by("project")
    return tuple(reading.connection.execute(select(*counts)).one()), tuple(reading.connection.scalars(own_projects))


def _has_conditions(catalog_filter: CatalogFilter) -> bool:
    """Tell whether a filter has conditions besides `named`."""
    return replace(catalog_filter, named=False) != CatalogFilter()


def _is_named(reading: Reading) -> ColumnElement[bool]:
    return _DIGEST.in_(select(names.c.catalog).where(is_visible_name(reading)))


def _make_conditions(
    reading: Reading, catalog_filter: CatalogFilter, owner: ColumnElement[str]
) -> Iterator[ColumnElement[bool]]:
    if catalog_filter.text:
        matching_names = select(names.c.catalog).where(names.c.name.icontains(catalog_filter.text, autoescape=True))
        with_name = matching_names.where(is_visible_name(reading))
        alternatives = [_DIGEST.in_(with_name), _DIGEST.in_(wordings.select_with_text(catalog_filter.text))]
        beginning = catalog_filter.text.lower()
        if _BEGINNING.fullmatch(beginning):
            alternatives.append(catalogs.c.digest.between(beginning, beginning + "g"))  # after every hexadecimal digit
        yield or_(*alternatives)
    wanted = (
        (catalogs.c.kind, catalog_filter.kind),
        (catalogs.c.population, catalog_filter.population),
        (owner, catalog_filter.owner),
    )
    yield from (column == value for column, value in wanted if value is not None)
    if catalog_filter.attribute:
        yield catalogs.c.schema.in_(select_schemas_with_attribute(catalog_filter.attribute))
    if catalog_filter.named:
        yield _is_named(reading)


def _can_match(catalog_filter: CatalogFilter) -> bool:
    """Whether a database can hold the texts of a filter; a database refuses even queries with other texts."""
    texts = (
        catalog_filter.text,
        catalog_filter.kind,
        catalog_filter.population,
        catalog_filter.attribute,
        catalog_filter.owner,
    )
    characters = (character for text in texts if text for character in text)
    return not any(character == "\0" or "\ud800" <= character <= "\udfff" for character in characters)


def _clamp(number: int) -> int:
    return min(max(number, 0), _MOST)
