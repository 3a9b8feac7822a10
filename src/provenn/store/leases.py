"""Who computes what now. Others who want the same wait for it, and then read what was stored.

A lease is taken in a transaction, alone: of several who want one, exactly one gets it. It expires soon; while its
process lives, a thread renews it. So who waits, waits for a process that lives, and not for long for one that died on
another machine. All go by the clock of the archive (`provenn.store.clock`).
"""

from __future__ import annotations

import json
from collections.abc import Collection
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import insert, select

from provenn.catalogs.catalog import Catalog
from provenn.catalogs.digest import canonical_json
from provenn.store import catalog_store, clock, holding
from provenn.store.database import Database, Reading, Writing
from provenn.store.processes import is_gone, new_holder
from provenn.store.tables import leases
from provenn.store.visibility import Deed, told_deeds

__all__ = ["LIFETIME", "Lease", "forget_expired", "live", "renewed", "take"]

LIFETIME = timedelta(seconds=60)
"""How long a lease lasts that is not renewed."""


@dataclass(frozen=True, slots=True)
class Lease:
    """That somebody computes attributes of the sources of a catalog, and will store them.

    Parameters
    ----------
    holder
        The run that computes them.
    catalog
        The digest of the catalog.
    identities
        The attributes, by identity.
    by
        Who runs it.
    """

    holder: str
    catalog: str
    identities: frozenset[str]
    by: str


def live(reading: Reading, identities: Collection[str]) -> list[Lease]:
    """Return the leases of at least one of some attributes that have not expired, the oldest first.

    Those of which the viewer may not know are left out: what will be stored is not for him either.
    """
    query = select(leases).where(leases.c.expires_at > clock.now(reading.connection))
    rows = reading.connection.execute(query.order_by(leases.c.taken_at, leases.c.holder)).all()
    deeds = [Deed(row.catalog, row.by, row.taken_at) for row in rows]
    told = told_deeds(reading, deeds)
    known = (row for row, deed in zip(rows, deeds, strict=True) if deed in told)
    found = [Lease(row.holder, row.catalog, frozenset(json.loads(row.identities)), row.by) for row in known]
    return [one for one in found if not (one.identities.isdisjoint(identities) or is_gone(one.holder))]


def take(
    writing: Writing,
    catalog: Catalog,
    kept: Collection[str],
    *,
    computed: Collection[str] = (),
    beside: Collection[str] = (),
) -> str | None:
    """Take the lease of attributes of a catalog's sources; return who holds it, to be handed to `renewed`.

    Parameters
    ----------
    writing
        The transaction. The archive holds the catalog from now on.
    catalog
        The catalog.
    kept
        The attributes that will be stored, by identity.
    computed
        Those that are computed besides, and would be read if somebody stored them.
    beside
        The holders of leases that are no obstacle.

    Returns
    -------
    str or None
        None if somebody else has the lease of one of the attributes, as far as who writes may know.
    """
    forget_expired(writing)
    if any(one.holder not in beside for one in live(writing, {*kept, *computed})):
        return None
    catalog_store.add(writing, catalog, for_run=True)
    holder = new_holder()
    row = {
        "holder": holder,
        "catalog": catalog.digest,
        "identities": canonical_json(sorted(kept)),
        "by": writing.who,
        "taken_at": writing.when,
        "expires_at": writing.when + LIFETIME,
    }
    writing.connection.execute(insert(leases), row)
    return holder


def renewed(database: Database, holder: str) -> AbstractContextManager[None]:
    """Renew a lease while the body runs, and then let it go."""
    return holding.renewed(database, leases, holder, LIFETIME)


def forget_expired(writing: Writing) -> None:
    """Forget the leases that have expired, and those of processes that died."""
    holding.forget_expired(writing, leases)
