"""Who defined catalogs: first, or what others had defined before."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import insert, select

from provenn.store.database import Writing
from provenn.store.tables import definers

__all__ = ["record", "record_new"]


def record(writing: Writing, digest: str, who: str | None = None) -> None:
    """Record that a person, by default who writes, defined a catalog that the archive holds, unless that is known."""
    person = who or writing.who
    known = select(definers.c.at).where(definers.c.who == person, definers.c.catalog == digest)
    if writing.connection.scalar(known) is None:
        record_new(writing, [digest], person)


def record_new(writing: Writing, digests: Collection[str], who: str | None = None) -> None:
    """Record that a person, by default who writes, defined catalogs, of which that is not known."""
    rows = [{"catalog": one, "who": who or writing.who, "at": writing.when} for one in sorted(digests)]
    if rows:
        writing.connection.execute(insert(definers), rows)
