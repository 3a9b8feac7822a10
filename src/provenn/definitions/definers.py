"""The definers of catalogs: the people that defined a catalog, or whose runs need a catalog.

A catalog may have several definers. A run adds the catalogs whose results it stores. No person has defined these
catalogs, so no attribute name may lead to them: otherwise the meaning of a name would depend on earlier runs.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, insert, select, update

from provenn.batches import split_batches
from provenn.database.tables import definers

if TYPE_CHECKING:
    from provenn.database.transactions import Writing
    from provenn.digests import CatalogDigest

__all__ = ["record_definers"]

_own_rows = (
    definers.c.who == bindparam("person"),
    definers.c.catalog.in_(bindparam("digests", expanding=True)),
)
_RECORDED = select(definers.c.catalog, definers.c.defined).where(*_own_rows)
_CONFIRM = update(definers).where(*_own_rows, ~definers.c.defined).values(defined=True)


def record_definers(writing: Writing, digests: Collection[CatalogDigest], *, defined: bool = True) -> None:
    """Record that the writer defined catalogs, or, if not `defined`, that a run of the writer needs them.

    Existing rows stay, except that a catalog that only the writer's runs needed becomes a definition if `defined`.
    """
    recorded: set[CatalogDigest] = set()
    for batch in split_batches(digests):
        values = {"person": writing.who, "digests": batch}
        rows_of_batch = writing.connection.execute(_RECORDED, values).all()
        recorded.update(digest for digest, _ in rows_of_batch)
        if defined and not all(was_defined for _, was_defined in rows_of_batch):
            writing.connection.execute(_CONFIRM, values)
    rows = [
        {"catalog": digest, "who": writing.who, "at": writing.when, "defined": defined}
        for digest in sorted(set(digests) - recorded)
    ]
    if rows:
        writing.connection.execute(insert(definers), rows)
