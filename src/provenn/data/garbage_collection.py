"""Garbage collection in the data folder: unreferred data and, if space is short, the least useful fragments."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from provenn.data import fragments, leases, pins
from provenn.data.file_memory import forget_old
from provenn.data.fragments import Fragment
from provenn.data.leftovers import JOBS, LEFTOVER, clear_leftover, find_job_folders
from provenn.database import clock, operations, staged_rows
from provenn.database.transactions import Database, Reading
from provenn.definitions.base_locations import list_files_digests
from provenn.definitions.moc_files import MOCS, find_named_mocs, locate_moc
from provenn.errors import StoreError
from provenn.files.data_folder import CONVERTED, FRAGMENTS, TEMPORARY, DataFolder, FolderEntry
from provenn.files.file_set import GIVEN
from provenn.processes import read_mark_state

__all__ = [
    "AGE",
    "HALF_LIFE",
    "CollectedGarbage",
    "DroppedFragment",
    "choose_fragments",
    "collect_garbage",
    "compute_usefulness",
    "find_abandoned_outside",
    "find_unreferred",
    "list_data_folder",
]

AGE = timedelta(days=1)
"""The age at which a leftover is deleted. Data being written are pinned, but not every process can pin."""

HALF_LIFE = timedelta(days=30)
"""The time without use after which a fragment is half as useful."""

_PLACES = (TEMPORARY, FRAGMENTS, CONVERTED, GIVEN, MOCS)


@dataclass(frozen=True, slots=True)
class DroppedFragment:
    """A fragment to be dropped, and the reason."""

    fragment: Fragment
    reason: str


@dataclass(frozen=True, slots=True)
class CollectedGarbage:
    """The data that a garbage collection deleted, or would delete.

    Parameters
    ----------
    dropped
        The fragments that are no longer used from now on.
    deleted
        The deleted places below the data folder: files of fragments dropped now or before, and leftovers; then the
        addresses of folders outside the data folder that killed writers left.
    freed
        The number of bytes in the deleted places.
    kept
        The number of bytes in the remaining fragments.
    """

    dropped: tuple[DroppedFragment, ...]
    deleted: tuple[str, ...]
    freed: int
    kept: int


def compute_usefulness(fragment: Fragment, now: datetime) -> float:
    """Return the usefulness of keeping a fragment: the seconds saved per byte.

    The formula is ``seconds * (1 + uses) * 0.5 ** (t / 30 days) / bytes``, where t is the time since the last use, or
    since storing. So a fragment is useful if computing takes long, if uses are frequent and recent, and if the files
    are small.
    """
    unused = max((now - fragment.used_at) / HALF_LIFE, 0.0)
    worth: float = fragment.seconds * (1 + fragment.uses) * 0.5**unused
    return worth / max(fragment.size, 1)


def choose_fragments(
    candidates: Iterable[Fragment], limit: int, held: Collection[str], now: datetime
) -> tuple[Fragment, ...]:
    """Return the least useful fragments, in order: after dropping them the rest fits into the limit.

    Parameters
    ----------
    candidates
        All fragments in use.
    limit
        The most bytes that fragments may have.
    held
        The pinned places. Fragments there are never dropped, even if the others alone do not suffice.
    now
        The moment at which `compute_usefulness` judges the fragments.
    """
    fragments_in_use = list(candidates)
    excess = sum(fragment.size for fragment in fragments_in_use) - limit
    unpinned = (fragment for fragment in fragments_in_use if fragment.location not in held)
    dropped: list[Fragment] = []
    for fragment in sorted(
        unpinned, key=lambda fragment: (compute_usefulness(fragment, now), fragment.used_at, fragment.id)
    ):
        if excess <= 0:
            break
        dropped.append(fragment)
        excess -= fragment.size
    return tuple(dropped)


def collect_garbage(
    database: Database, folder: DataFolder, *, limit: int | None = None, age: timedelta = AGE, dry_run: bool = False
) -> CollectedGarbage:
    """Delete unreferred data and, if there are more bytes than the limit, the least useful fragments.

    Staged rows of imports whose processes died are deleted as well. Pinned data are never deleted. A dropped fragment
    keeps a row with the reason in the database.

    Parameters
    ----------
    database, folder
        The archive and its data.
    limit
        The most bytes that fragments may have; None for any number.
    age
        The age at which unreferred data are deleted; data of processes that died on this machine go at any age.
    dry_run
        Whether only to report what would be deleted.

    Raises
    ------
    StoreError
        If data cannot be deleted. The next call tries again.
    """
    # List the folder first, then read the database: data are pinned before they are written, and referred to before
    # they are unpinned, so that this order cannot miss either.
    entries = list_data_folder(folder)
    with database.reading() as reading:
        now = clock.now(reading.connection)
        outside = find_abandoned_outside(reading, now, age)
        if dry_run:
            return _add_outside(_plan_collection(reading, entries, limit, age, now)[0], outside)
    staged_rows.clear_abandoned(database)
    # A dead process does not come back: no transaction is needed, and none waits while files are deleted.
    cleared = {address: size for address, size in outside.items() if _clear_outside(address)}
    with database.writing() as writing:
        pins.forget_outside(writing, cleared)
        plan, finished = _plan_collection(writing, entries, limit, age, writing.when)
        pins.forget_expired(writing)
        leases.forget_expired(writing)
        forget_old(writing)
        operations.forget_old_operations(writing.connection, writing.when)
        for dropped in plan.dropped:
            fragments.drop(writing, dropped.fragment.id, dropped.reason)
        # A process that ingests the same table or MOC again waits for this transaction, and then finds it deleted.
        given_places = {place for place in plan.deleted if place.startswith((f"{GIVEN}/", f"{MOCS}/"))}
        for place in given_places:
            folder.remove(place)
    for place in plan.deleted:
        if place not in given_places:
            folder.remove(place)
    with database.writing() as writing:
        for number in finished:
            fragments.record_removal(writing, number)
    return _add_outside(plan, cleared)


def _add_outside(plan: CollectedGarbage, outside: Mapping[str, int]) -> CollectedGarbage:
    """Return a plan with the deleted folders outside the data folder added."""
    return replace(plan, deleted=(*plan.deleted, *sorted(outside)), freed=plan.freed + sum(outside.values()))


def _plan_collection(
    reading: Reading, entries: Mapping[str, FolderEntry], limit: int | None, age: timedelta, now: datetime
) -> tuple[CollectedGarbage, tuple[int, ...]]:
    """Return the data to delete, and the numbers of the fragments without files afterwards."""
    stored = [fragment for fragment in fragments.all_fragments(reading, dropped=True) if fragment.removed_at is None]
    pinned = pins.find_pinned_places(reading, now)
    dropped = [
        DroppedFragment(fragment, f"fact #{fragment.retracted[0]}, on which it rests, was retracted")
        for fragment in stored
        if fragment.dropped_at is None and fragment.retracted and fragment.location not in pinned
    ]
    in_use = [fragment for fragment in stored if fragment.is_usable]
    if limit is not None:
        dropped += [
            DroppedFragment(fragment, f"least useful beyond the limit of {limit:,} bytes")
            for fragment in choose_fragments(in_use, limit, pinned, now)
        ]
    dropped_numbers = {drop.fragment.id for drop in dropped} | {
        fragment.id for fragment in stored if fragment.dropped_at is not None
    }
    deletable = [fragment for fragment in stored if fragment.id in dropped_numbers and fragment.location not in pinned]
    leftovers = {place for place, _, is_deletable in find_unreferred(reading, entries, now, age) if is_deletable}
    places = sorted({fragment.location for fragment in deletable} | leftovers)
    return CollectedGarbage(
        tuple(dropped),
        tuple(places),
        sum(entries[place].size for place in places if place in entries),
        sum(fragment.size for fragment in in_use if fragment.id not in dropped_numbers),
    ), tuple(fragment.id for fragment in deletable)


def list_data_folder(folder: DataFolder) -> dict[str, FolderEntry]:
    """Return the entries of the data folder, by place."""
    return {f"{parent}/{entry.name}": entry for parent in _PLACES for entry in folder.entries(parent)}


def find_unreferred(
    reading: Reading, entries: Mapping[str, FolderEntry], now: datetime, age: timedelta = AGE
) -> Iterator[tuple[str, int, bool]]:
    """Yield each unreferred and unpinned place with the number of bytes, and whether to delete the place now.

    Parameters
    ----------
    reading
        The transaction; it began after the folder was listed.
    entries
        The entries of the data folder, by place.
    now, age
        The moment, and the age at which a place can be deleted. Data of a process that died on this machine can be
        deleted at any age.
    """
    pinned, abandoned = pins.find_pinned_places(reading, now), pins.find_abandoned_places(reading)
    bases = {f"{parent}/{digest}" for digest in list_files_digests(reading) for parent in (CONVERTED, GIVEN)}
    referred = fragments.find_locations(reading) | bases | {locate_moc(digest) for digest in find_named_mocs(reading)}
    for place, entry in entries.items():
        writer = read_mark_state(place)
        if place not in referred and place not in pinned and writer != "alive":
            is_old = entry.modified is None or now - entry.modified >= age
            yield place, entry.size, is_old or place in abandoned or writer == "gone"


def find_abandoned_outside(reading: Reading, now: datetime, age: timedelta = AGE) -> dict[str, int]:
    """Return the folders of killed writers outside the data folder, and their bytes.

    These are hidden folders beside exported files and backups, and temporary folders of servers.
    """
    pinned = sorted(filter(_is_writing_folder, pins.find_abandoned_folders(reading, now, age)))
    return {address: _measure_folder(address) for address in (*pinned, *map(str, find_job_folders()))}


def _is_writing_folder(address: str) -> bool:
    """Whether an address is a hidden folder made by a writer."""
    name = address.rpartition("/")[2]
    return (
        re.fullmatch(f"({re.escape(LEFTOVER)}|{JOBS})[0-9a-z_]+", name) is not None and not Path(address).is_symlink()
    )


def _measure_folder(address: str) -> int:
    """Return the number of bytes in a folder; 0 if the folder cannot be read."""
    above, _, name = address.rpartition("/")
    try:
        return sum(entry.size for entry in DataFolder.of(above or "/").entries(name))
    except StoreError:  # its disk is not mounted
        return 0


def _clear_outside(address: str) -> bool:
    """Delete a folder outside the data folder; return whether to delete the pin.

    The address comes from the database, possibly from another person: only hidden folders of writers are ever deleted.
    """
    if not _is_writing_folder(address):
        return True
    folder = DataFolder.of(address)
    if folder.is_local:
        clear_leftover(Path(address))
        return not Path(address).exists() and Path(address).parent.exists()  # otherwise its disk may not be mounted
    with suppress(StoreError):
        folder.remove()
        return True
    return False
