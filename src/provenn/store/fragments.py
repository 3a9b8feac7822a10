"""Fragments: which data are stored, where, and what they mean. The data themselves are `provenn.spark`'s business.

A fragment that is dropped keeps its row, with who dropped it and why; only its files go.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, delete, exists, insert, select, update

from provenn.catalogs.catalog import Catalog
from provenn.catalogs.digest import canonical_json, content_digest
from provenn.errors import CorruptArchiveError
from provenn.store import pins
from provenn.store.cones import in_batches
from provenn.store.database import Database, Reading, Writing
from provenn.store.facts import visible
from provenn.store.folder import StoredFile
from provenn.store.tables import facts as fact_rows
from provenn.store.tables import fragment_attributes, fragment_facts, fragments
from provenn.store.visibility import Deed, told_deeds

__all__ = [
    "Fragment",
    "all_fragments",
    "drop",
    "each",
    "forget",
    "get",
    "held",
    "is_registered",
    "locations",
    "of_extent",
    "pinned",
    "register",
    "removed",
    "used",
    "with_attributes",
]


@dataclass(frozen=True, slots=True)
class Fragment:
    """Some attributes, for the sources of an extent, stored.

    Parameters
    ----------
    id
        Its number, which no other fragment ever has.
    catalog
        The digest of the catalog for which it was stored: it holds the sources of its extent.
    population, extent
        The name of the population, the digest of the extent.
    columns
        The identity of each attribute, those of the key included, and the column that holds it; in order.
    location
        Where its files are, below the data folder.
    rows, size
        How many rows and how many bytes there are.
    files
        Its files, by name, with the digests of their footers and of all their bytes.
    seconds
        How long it took to compute: from the first call of a calculator to the end of the last, where that was
        measured; otherwise all of the job.
    stored_at, stored_by, used_at, uses
        When it was stored and by whom; when it was last used, and how often.
    facts
        The numbers of the declared and observed facts that its meaning leans on.
    retracted
        Those of them that do not hold any more; if there are any, it is not usable.
    dropped_at, dropped_by, dropped_reason
        When it was dropped, by whom and why; None if it was not.
    removed_at
        When its files were deleted, after it was dropped.
    """

    id: int
    catalog: str
    population: str
    extent: str
    columns: tuple[tuple[str, str], ...]
    location: str
    rows: int
    size: int
    files: tuple[StoredFile, ...]
    seconds: float
    stored_at: datetime
    stored_by: str
    used_at: datetime
    uses: int
    facts: tuple[int, ...] = ()
    retracted: tuple[int, ...] = ()
    dropped_at: datetime | None = None
    dropped_by: str | None = None
    dropped_reason: str | None = None
    removed_at: datetime | None = None

    @property
    def identities(self) -> frozenset[str]:
        """The identities of its attributes, those of the key included."""
        return frozenset(identity for identity, _ in self.columns)

    @property
    def usable(self) -> bool:
        """Whether it was not dropped, and all facts that it leans on hold. Whether its files are there is not known."""
        return self.dropped_at is None and not self.retracted


def register(
    writing: Writing,
    catalog: Catalog,
    columns: Iterable[tuple[str, str]],
    *,
    location: str,
    rows: int,
    files: Iterable[StoredFile],
    seconds: float,
    facts: Collection[int] = (),
) -> Fragment:
    """Say that data are stored, complete.

    Parameters
    ----------
    writing
        The transaction. The fragment is visible when it ends.
    catalog
        The catalog whose sources it holds; the archive holds it.
    columns
        Identity and column of each attribute, those of the key included.
    location
        Where its files are, below the data folder.
    rows
        How many rows there are.
    files
        Its files.
    seconds
        How long it took to compute.
    facts
        The numbers of the declared and observed facts that its meaning leans on.
    """
    execute = writing.connection.execute
    held = tuple(sorted(files, key=lambda one: one.name))
    row = {
        "catalog": catalog.digest,
        "population": catalog.population.name,
        "extent": catalog.extent.digest,
        "location": location,
        "rows": rows,
        "size": sum(one.size for one in held),
        "files": canonical_json([[one.name, one.size, one.footer, one.digest] for one in held]),
        "seconds": seconds,
        "stored_at": writing.when,
        "stored_by": writing.who,
        "used_at": writing.when,
        "uses": 0,
    }
    said, leaning = tuple(columns), tuple(sorted(set(facts)))
    digest = _digest(row["catalog"], row["population"], row["extent"], location, rows, row["files"], said, leaning)
    number: int = execute(insert(fragments).returning(fragments.c.id), {**row, "digest": digest}).scalar_one()
    execute(
        insert(fragment_attributes),
        [
            {"fragment": number, "position": position, "identity": identity, "column": column}
            for position, (identity, column) in enumerate(said)
        ],
    )
    if leaning:
        execute(insert(fragment_facts), [{"fragment": number, "fact": fact} for fact in leaning])
    return get(writing, number)


_ALL = select(fragments).order_by(fragments.c.id)
_leaning_on_retracted = exists().where(
    fragment_facts.c.fragment == fragments.c.id,
    fact_rows.c.id == fragment_facts.c.fact,
    fact_rows.c.retracted_at.is_not(None),
)
_USABLE = _ALL.where(fragments.c.dropped_at.is_(None), ~_leaning_on_retracted)


def get(reading: Reading, number: int) -> Fragment:
    """Return the fragment that has a number, usable or not.

    Raises
    ------
    KeyError
        If there is none.
    """
    for one in _read(reading, _ALL.where(fragments.c.id == number)):
        return one
    raise KeyError(number)


def is_registered(reading: Reading, location: str) -> bool:
    """Whether a fragment lies at a location, be it one that was dropped."""
    return reading.connection.scalar(select(fragments.c.id).where(fragments.c.location == location)) is not None


def locations(reading: Reading) -> frozenset[str]:
    """Return where files of fragments lie, also of those that were dropped, but for those that were deleted."""
    query = select(fragments.c.location).where(fragments.c.removed_at.is_(None) | fragments.c.dropped_at.is_(None))
    return frozenset(reading.connection.scalars(query))


def with_attributes(reading: Reading, identities: Collection[str]) -> tuple[Fragment, ...]:
    """Return the usable fragments that hold at least one of some attributes, by number."""
    found: dict[int, Fragment] = {}
    for batch in in_batches(identities):
        holding = select(fragment_attributes.c.fragment).where(fragment_attributes.c.identity.in_(batch))
        found.update((one.id, one) for one in _usable(reading, _USABLE.where(fragments.c.id.in_(holding))))
    return tuple(found[number] for number in sorted(found))


def of_extent(reading: Reading, extent: str) -> tuple[Fragment, ...]:
    """Return the usable fragments that hold the sources of an extent, by number."""
    return _usable(reading, _USABLE.where(fragments.c.extent == extent))


def held(reading: Reading, extents: Collection[str]) -> dict[str, frozenset[str]]:
    """Return the identities of the attributes that usable fragments hold for the sources of extents, by extent.

    Extents of which nothing is stored are left out.
    """
    found: dict[str, frozenset[str]] = {}
    for batch in in_batches(extents):
        for one in _usable(reading, _USABLE.where(fragments.c.extent.in_(batch))):
            found[one.extent] = found.get(one.extent, frozenset()) | one.identities
    return found


def all_fragments(reading: Reading, *, dropped: bool = False) -> tuple[Fragment, ...]:
    """Return the usable fragments, or also those that were dropped or lean on facts that were retracted, by number.

    Who sees everything is also told of fragments that lean on private facts of others, though these do not serve him.
    """
    return _told(reading, _read(reading, _ALL if dropped else _USABLE))


def each(reading: Reading) -> Iterator[Fragment | tuple[int, str]]:
    """Give all fragments, usable or not; of one whose row is not what was written, its number and what is wrong."""
    for number in reading.connection.scalars(select(fragments.c.id).order_by(fragments.c.id)).all():
        try:
            yield get(reading, number)
        except (CorruptArchiveError, TypeError, ValueError) as error:
            yield number, str(error)


def forget(writing: Writing, number: int) -> None:
    """Forget a fragment whose row is not what was written, so that nothing is known of it. Its files become garbage."""
    for table in (fragment_attributes, fragment_facts):
        writing.connection.execute(delete(table).where(table.c.fragment == number))
    writing.connection.execute(delete(fragments).where(fragments.c.id == number))


def drop(writing: Writing, number: int, reason: str) -> bool:
    """Use a fragment no more. Its row stays, with who dropped it, when and why.

    Returns
    -------
    bool
        Whether it was dropped now: not if it had been before.
    """
    values = {"dropped_at": writing.when, "dropped_by": writing.who, "dropped_reason": reason}
    there = update(fragments).where(fragments.c.id == number, fragments.c.dropped_at.is_(None))
    return bool(writing.connection.execute(there.values(values)).rowcount)


def removed(writing: Writing, number: int) -> None:
    """Record that the files of a fragment, which was dropped before, are deleted."""
    writing.connection.execute(update(fragments).where(fragments.c.id == number).values(removed_at=writing.when))


def used(writing: Writing, numbers: Collection[int]) -> None:
    """Record that fragments were used once more."""
    values = {"uses": fragments.c.uses + 1, "used_at": writing.when}
    for batch in in_batches(numbers):
        writing.connection.execute(update(fragments).where(fragments.c.id.in_(batch)).values(values))


@contextmanager
def pinned(database: Database, numbers: Collection[int]) -> Iterator[frozenset[int]]:
    """Keep fragments from being deleted while the body runs; give the numbers of those that are usable.

    The others were dropped before they could be pinned. Who can only read an archive cannot pin: if its owner drops
    a fragment meanwhile, reading it fails.
    """
    if database.read_only:
        with database.reading() as reading:
            found = _numbered(reading, numbers)
        yield frozenset(one.id for one in found)
        return
    with database.writing() as writing:
        found = _numbered(writing, numbers)
        holder = pins.pin(writing, [one.location for one in found])
    with pins.renewed(database, holder):
        yield frozenset(one.id for one in found)


def _numbered(reading: Reading, numbers: Collection[int]) -> list[Fragment]:
    batches = in_batches(numbers)
    return [one for batch in batches for one in _read(reading, _USABLE.where(fragments.c.id.in_(batch)))]


def _usable(reading: Reading, query: Select[Any]) -> tuple[Fragment, ...]:
    """Return the fragments of a query that serve who asks: he may know of them, and of the facts they lean on."""
    found = _told(reading, _read(reading, query))
    known = visible(reading, {number for one in found for number in one.facts})
    return tuple(one for one in found if known.issuperset(one.facts))


def _told(reading: Reading, found: tuple[Fragment, ...]) -> tuple[Fragment, ...]:
    if reading.viewer is None:
        return found
    told = told_deeds(reading, {_deed(one) for one in found})
    known = visible(reading, {number for one in found for number in one.facts})
    return tuple(one for one in found if _deed(one) in told and known.issuperset(one.facts))


def _deed(one: Fragment) -> Deed:
    return Deed(one.catalog, one.stored_by, one.stored_at)


def _read(reading: Reading, query: Select[Any]) -> tuple[Fragment, ...]:
    rows = reading.connection.execute(query).all()
    numbers = [row.id for row in rows]
    columns = _columns(reading, numbers)
    leaning = _facts(reading, numbers)
    return tuple(_fragment(row, columns.get(row.id, ()), leaning.get(row.id, ())) for row in rows)


def _fragment(row: Any, columns: Iterable[tuple[str, str]], leaning: Sequence[tuple[int, bool]]) -> Fragment:  # noqa: ANN401
    said, facts = tuple(columns), tuple(number for number, _ in leaning)
    digest = _digest(row.catalog, row.population, row.extent, row.location, row.rows, row.files, said, facts)
    if digest != row.digest:
        raise CorruptArchiveError(f"the row of the fragment #{row.id} was changed after it was written")
    files = tuple(StoredFile(*one) for one in json.loads(row.files))
    return Fragment(
        row.id,
        row.catalog,
        row.population,
        row.extent,
        said,
        row.location,
        row.rows,
        sum(one.size for one in files),
        files,
        row.seconds,
        row.stored_at,
        row.stored_by,
        row.used_at,
        row.uses,
        facts,
        tuple(number for number, holds in leaning if not holds),
        row.dropped_at,
        row.dropped_by,
        row.dropped_reason,
        row.removed_at,
    )


def _columns(reading: Reading, numbers: Collection[int]) -> dict[int, list[tuple[str, str]]]:
    table = fragment_attributes.c
    query = select(table.fragment, table.identity, table["column"]).order_by(table.fragment, table.position)
    found: dict[int, list[tuple[str, str]]] = {}
    for batch in in_batches(numbers):
        for fragment, identity, column in reading.connection.execute(query.where(table.fragment.in_(batch))):
            found.setdefault(fragment, []).append((identity, column))
    return found


def _facts(reading: Reading, numbers: Collection[int]) -> dict[int, list[tuple[int, bool]]]:
    table = fragment_facts.c
    query = (
        select(table.fragment, table.fact, fact_rows.c.retracted_at.is_(None))
        .join(fact_rows, fact_rows.c.id == table.fact)
        .order_by(table.fragment, table.fact)
    )
    found: dict[int, list[tuple[int, bool]]] = {}
    for batch in in_batches(numbers):
        for fragment, fact, holds in reading.connection.execute(query.where(table.fragment.in_(batch))):
            found.setdefault(fragment, []).append((fact, bool(holds)))
    return found


def _digest(*content: Any) -> str:  # noqa: ANN401 - JSON
    return content_digest("fragment", list(content))
