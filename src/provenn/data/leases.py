"""Leases: a run holds a lease while it computes attributes. Other runs that need them wait, and read the stored values.

A lease is taken in an exclusive transaction: exactly one of several competing runs gets the lease. A lease expires soon
unless a thread of the living process renews the lease. So a run waits for a living process, and only briefly for a
process that died on another machine. All processes use the clock of the archive (`provenn.database.clock`).
"""

from __future__ import annotations

import json
from collections.abc import Collection
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import insert, select

from provenn.catalogs.catalog import Catalog
from provenn.criteria import AttributeIdentity
from provenn.database import clock, expiring_rows
from provenn.database.tables import leases
from provenn.database.transactions import Database, Reading, Writing
from provenn.definitions import catalog_store
from provenn.digests import CatalogDigest, canonical_json
from provenn.people.visibility import CatalogAction, filter_visible_actions
from provenn.processes import is_gone, make_holder

__all__ = ["LIFETIME", "Lease", "find_live_leases", "forget_expired", "renew_lease", "take_lease"]

LIFETIME = timedelta(seconds=60)
"""The time after which a lease expires unless it is renewed."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The claim of a run to compute and store attributes of a catalog's sources.

    Parameters
    ----------
    holder
        The run that computes them.
    catalog
        The digest of the catalog.
    identities
        The identities of the attributes.
    by
        The person for whom the run computes.
    """

    holder: str
    catalog: CatalogDigest
    identities: frozenset[AttributeIdentity]
    by: str


def find_live_leases(reading: Reading, identities: Collection[AttributeIdentity]) -> list[Lease]:
    """Return the unexpired leases of at least one of the attributes, the oldest first.

    Leases invisible to the viewer are left out: the viewer will not see the stored values either.
    """
    query = select(leases).where(leases.c.expires_at > clock.now(reading.connection))
    rows = reading.connection.execute(query.order_by(leases.c.taken_at, leases.c.holder)).all()
    deeds = [CatalogAction(row.catalog, row.by, row.taken_at) for row in rows]
    visible_deeds = filter_visible_actions(reading, deeds)
    visible_rows = (row for row, deed in zip(rows, deeds, strict=True) if deed in visible_deeds)
    visible_leases = [
        Lease(row.holder, row.catalog, frozenset(json.loads(row.identities)), row.by) for row in visible_rows
    ]
    return [lease for lease in visible_leases if not (lease.identities.isdisjoint(identities) or is_gone(lease.holder))]


def take_lease(
    writing: Writing,
    catalog: Catalog,
    kept: Collection[AttributeIdentity],
    *,
    computed: Collection[AttributeIdentity] = (),
    beside: Collection[str] = (),
) -> str | None:
    """Take the lease of attributes of a catalog's sources; return the holder, for `renew_lease`.

    Parameters
    ----------
    writing
        The transaction. The archive holds the catalog from now on.
    catalog
        The catalog.
    kept
        The identities of the attributes that will be stored.
    computed
        The identities of other attributes that are computed, and would be read if another run stored them.
    beside
        The holders of leases that are no obstacle.

    Returns
    -------
    str or None
        None if another run holds a lease of one of the attributes that is visible to the writer.
    """
    forget_expired(writing)
    if any(lease.holder not in beside for lease in find_live_leases(writing, {*kept, *computed})):
        return None
    catalog_store.add_catalogs(writing, catalog, for_run=True)
    holder = make_holder()
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


def renew_lease(database: Database, holder: str) -> AbstractContextManager[expiring_rows.Holding]:
    """Renew a lease while the body runs, and then delete the lease."""
    return expiring_rows.renew_rows(database, leases, holder, LIFETIME)


def forget_expired(writing: Writing) -> None:
    """Delete the expired leases, and the leases of dead processes."""
    expiring_rows.forget_expired_rows(writing, leases)
