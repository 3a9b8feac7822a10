"""Turns: a single run computes a costly part, and concurrent runs wait and read the stored result.

A run holds at most a single lease, and waits only without a lease. So two runs never wait for each other.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from provenn.catalogs import Attribute, Catalog
from provenn.criteria import AttributeIdentity
from provenn.data import fragments, leases
from provenn.data.leases import Lease
from provenn.database.transactions import Database, Reading
from provenn.definitions import catalog_names, catalog_store
from provenn.digests import CatalogDigest
from provenn.errors import UnknownCatalogError
from provenn.targets.known import collect_limiting_knowledge
from provenn.targets.scene import Scene

if TYPE_CHECKING:
    from provenn.spark.progress import Listener

__all__ = ["Turn"]

_FIRST, _GROWTH, _LONGEST = 0.1, 1.5, 1.0
"""The first pause between two looks at the leases in seconds, its growth factor, and the longest pause."""


@dataclass(slots=True)
class Turn:
    """A run that is about to compute data, possibly at the same time as concurrent runs.

    Parameters
    ----------
    database
        The database with the leases.
    listener
        Receives messages while the run waits. A KeyboardInterrupt from the listener ends the waiting.
    considered
        The numbers of the fragments known to the plan.
    """

    database: Database
    listener: Listener | None = None
    considered: set[int] = field(default_factory=set)

    @contextmanager
    def hold_lease(
        self, catalog: Catalog, kept: frozenset[AttributeIdentity], computed: dict[AttributeIdentity, Attribute]
    ) -> Iterator[bool]:
        """Hold the lease on attributes of a catalog's sources while the body runs, and yield True.

        If another run holds the lease, wait until all such runs have ended or died, and yield False. Also yield False
        if a run has stored some of the data since the plan was made. Then there may be less to compute, and the caller
        must plan again.

        Parameters
        ----------
        catalog
            The catalog.
        kept
            The identities of the attributes that the body stores.
        computed
            The attributes that the body computes, by identity.
        """
        holder = self._take_lease(catalog, kept, computed)
        if holder is None:
            yield False
            return
        with leases.renew_lease(self.database, holder):
            yield True

    def _take_lease(
        self, catalog: Catalog, kept: frozenset[AttributeIdentity], computed: dict[AttributeIdentity, Attribute]
    ) -> str | None:
        """Return the holder of a new lease; None if the caller must plan again."""
        is_apart: dict[CatalogDigest, bool] = {}
        with _Wait(self.listener) as waiting:
            while True:
                with self.database.reading() as reading:
                    others = leases.find_live_leases(reading, computed)
                    for lease in others:
                        if lease.catalog not in is_apart:
                            is_apart[lease.catalog] = _is_apart(reading, catalog, lease.catalog)
                    blocking = [lease for lease in others if not is_apart[lease.catalog]]
                    message = _describe_wait(reading, blocking[0], computed) if blocking else ""
                if blocking:
                    waiting.wait(message)
                    continue
                if waiting.message:
                    return None
                with self.database.writing() as writing:
                    stored = {fragment.id for fragment in fragments.find_by_attributes(writing, computed)}
                    if not stored <= self.considered:
                        self.considered |= stored
                        return None
                    beside = [lease.holder for lease in others]
                    holder = leases.take_lease(writing, catalog, kept, computed=computed, beside=beside)
                if holder is not None:
                    return holder


def _is_apart(reading: Reading, catalog: Catalog, other: CatalogDigest) -> bool:
    """Return whether two catalogs share no source, so that neither can use fragments of the other."""
    try:
        other_catalog = catalog_store.get_catalog(reading, other)
    except UnknownCatalogError:
        return True  # a viewer reads no fragments of invisible catalogs
    if other_catalog.population != catalog.population:
        return True
    scene = Scene(collect_limiting_knowledge(reading, catalog, other_catalog), (catalog, other_catalog))
    return scene.is_proved(scene.state_disjoint(catalog.extent, other_catalog.extent))


def _describe_wait(reading: Reading, lease: Lease, computed: dict[AttributeIdentity, Attribute]) -> str:
    """Return the message about the lease that the run waits for."""
    wanted = sorted(computed[identity].name for identity in lease.identities.intersection(computed))
    same_sources = (lease.catalog, *catalog_store.find_same_extent(reading, lease.catalog))
    sorted_names = sorted(
        name
        for catalog_names in catalog_names.find_names_by_digest(reading, same_sources).values()
        for name in catalog_names
    )
    return f"waiting for {lease.by}, who is computing {', '.join(wanted)}" + (
        f" of {sorted_names[0]}" if sorted_names else ""
    )


class _Wait:
    """Growing pauses, with messages to a listener."""

    def __init__(self, listener: Listener | None) -> None:
        self.message = ""
        self._listener = listener
        self._started_at = time.monotonic()
        self._pause = _FIRST

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.message:
            with suppress(KeyboardInterrupt):  # the wait is over
                self._notify(is_over=True)

    def wait(self, message: str) -> None:
        """Pause, and notify the listener."""
        if self.message not in ("", message):
            self._notify(is_over=True)
        self.message = message
        self._notify()
        time.sleep(self._pause)
        self._pause = min(self._pause * _GROWTH, _LONGEST)

    def _notify(self, *, is_over: bool = False) -> None:
        """Send the message to the listener; drop the listener if it fails."""
        if self._listener is None:
            return
        from provenn.spark.progress import Progress  # noqa: PLC0415 - planning does without Spark

        progress = Progress(
            self.message, 0, 0, 0, 0, None, time.monotonic() - self._started_at, 0.0 if is_over else None
        )
        try:
            self._listener(progress)
        except KeyboardInterrupt:
            self._listener = None
            raise
        except Exception:  # noqa: BLE001 - a broken progress bar must not end a long run
            self._listener = None
