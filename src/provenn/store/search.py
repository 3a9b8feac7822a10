"""Lists of catalogs: those that fulfil some conditions, in some order, a page at a time.

All of it is made from one index, which is walked in its order; so a list of a large archive takes no longer than to
walk that index once, whatever the conditions, and usually much less.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sqlalchemy import ColumnElement, func, or_, select

from provenn.store import wordings
from provenn.store.attributes import with_attribute
from provenn.store.catalog_store import SHORTEST, Entry, entries_query, read_entries
from provenn.store.database import Reading
from provenn.store.tables import catalogs, names
from provenn.store.visibility import creations, is_name_for

__all__ = ["Filter", "Sort", "matches", "owners", "search"]

Sort = Literal["newest", "oldest", "name"]
"""How a list is sorted."""

_BEGINNING = re.compile(rf"[0-9a-f]{{{SHORTEST},64}}")
_MOST = 2**31  # more catalogs than there can be
# Not the column itself, which would keep databases from walking the index: they would look up each catalog found.
_DIGEST = catalogs.c.digest.concat("")


@dataclass(frozen=True, slots=True)
class Filter:
    """Which catalogs are meant: those that fulfil all of it.

    Parameters
    ----------
    text
        What occurs in a name, or in the definition as the user wrote it, in upper or lower case; or how the digest
        begins, with at least `SHORTEST` digits.
    kind, population, owner
        The name of the class; the name of the population; who added it.
    attribute
        The name of an attribute that it has, or the beginning of the name, in upper or lower case.
    named
        Only catalogs that have a name.
    """

    text: str = ""
    kind: str | None = None
    population: str | None = None
    attribute: str | None = None
    owner: str | None = None
    named: bool = False


def search(
    reading: Reading, which: Filter, *, sort: Sort = "newest", start: int = 0, most: int = 1000
) -> Sequence[Entry]:
    """Return a page of the catalogs that are meant.

    Parameters
    ----------
    reading
        The transaction.
    which
        The catalogs that are meant.
    sort
        By when they were added; or by name: catalogs without one come last, newest first.
    start, most
        How many to leave out, and how many to return.
    """
    start, most = _within(start), _within(most)
    if not most or not _possible(which):
        return []
    meant = entries_query(reading)
    since = meant.selected_columns.created_at
    meant = meant.where(*_conditions(reading, which, meant.selected_columns.created_by))
    newest = (since.desc(), catalogs.c.digest.desc())
    if sort == "oldest":
        return read_entries(reading, meant.order_by(since, catalogs.c.digest).offset(start).limit(most))
    if sort == "newest":
        return read_entries(reading, meant.order_by(*newest).offset(start).limit(most))
    called = select(names.c.catalog, func.min(names.c.name).label("first")).where(is_name_for(reading))
    first = called.group_by(names.c.catalog).subquery()
    with_name = meant.join(first, first.c.catalog == catalogs.c.digest)
    found = read_entries(reading, with_name.order_by(first.c.first).offset(start).limit(most))
    if len(found) < most and not which.named:
        there = start + len(found) if found or not start else matches(reading, replace(which, named=True))
        without = meant.where(~_is_named(reading)).order_by(*newest)
        found += read_entries(reading, without.offset(max(0, start - there)).limit(most - len(found)))
    return found


def matches(reading: Reading, which: Filter) -> int:
    """Return how many catalogs are meant."""
    if not _possible(which):
        return 0
    meant = entries_query(reading)
    query = meant.where(*_conditions(reading, which, meant.selected_columns.created_by))
    return reading.connection.execute(query.with_only_columns(func.count(), maintain_column_froms=True)).scalar_one()


def owners(reading: Reading) -> tuple[str, ...]:
    """Return who added catalogs, sorted."""
    column = catalogs.c.created_by if reading.viewer is None else creations(reading.viewer).c.who
    return tuple(sorted(reading.connection.scalars(select(column).distinct())))


def _is_named(reading: Reading) -> ColumnElement[bool]:
    return _DIGEST.in_(select(names.c.catalog).where(is_name_for(reading)))


def _conditions(reading: Reading, which: Filter, owner: ColumnElement[str]) -> Iterator[ColumnElement[bool]]:
    if which.text:
        found_names = select(names.c.catalog).where(names.c.name.icontains(which.text, autoescape=True))
        with_name = found_names.where(is_name_for(reading))
        found = [_DIGEST.in_(with_name), _DIGEST.in_(wordings.with_text(which.text))]
        beginning = which.text.lower()
        if _BEGINNING.fullmatch(beginning):
            found.append(catalogs.c.digest.between(beginning, beginning + "g"))  # after every hexadecimal digit
        yield or_(*found)
    asked = ((catalogs.c.kind, which.kind), (catalogs.c.population, which.population), (owner, which.owner))
    yield from (column == value for column, value in asked if value is not None)
    if which.attribute:
        yield catalogs.c.schema.in_(with_attribute(which.attribute))
    if which.named:
        yield _is_named(reading)


def _possible(which: Filter) -> bool:
    """Whether there can be such texts in a database; where there cannot, it would not even take the question."""
    texts = (which.text, which.kind, which.population, which.attribute, which.owner)
    return not any(one == "\0" or "\ud800" <= one <= "\udfff" for text in texts if text for one in text)


def _within(number: int) -> int:
    return min(max(number, 0), _MOST)
