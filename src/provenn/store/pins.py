"""Who reads or writes which data now. What is pinned is not deleted.

A pin expires, so that a process that died holds nothing for ever; while its process lives, a thread renews it.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from uuid import uuid4

from sqlalchemy import delete, insert, select, update

from provenn.errors import ArchiveError
from provenn.store.database import Database, Reading, Writing
from provenn.store.tables import pins

__all__ = ["LIFETIME", "forget_expired", "held", "holding", "pin", "renewed"]

LIFETIME = timedelta(minutes=10)
"""How long a pin lasts that is not renewed."""


def pin(writing: Writing, places: Collection[str], *, lifetime: timedelta = LIFETIME) -> str:
    """Pin places below the data folder; return who holds them, to be handed to `renewed`."""
    holder = f"{socket.gethostname()}/{os.getpid()}/{uuid4().hex}"
    made = {"holder": holder, "by": writing.who, "pinned_at": writing.when, "expires_at": writing.when + lifetime}
    if places:
        writing.connection.execute(insert(pins), [{"place": place, **made} for place in sorted(set(places))])
    return holder


@contextmanager
def renewed(database: Database, holder: str, *, lifetime: timedelta = LIFETIME) -> Iterator[None]:
    """Renew what somebody holds while the body runs, and then let it go."""
    mine, done = pins.c.holder == holder, threading.Event()

    def renew() -> None:
        while not done.wait(lifetime.total_seconds() / 4):
            with suppress(ArchiveError), database.writing() as writing:  # the next time may do, within its lifetime
                expires = {"expires_at": writing.when + lifetime}
                writing.connection.execute(update(pins).where(mine).values(expires))

    thread = threading.Thread(target=renew, name=f"renewing {holder}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        with suppress(ArchiveError), database.writing() as writing:  # otherwise it expires
            writing.connection.execute(delete(pins).where(mine))


@contextmanager
def holding(database: Database, *places: str, lifetime: timedelta = LIFETIME) -> Iterator[None]:
    """Pin places below the data folder while the body runs."""
    with database.writing() as writing:
        holder = pin(writing, places, lifetime=lifetime)
    with renewed(database, holder, lifetime=lifetime):
        yield


def held(reading: Reading, when: datetime) -> frozenset[str]:
    """Return the places that are pinned at a moment."""
    return frozenset(reading.connection.scalars(select(pins.c.place).where(pins.c.expires_at > when)))


def forget_expired(writing: Writing) -> None:
    """Forget the pins that have expired."""
    writing.connection.execute(delete(pins).where(pins.c.expires_at <= writing.when))
