"""What of the data folder can go: what nothing refers to, and what is least useful where space is short."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from provenn.catalogs.files import GIVEN
from provenn.store import clock, fragments, leases, pins
from provenn.store.bases import files_digests
from provenn.store.database import Database, Reading
from provenn.store.file_memory import forget_old
from provenn.store.folder import CONVERTED, FRAGMENTS, TEMPORARY, DataFolder, Entry
from provenn.store.fragments import Fragment
from provenn.store.moc_files import MOCS, named, place_of

__all__ = ["AGE", "HALF_LIFE", "Collected", "Dropped", "chosen", "collect_garbage", "lying", "unreferred", "usefulness"]

AGE = timedelta(days=1)
"""How old a leftover must be to be deleted: what is being written is pinned, but not everybody can pin."""

HALF_LIFE = timedelta(days=30)
"""After how long without use a fragment is half as useful."""

_PLACES = (TEMPORARY, FRAGMENTS, CONVERTED, GIVEN, MOCS)


@dataclass(frozen=True, slots=True)
class Dropped:
    """A fragment that goes, and why."""

    fragment: Fragment
    reason: str


@dataclass(frozen=True, slots=True)
class Collected:
    """What was deleted, or would be.

    Parameters
    ----------
    dropped
        The fragments that are used no more from now on.
    deleted
        The places below the data folder that were deleted: files of fragments dropped now or before, and leftovers.
    freed
        How many bytes that makes.
    kept
        How many bytes the remaining fragments have.
    """

    dropped: tuple[Dropped, ...]
    deleted: tuple[str, ...]
    freed: int
    kept: int


def usefulness(fragment: Fragment, now: datetime) -> float:
    """Return how useful it is to keep a fragment: the seconds that it saves per byte.

    That is ``seconds * (1 + uses) * 0.5 ** (t / 30 days) / bytes``, where t is the time since it was last used, or
    stored. So it counts what it took to compute, how often that was spared, and how long ago; and what is large must
    save more.
    """
    unused = max((now - fragment.used_at) / HALF_LIFE, 0.0)
    worth: float = fragment.seconds * (1 + fragment.uses) * 0.5**unused
    return worth / max(fragment.size, 1)


def chosen(candidates: Iterable[Fragment], limit: int, held: Collection[str], now: datetime) -> tuple[Fragment, ...]:
    """Return the fragments to drop so that the others have at most so many bytes: the least useful, in this order.

    Parameters
    ----------
    candidates
        All fragments that are in use.
    limit
        How many bytes they may have.
    held
        The places of those that somebody reads. They are never dropped, even if the others alone do not suffice.
    now
        The moment for which `usefulness` is asked.
    """
    everything = list(candidates)
    excess = sum(one.size for one in everything) - limit
    free = (one for one in everything if one.location not in held)
    going: list[Fragment] = []
    for one in sorted(free, key=lambda one: (usefulness(one, now), one.used_at, one.id)):
        if excess <= 0:
            break
        going.append(one)
        excess -= one.size
    return tuple(going)


def collect_garbage(
    database: Database, folder: DataFolder, *, limit: int | None = None, age: timedelta = AGE, dry_run: bool = False
) -> Collected:
    """Delete data that nothing refers to; and, if there are more than so many bytes, the least useful fragments.

    Nothing that somebody reads or writes is deleted. What is dropped keeps its row and the reason in the database.

    Parameters
    ----------
    database, folder
        The archive and its data.
    limit
        How many bytes fragments may have; None for any number.
    age
        How old what nothing refers to must be, unless a process wrote it that died on this machine.
    dry_run
        Whether only to tell what would be deleted.

    Raises
    ------
    StoreError
        If something cannot be deleted. The next time it is tried again.
    """
    # First look at the folder, then at the database: what was pinned before it was written and is referred to before
    # it is let go cannot be missed in this order.
    found = lying(folder)
    if dry_run:
        with database.reading() as reading:
            return _plan(reading, found, limit, age, clock.now(reading.connection))[0]
    with database.writing() as writing:
        plan, finished = _plan(writing, found, limit, age, writing.when)
        pins.forget_expired(writing)
        leases.forget_expired(writing)
        forget_old(writing)
        for one in plan.dropped:
            fragments.drop(writing, one.fragment.id, one.reason)
        # Whoever gives the same table or MOC again waits for this transaction, and finds that it is gone.
        given = {place for place in plan.deleted if place.startswith((f"{GIVEN}/", f"{MOCS}/"))}
        for place in given:
            folder.remove(place)
    for place in plan.deleted:
        if place not in given:
            folder.remove(place)
    with database.writing() as writing:
        for number in finished:
            fragments.removed(writing, number)
    return plan


def _plan(
    reading: Reading, found: Mapping[str, Entry], limit: int | None, age: timedelta, now: datetime
) -> tuple[Collected, tuple[int, ...]]:
    """Return what is to be deleted, and the numbers of the fragments that have no files then."""
    there = [one for one in fragments.all_fragments(reading, dropped=True) if one.removed_at is None]
    held = pins.held(reading, now)
    dropped = [
        Dropped(one, f"fact #{one.retracted[0]}, which it leans on, was retracted")
        for one in there
        if one.dropped_at is None and one.retracted and one.location not in held
    ]
    in_use = [one for one in there if one.usable]
    if limit is not None:
        dropped += [Dropped(one, f"least useful beyond {limit:,} bytes") for one in chosen(in_use, limit, held, now)]
    going = {one.fragment.id for one in dropped} | {one.id for one in there if one.dropped_at is not None}
    finished = [one for one in there if one.id in going and one.location not in held]
    leftovers = {place for place, _, goes in unreferred(reading, found, now, age) if goes}
    places = sorted({one.location for one in finished} | leftovers)
    return Collected(
        tuple(dropped),
        tuple(places),
        sum(found[place].size for place in places if place in found),
        sum(one.size for one in in_use if one.id not in going),
    ), tuple(one.id for one in finished)


def lying(folder: DataFolder) -> dict[str, Entry]:
    """Return what lies in the data folder, by place."""
    return {f"{where}/{one.name}": one for where in _PLACES for one in folder.entries(where)}


def unreferred(
    reading: Reading, found: Mapping[str, Entry], now: datetime, age: timedelta = AGE
) -> Iterator[tuple[str, int, bool]]:
    """Give the places to which nothing refers and that nobody holds, their bytes, and whether they can go now.

    Parameters
    ----------
    reading
        The transaction; it began after the folder was looked at.
    found
        What lies there.
    now, age
        The moment, and how old they must be then, unless a process wrote them that died on this machine.
    """
    held, abandoned = pins.held(reading, now), pins.abandoned(reading)
    bases = {f"{where}/{digest}" for digest in files_digests(reading) for where in (CONVERTED, GIVEN)}
    referred = fragments.locations(reading) | bases | {place_of(digest) for digest in named(reading)}
    for place, one in found.items():
        if place not in referred and place not in held:
            old = one.modified is None or now - one.modified >= age
            yield place, one.size, old or place in abandoned
