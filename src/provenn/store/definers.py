"""Who defined catalogs, first or after others; and for whose runs the archive holds them.

A run adds the catalogs whose results it stores. Nobody has defined these, so that no name of an attribute may lead to
them: what a name means would depend on what was run before.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import insert, select, update

from provenn.store.cones import in_batches
from provenn.store.database import Writing
from provenn.store.tables import definers

__all__ = ["record"]


def record(writing: Writing, digests: Collection[str], *, defined: bool = True) -> None:
    """Record that the writer defined catalogs, or that a run of the writer needs them.

    What is known already stays, except that a catalog which only runs needed becomes a definition.
    """
    own = definers.c.who == writing.who
    known: set[str] = set()
    for batch in in_batches(digests):
        these = (own, definers.c.catalog.in_(batch))
        known.update(writing.connection.scalars(select(definers.c.catalog).where(*these)))
        if defined and known:
            writing.connection.execute(update(definers).where(*these, ~definers.c.defined).values(defined=True))
    rows = [
        {"catalog": one, "who": writing.who, "at": writing.when, "defined": defined}
        for one in sorted(set(digests) - known)
    ]
    if rows:
        writing.connection.execute(insert(definers), rows)
