"""Who defined catalogs: first, or what others had defined before."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import insert, select

from provenn.store.database import Writing
from provenn.store.tables import definers

__all__ = ["record", "record_new"]


def record(writing: Writing, digest: str) -> None:
    """Record that who writes defined a catalog that the archive holds, unless that is known."""
    known = select(definers.c.at).where(definers.c.who == writing.who, definers.c.catalog == digest)
    if writing.connection.scalar(known) is None:
        record_new(writing, [digest])


def record_new(writing: Writing, digests: Collection[str]) -> None:
    """Record that who writes defined catalogs, of which that is not known."""
    rows = [{"catalog": one, "who": writing.who, "at": writing.when} for one in sorted(digests)]
    if rows:
        writing.connection.execute(insert(definers), rows)
