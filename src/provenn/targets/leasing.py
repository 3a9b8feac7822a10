"""Taking turns: what is costly is computed by one run, and others who want it wait and read what was stored.

A run holds one lease at most, and waits only while it holds none: so no two wait for each other.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from provenn.catalogs import Attribute, Catalog
from provenn.errors import UnknownCatalogError
from provenn.store import catalog_store, fragments, leases, names
from provenn.store.database import Database, Reading
from provenn.store.leases import Lease
from provenn.targets.known import known_of
from provenn.targets.scene import Scene

if TYPE_CHECKING:
    from provenn.spark.progress import Listener

__all__ = ["Turn"]

_FIRST, _GROWTH, _LONGEST = 0.1, 1.5, 1.0
"""Seconds between the first two looks whether somebody is done, how they grow, and how long they become."""


@dataclass(slots=True)
class Turn:
    """Who wants to compute something that others may be computing.

    Parameters
    ----------
    database
        Where leases are kept.
    listener
        Told for whom it waits. If it raises KeyboardInterrupt, that ends the waiting.
    considered
        The numbers of the fragments that were known when it was planned what to compute.
    """

    database: Database
    listener: Listener | None = None
    considered: set[int] = field(default_factory=set)

    @contextmanager
    def leased(self, catalog: Catalog, kept: frozenset[str], computed: dict[str, Attribute]) -> Iterator[bool]:
        """Hold the lease of attributes of a catalog's sources while the body runs, if it is to be had at once.

        Otherwise the body is told so after all who compute the same have ended, or have died; and also if somebody
        has stored some of it since it was planned. Then there may be less to compute: plan again.

        Parameters
        ----------
        catalog
            The catalog.
        kept
            The attributes that the body stores, by identity.
        computed
            Those that it computes, by identity.
        """
        holder = self._taken(catalog, kept, computed)
        if holder is None:
            yield False
            return
        with leases.renewed(self.database, holder):
            yield True

    def _taken(self, catalog: Catalog, kept: frozenset[str], computed: dict[str, Attribute]) -> str | None:
        apart: dict[str, bool] = {}
        with _Waiting(self.listener) as waiting:
            while True:
                with self.database.reading() as reading:
                    others = leases.live(reading, computed)
                    for one in others:
                        if one.catalog not in apart:
                            apart[one.catalog] = _apart(reading, catalog, one.catalog)
                    before = [one for one in others if not apart[one.catalog]]
                    what = _told(reading, before[0], computed) if before else ""
                if before:
                    waiting.wait(what)
                    continue
                if waiting.what:
                    return None
                with self.database.writing() as writing:
                    stored = {one.id for one in fragments.with_attributes(writing, computed)}
                    if not stored <= self.considered:
                        self.considered |= stored
                        return None
                    beside = [one.holder for one in others]
                    holder = leases.take(writing, catalog, kept, computed=computed, beside=beside)
                if holder is not None:
                    return holder


def _apart(reading: Reading, catalog: Catalog, other: str) -> bool:
    """Whether nothing that is stored for a catalog is of use for another one: it has no source in common with it."""
    try:
        theirs = catalog_store.get(reading, other)
    except UnknownCatalogError:
        return True  # whoever may not see it cannot read what is stored for it either
    if theirs.population != catalog.population:
        return True
    scene = Scene(known_of(reading, catalog, theirs), (catalog, theirs))
    return scene.holds(scene.apart(catalog.extent, theirs.extent))


def _told(reading: Reading, one: Lease, computed: dict[str, Attribute]) -> str:
    """Return for whom somebody waits."""
    wanted = sorted(computed[each].name for each in one.identities.intersection(computed))
    alike = (one.catalog, *catalog_store.same_extent(reading, one.catalog))
    called = sorted(name for several in names.names_of(reading, alike).values() for name in several)
    return f"waiting for {one.by}, who computes {', '.join(wanted)}" + (f" of {called[0]}" if called else "")


class _Waiting:
    """Pauses that grow, of which a listener is told."""

    def __init__(self, listener: Listener | None) -> None:
        self.what = ""
        self._listener = listener
        self._began = time.monotonic()
        self._pause = _FIRST

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.what:
            with suppress(KeyboardInterrupt):  # it is over
                self._tell(over=True)

    def wait(self, what: str) -> None:
        """Wait a moment, and say for whom."""
        if self.what not in ("", what):
            self._tell(over=True)
        self.what = what
        self._tell()
        time.sleep(self._pause)
        self._pause = min(self._pause * _GROWTH, _LONGEST)

    def _tell(self, *, over: bool = False) -> None:
        if self._listener is None:
            return
        from provenn.spark.progress import Progress  # noqa: PLC0415 - planning does without Spark

        told = Progress(self.what, 0, 0, 0, 0, None, time.monotonic() - self._began, 0.0 if over else None)
        try:
            self._listener(told)
        except KeyboardInterrupt:
            self._listener = None
            raise
        except Exception:  # noqa: BLE001 - a bar that cannot be drawn must not end a night's work
            self._listener = None
