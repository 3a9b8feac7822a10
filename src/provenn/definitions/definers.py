"""The definers of catalogs: the people that defined a catalog, or whose runs need a catalog.

A catalog may have several definers. A run adds the catalogs whose results it stores. No person has defined these
catalogs, so no attribute name may lead to them: otherwise the meaning of a name would depend on earlier runs.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import insert, select, update

from provenn.batches import split_batches
from provenn.database.tables import definers
from provenn.database.transactions import Writing
from provenn.digests import CatalogDigest

__all__ = ["record_definers"]


def record_definers(writing: Writing, digests: Collection[CatalogDigest], *, defined: bool = True) -> None:
    """Record that the writer defined catalogs, or, if not `defined`, that a run of the writer needs them.

    Existing rows stay, except that a catalog that only the writer's runs needed becomes a definition if `defined`.
    """
    is_own = definers.c.who == writing.who
    recorded: set[CatalogDigest] = set()
    for batch in split_batches(digests):
        conditions = (is_own, definers.c.catalog.in_(batch))
        recorded.update(writing.connection.scalars(select(definers.c.catalog).where(*conditions)))
        if defined and recorded:
            writing.connection.execute(update(definers).where(*conditions, ~definers.c.defined).values(defined=True))
    rows = [
        {"catalog": digest, "who": writing.who, "at": writing.when, "defined": defined}
        for digest in sorted(set(digests) - recorded)
    ]
    if rows:
        writing.connection.execute(insert(definers), rows)
