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
from provenn.store.catalog_store import ENTRIES, SHORTEST, Entry, read_entries
from provenn.store.database import Reading
from provenn.store.tables import catalogs, names, populations

__all__ = ["Filter", "Sort", "matches", "owners", "population_names", "search"]

Sort = Literal["newest", "oldest", "name"]
"""How a list is sorted."""

_BEGINNING = re.compile(rf"[0-9a-f]{{{SHORTEST},64}}")
_MOST = 2**31  # more catalogs than there can be
# Not the column itself, which would keep databases from walking the index: they would look up each catalog found.
_DIGEST = catalogs.c.digest.concat("")
_IS_NAMED = _DIGEST.in_(select(names.c.catalog))


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
    meant = ENTRIES.where(*_conditions(which))
    newest = (catalogs.c.created_at.desc(), catalogs.c.digest.desc())
    if sort == "oldest":
        return read_entries(reading, meant.order_by(catalogs.c.created_at, catalogs.c.digest).offset(start).limit(most))
    if sort == "newest":
        return read_entries(reading, meant.order_by(*newest).offset(start).limit(most))
    first = select(names.c.catalog, func.min(names.c.name).label("first")).group_by(names.c.catalog).subquery()
    with_name = meant.join(first, first.c.catalog == catalogs.c.digest)
    found = read_entries(reading, with_name.order_by(first.c.first).offset(start).limit(most))
    if len(found) < most and not which.named:
        there = start + len(found) if found or not start else matches(reading, replace(which, named=True))
        without = meant.where(~_IS_NAMED).order_by(*newest)
        found += read_entries(reading, without.offset(max(0, start - there)).limit(most - len(found)))
    return found


def matches(reading: Reading, which: Filter) -> int:
    """Return how many catalogs are meant."""
    if not _possible(which):
        return 0
    query = select(func.count()).select_from(catalogs).where(*_conditions(which))
    return reading.connection.execute(query).scalar_one()


def population_names(reading: Reading) -> tuple[str, ...]:
    """Return the names of the populations, sorted."""
    return tuple(sorted(reading.connection.scalars(select(populations.c.name))))


def owners(reading: Reading) -> tuple[str, ...]:
    """Return who added catalogs, sorted."""
    return tuple(sorted(reading.connection.scalars(select(catalogs.c.created_by).distinct())))


def _conditions(which: Filter) -> Iterator[ColumnElement[bool]]:
    if which.text:
        with_name = select(names.c.catalog).where(names.c.name.icontains(which.text, autoescape=True))
        found = [_DIGEST.in_(with_name), _DIGEST.in_(wordings.with_text(which.text))]
        beginning = which.text.lower()
        if _BEGINNING.fullmatch(beginning):
            found.append(catalogs.c.digest.between(beginning, beginning + "g"))  # after every hexadecimal digit
        yield or_(*found)
    asked = {"kind": which.kind, "population": which.population, "created_by": which.owner}
    yield from (catalogs.c[column] == value for column, value in asked.items() if value is not None)
    if which.attribute:
        yield catalogs.c.schema.in_(with_attribute(which.attribute))
    if which.named:
        yield _IS_NAMED


def _possible(which: Filter) -> bool:
    """Whether there can be such texts in a database; where there cannot, it would not even take the question."""
    texts = (which.text, which.kind, which.population, which.attribute, which.owner)
    return not any(one == "\0" or "\ud800" <= one <= "\udfff" for text in texts if text for one in text)


def _within(number: int) -> int:
    return min(max(number, 0), _MOST)
