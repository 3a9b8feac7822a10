"""Who reads or writes which data now. What is pinned is not deleted.

A pin expires; while its process lives, a thread renews it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta

from sqlalchemy import insert, select

from provenn.store import holding as held_for_a_while
from provenn.store.database import Database, Reading, Writing
from provenn.store.processes import is_gone, new_holder
from provenn.store.tables import pins

__all__ = ["LIFETIME", "abandoned", "forget_expired", "held", "holding", "pin", "renewed"]

LIFETIME = timedelta(minutes=10)
"""How long a pin lasts that is not renewed."""


def pin(writing: Writing, places: Collection[str], *, lifetime: timedelta = LIFETIME) -> str:
    """Pin places below the data folder; return who holds them, to be handed to `renewed`."""
    holder = new_holder()
    made = {"holder": holder, "by": writing.who, "pinned_at": writing.when, "expires_at": writing.when + lifetime}
    if places:
        writing.connection.execute(insert(pins), [{"place": place, **made} for place in sorted(set(places))])
    return holder


def renewed(database: Database, holder: str, *, lifetime: timedelta = LIFETIME) -> AbstractContextManager[None]:
    """Renew the pins of a holder while the body runs, and then let them go."""
    return held_for_a_while.renewed(database, pins, holder, lifetime)


@contextmanager
def holding(database: Database, *places: str, lifetime: timedelta = LIFETIME) -> Iterator[None]:
    """Pin places below the data folder while the body runs."""
    with database.writing() as writing:
        holder = pin(writing, places, lifetime=lifetime)
    with renewed(database, holder, lifetime=lifetime):
        yield


def held(reading: Reading, when: datetime) -> frozenset[str]:
    """Return the places that are pinned at a moment, but for those that only processes which died have pinned."""
    query = select(pins.c.place, pins.c.holder).where(pins.c.expires_at > when)
    return frozenset(place for place, holder in reading.connection.execute(query) if not is_gone(holder))


def abandoned(reading: Reading) -> frozenset[str]:
    """Return the places that processes of this machine have pinned which died."""
    query = select(pins.c.place, pins.c.holder)
    return frozenset(place for place, holder in reading.connection.execute(query) if is_gone(holder))


def forget_expired(writing: Writing) -> None:
    """Forget the pins that have expired, and those of processes that died."""
    held_for_a_while.forget_expired(writing, pins)
