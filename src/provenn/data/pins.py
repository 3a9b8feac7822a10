"""Pins: which process reads or writes which data now. Pinned data are not deleted.

A pin expires unless a thread of the living process renews the pin. A pin on a hidden folder outside the data folder,
where a process writes exported files, stays until `provenn gc` has deleted the folder.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy import delete, insert, select

from provenn.database import expiring_rows
from provenn.database.expiring_rows import Holding
from provenn.database.tables import pins
from provenn.database.transactions import Database, Reading, Writing
from provenn.processes import is_alive, is_gone, make_holder

__all__ = [
    "LIFETIME",
    "OUTSIDE",
    "find_abandoned_folders",
    "find_abandoned_places",
    "find_pinned_places",
    "forget_expired",
    "forget_outside",
    "hold_outside",
    "hold_places",
    "hold_places_soon",
    "pin_places",
    "renew_pins",
]

LIFETIME = timedelta(minutes=10)
"""The time after which a pin expires unless it is renewed."""

OUTSIDE = "outside:"
"""The prefix of a pin on a folder outside the data folder; the address of the folder follows."""


def pin_places(
    writing: Writing, places: Collection[str], *, lifetime: timedelta = LIFETIME, holder: str | None = None
) -> str:
    """Pin places below the data folder; return the holder, by default a new one, for `renew_pins`."""
    holder = holder or make_holder()
    values = {"holder": holder, "by": writing.who, "pinned_at": writing.when, "expires_at": writing.when + lifetime}
    if places:
        writing.connection.execute(insert(pins), [{"place": place, **values} for place in sorted(set(places))])
    return holder


def renew_pins(
    database: Database, holder: str, *, lifetime: timedelta = LIFETIME, waits: bool = True
) -> AbstractContextManager[Holding]:
    """Renew the pins of a holder while the body runs; then delete the pins, or let them expire if others write."""
    return expiring_rows.renew_rows(database, pins, holder, lifetime, waits=waits)


def hold_places_soon(
    database: Database, places: Collection[str], *, lifetime: timedelta = LIFETIME, delay: float = 0.0
) -> AbstractContextManager[Holding]:
    """Pin places as soon as the archive can be written, while the body runs without waiting for the pins.

    With a delay in seconds, nothing is written for a body that ends earlier.
    """
    holder = make_holder()
    take = partial(pin_places, places=places, lifetime=lifetime, holder=holder)
    return expiring_rows.renew_rows(database, pins, holder, lifetime, waits=False, take=take, delay=delay)


@contextmanager
def hold_places(database: Database, *places: str, lifetime: timedelta = LIFETIME) -> Iterator[Holding]:
    """Pin places below the data folder while the body runs."""
    with database.writing() as writing:
        holder = pin_places(writing, places, lifetime=lifetime)
    with renew_pins(database, holder, lifetime=lifetime) as pinned:
        yield pinned


def find_pinned_places(reading: Reading, when: datetime) -> frozenset[str]:
    """Return the places pinned at a moment; pins of dead processes do not count."""
    query = select(pins.c.place, pins.c.holder).where(pins.c.expires_at > when)
    return frozenset(place for place, holder in reading.connection.execute(query) if not is_gone(holder))


def find_abandoned_places(reading: Reading) -> frozenset[str]:
    """Return the places pinned by dead processes of this machine."""
    query = select(pins.c.place, pins.c.holder)
    return frozenset(place for place, holder in reading.connection.execute(query) if is_gone(holder))


def forget_expired(writing: Writing) -> None:
    """Delete the expired pins on data, and the pins of dead processes."""
    expiring_rows.forget_expired_rows(writing, pins, ~pins.c.place.startswith(OUTSIDE, autoescape=True))


def hold_outside(database: Database) -> Callable[[str], AbstractContextManager[object]]:
    """Return a function to pin a folder outside the data folder while a body runs.

    In a read-only or busy archive there is no pin, and the body does not wait for a pin.
    """

    def hold(address: str) -> AbstractContextManager[object]:
        holder = database.note(partial(pin_places, places=[f"{OUTSIDE}{address}"]))
        return nullcontext() if holder is None else renew_pins(database, holder, waits=False)

    return hold


def find_abandoned_folders(reading: Reading, when: datetime, age: timedelta) -> frozenset[str]:
    """Return the addresses of pinned folders outside the data folder without a living writer.

    Parameters
    ----------
    reading
        The transaction.
    when
        The moment.
    age
        The time since which a pin of another machine must have expired: that machine may be asleep.
    """
    rows = reading.connection.execute(
        select(pins.c.place, pins.c.holder, pins.c.expires_at).where(pins.c.place.startswith(OUTSIDE, autoescape=True))
    )
    return frozenset(
        place.removeprefix(OUTSIDE)
        for place, holder, expires in rows
        if is_gone(holder) or (expires + age <= when and not is_alive(holder))
    )


def forget_outside(writing: Writing, addresses: Collection[str]) -> None:
    """Delete the pins on deleted folders outside the data folder."""
    for address in addresses:
        writing.connection.execute(delete(pins).where(pins.c.place == f"{OUTSIDE}{address}"))
