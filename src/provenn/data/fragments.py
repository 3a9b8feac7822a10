"""Fragments: the meaning and the place of stored data. `provenn.spark` reads and writes the data themselves.

A dropped fragment keeps a row with the author and the reason of dropping; only the files are deleted.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, delete, insert, select, update

from provenn.batches import split_batches
from provenn.catalogs.catalog import Catalog
from provenn.criteria import AttributeIdentity
from provenn.data import fragment_queries, pins
from provenn.database.tables import fragment_attributes, fragment_facts, fragments
from provenn.database.transactions import Database, Reading, Writing
from provenn.definitions.stored_samples import delete_fragment_sample, record_sample
from provenn.digests import CatalogDigest, canonical_json, content_digest
from provenn.errors import CorruptArchiveError
from provenn.files.data_folder import StoredFile
from provenn.knowledge.recorded_platforms import describe_platform
from provenn.knowledge.stored_facts import find_usable_numbers
from provenn.people import quotas
from provenn.people.visibility import CatalogAction, filter_visible_actions

__all__ = [
    "Fragment",
    "all_fragments",
    "drop",
    "find_attributes_by_extent",
    "find_by_attributes",
    "find_by_extent",
    "find_locations",
    "forget",
    "get",
    "is_registered",
    "iterate_fragments",
    "pin_fragments",
    "pin_fragments_of_look",
    "record_removal",
    "record_use",
    "register",
]

_MOMENT = 1.0
"""Seconds after which a look pins what it reads."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """Stored values of some attributes, for the sources of an extent.

    Parameters
    ----------
    id
        The number of the fragment, never used again.
    catalog
        The digest of the catalog for which the fragment was stored. The fragment holds the sources of its extent.
    population, extent
        The name of the population, the digest of the extent.
    columns
        The identity of each attribute, key attributes included, and the column that holds it; in order.
    location
        The path of its folder below the data folder.
    rows, size
        The number of rows, and of bytes.
    files
        Its files, by name, with the digests of their footers and of all their bytes.
    seconds
        The time it took to compute: from the first call of a calculator to the end of the last, if that was measured;
        otherwise the time of the whole job.
    stored_at, stored_by, used_at, uses
        Time and author of storing; time of the last use, and number of uses.
    facts
        The numbers of the declared and observed facts on which its meaning rests.
    retracted
        The numbers of these facts that were retracted; if there are any, the fragment is not usable.
    dropped_at, dropped_by, dropped_reason
        Time, author and reason of dropping; None if the fragment was not dropped.
    removed_at
        The time at which its files were deleted, after it was dropped.
    platform
        The platform on which it was computed, if sources or values may differ on other platforms; then the fragment
        serves that platform alone.
    """

    id: int
    catalog: CatalogDigest
    population: str
    extent: str
    columns: tuple[tuple[AttributeIdentity, str], ...]
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
    platform: str | None = None

    @property
    def identities(self) -> frozenset[AttributeIdentity]:
        """The identities of the attributes, key attributes included."""
        return frozenset(identity for identity, _ in self.columns)

    @property
    def is_usable(self) -> bool:
        """Whether the fragment was not dropped and all facts hold. The files may still be missing."""
        return self.dropped_at is None and not self.retracted


def register(
    writing: Writing,
    catalog: Catalog,
    columns: Iterable[tuple[AttributeIdentity, str]],
    *,
    location: str,
    rows: int,
    files: Iterable[StoredFile],
    seconds: float,
    facts: Collection[int] = (),
    sample: Mapping[AttributeIdentity, str] | None = None,
) -> Fragment:
    """Record that the data of a fragment are stored completely.

    Parameters
    ----------
    writing
        The transaction. The fragment becomes visible when it is committed.
    catalog
        The catalog whose sources the fragment holds; the archive holds this catalog.
    columns
        Identity and column of each attribute, key attributes included.
    location
        The path of the folder with its files, below the data folder.
    rows
        The number of rows.
    files
        The files of the fragment.
    seconds
        The time it took to compute.
    facts
        The numbers of the declared and observed facts on which its meaning rests.
    sample
        The values of its attributes in a few rows, in stored form.

    Raises
    ------
    QuotaError
        If the writer's stored data exceed the quota.
    """
    execute = writing.connection.execute
    stored_files = tuple(sorted(files, key=lambda file: file.name))
    quotas.check_stored_quota(writing, sum(file.size for file in stored_files))
    row = {
        "catalog": catalog.digest,
        "population": catalog.population.name,
        "extent": catalog.extent.digest,
        "location": location,
        "rows": rows,
        "size": sum(file.size for file in stored_files),
        "files": canonical_json([[file.name, file.size, file.footer, file.digest] for file in stored_files]),
        "seconds": seconds,
        "stored_at": writing.when,
        "stored_by": writing.who,
        "used_at": writing.when,
        "uses": 0,
        "platform": describe_platform(writing, catalog),
    }
    attribute_columns, fact_numbers = tuple(columns), tuple(sorted(set(facts)))
    digest = _compute_digest(
        row["catalog"], row["population"], row["extent"], location, rows, row["files"], attribute_columns, fact_numbers
    )
    number: int = execute(insert(fragments).returning(fragments.c.id), {**row, "digest": digest}).scalar_one()
    execute(
        insert(fragment_attributes),
        [
            {"fragment": number, "position": position, "identity": identity, "column": column}
            for position, (identity, column) in enumerate(attribute_columns)
        ],
    )
    record_sample(writing, catalog.digest, number, sample or {})
    if fact_numbers:
        execute(insert(fragment_facts), [{"fragment": number, "fact": fact} for fact in fact_numbers])
    return get(writing, number)


def get(reading: Reading, number: int) -> Fragment:
    """Return the fragment with a number, usable or not.

    Raises
    ------
    KeyError
        If no fragment has this number.
    """
    for fragment in _read(reading, fragment_queries.BY_NUMBER, {"number": number}):
        return fragment
    raise KeyError(number)


def is_registered(reading: Reading, location: str) -> bool:
    """Whether a fragment, possibly dropped, has this location."""
    return reading.connection.scalar(select(fragments.c.id).where(fragments.c.location == location)) is not None


def find_locations(reading: Reading) -> frozenset[str]:
    """Return the locations of fragments, dropped ones included unless their files were deleted."""
    query = select(fragments.c.location).where(fragments.c.removed_at.is_(None) | fragments.c.dropped_at.is_(None))
    return frozenset(reading.connection.scalars(query))


def find_by_attributes(
    reading: Reading, identities: Collection[AttributeIdentity], *, elsewhere: bool = False
) -> tuple[Fragment, ...]:
    """Return the usable fragments with at least one of the attributes, by number.

    With `elsewhere`, return instead the fragments usable only on another platform.
    """
    found_by_number: dict[int, Fragment] = {}
    query = fragment_queries.BY_ATTRIBUTES_ELSEWHERE if elsewhere else fragment_queries.BY_ATTRIBUTES
    for batch in split_batches(identities):
        matches = _find_usable(reading, query, {"identities": batch}, elsewhere=elsewhere)
        found_by_number.update((fragment.id, fragment) for fragment in matches)
    return tuple(found_by_number[number] for number in sorted(found_by_number))


def find_by_extent(reading: Reading, extent: str) -> tuple[Fragment, ...]:
    """Return the usable fragments with the sources of an extent, by number."""
    return _find_usable(reading, fragment_queries.BY_EXTENT, {"extents": [extent]})


def find_attributes_by_extent(reading: Reading, extents: Collection[str]) -> dict[str, frozenset[AttributeIdentity]]:
    """Return, for each extent, the identities of the attributes stored in usable fragments.

    Extents without stored attributes are left out.
    """
    identities_by_extent: dict[str, frozenset[AttributeIdentity]] = {}
    for batch in split_batches(extents):
        for fragment in _find_usable(reading, fragment_queries.BY_EXTENT, {"extents": batch}):
            identities_by_extent[fragment.extent] = (
                identities_by_extent.get(fragment.extent, frozenset()) | fragment.identities
            )
    return identities_by_extent


def all_fragments(reading: Reading, *, dropped: bool = False) -> tuple[Fragment, ...]:
    """Return the usable fragments; with `dropped`, also fragments dropped or with retracted facts; by number.

    A transaction without a viewer also returns fragments based on private facts; these do not serve a target.
    """
    return _filter_visible(reading, _read(reading, fragment_queries.ALL if dropped else fragment_queries.USABLE))


def iterate_fragments(reading: Reading) -> Iterator[Fragment | tuple[int, str]]:
    """Yield all fragments, usable or not; for a changed row, yield the number and the problem."""
    for number in reading.connection.scalars(select(fragments.c.id).order_by(fragments.c.id)).all():
        try:
            yield get(reading, number)
        except (CorruptArchiveError, TypeError, ValueError) as error:
            yield number, str(error)


def forget(writing: Writing, number: int) -> None:
    """Delete a fragment with a changed row from the database. The files become garbage."""
    delete_fragment_sample(writing, number)
    for table in (fragment_attributes, fragment_facts):
        writing.connection.execute(delete(table).where(table.c.fragment == number))
    writing.connection.execute(delete(fragments).where(fragments.c.id == number))


def drop(writing: Writing, number: int, reason: str) -> bool:
    """Stop using a fragment, and delete its sample. The row stays, with the author, the time and the reason.

    Returns
    -------
    bool
        Whether the fragment was dropped now: False if it had been dropped before.
    """
    delete_fragment_sample(writing, number)
    values = {"dropped_at": writing.when, "dropped_by": writing.who, "dropped_reason": reason}
    statement = update(fragments).where(fragments.c.id == number, fragments.c.dropped_at.is_(None))
    return bool(writing.connection.execute(statement.values(values)).rowcount)


def record_removal(writing: Writing, number: int) -> None:
    """Record that the files of a dropped fragment are deleted."""
    writing.connection.execute(update(fragments).where(fragments.c.id == number).values(removed_at=writing.when))


def record_use(writing: Writing, numbers: Collection[int]) -> None:
    """Record that fragments were used once more."""
    values = {"uses": fragments.c.uses + 1, "used_at": writing.when}
    for batch in split_batches(numbers):
        writing.connection.execute(update(fragments).where(fragments.c.id.in_(batch)).values(values))


@contextmanager
def pin_fragments(database: Database, numbers: Collection[int]) -> Iterator[frozenset[int]]:
    """Keep fragments from being deleted while the body runs; yield the numbers of the usable fragments.

    Fragments that were dropped before the pin are left out. A read-only archive cannot be pinned: if the owner drops a
    fragment meanwhile, reading the fragment fails.
    """
    if not numbers:
        yield frozenset()
        return
    if database.read_only:
        with database.reading() as reading:
            usable = _read_usable(reading, numbers)
        yield frozenset(fragment.id for fragment in usable)
        return

    def pin(writing: Writing) -> tuple[str, list[Fragment]]:
        usable = _read_usable(writing, numbers)
        return pins.pin_places(writing, [fragment.location for fragment in usable]), usable

    pinned = database.note(pin)
    if pinned is not None:
        holder, usable = pinned
        with pins.renew_pins(database, holder, waits=False):
            yield frozenset(fragment.id for fragment in usable)
        return
    with database.reading() as reading:  # the process that keeps writing deletes nothing meanwhile
        usable = _read_usable(reading, numbers)
    with pins.hold_places_soon(database, [fragment.location for fragment in usable]):
        yield frozenset(fragment.id for fragment in usable)


@contextmanager
def pin_fragments_of_look(database: Database, numbers: Collection[int]) -> Iterator[None]:
    """Keep fragments from being deleted while the body reads them, if the body takes longer than a moment.

    A short look thus writes nothing. The files of a fragment never change, so that a look at a fragment that is
    deleted meanwhile fails, and is never wrong: the caller must plan such a look anew.
    """
    if not numbers or database.read_only:
        yield
        return
    with database.reading() as reading:
        places = [fragment.location for fragment in _read_usable(reading, numbers)]
    with pins.hold_places_soon(database, places, delay=_MOMENT):
        yield


def _read_usable(reading: Reading, numbers: Collection[int]) -> list[Fragment]:
    """Return the usable fragments among some numbers, ignoring visibility."""
    batches = split_batches(numbers)
    return [
        fragment for batch in batches for fragment in _read(reading, fragment_queries.USABLE_AMONG, {"numbers": batch})
    ]


def _find_usable(
    reading: Reading, query: Select[Any], values: Mapping[str, Any], *, elsewhere: bool = False
) -> tuple[Fragment, ...]:
    """Return the fragments of a query for use by the viewer: fragments and facts are visible to the viewer.

    Fragments computed on another platform whose values depend on the platform are returned only with `elsewhere`.
    """
    visible_fragments = _filter_visible(reading, _read(reading, query, values))
    serving = [
        fragment
        for fragment in visible_fragments
        if (fragment.platform is None or reading.platform().serves(fragment.platform)) != elsewhere
    ]
    visible_facts = find_usable_numbers(reading, {number for fragment in serving for number in fragment.facts})
    return tuple(fragment for fragment in serving if visible_facts.issuperset(fragment.facts))


def _filter_visible(reading: Reading, candidates: tuple[Fragment, ...]) -> tuple[Fragment, ...]:
    """Return the fragments visible to the viewer and based only on visible facts."""
    if reading.viewer is None:
        return candidates
    visible_deeds = filter_visible_actions(reading, {_storing_deed(fragment) for fragment in candidates})
    visible_facts = find_usable_numbers(reading, {number for fragment in candidates for number in fragment.facts})
    return tuple(
        fragment
        for fragment in candidates
        if _storing_deed(fragment) in visible_deeds and visible_facts.issuperset(fragment.facts)
    )


def _storing_deed(fragment: Fragment) -> CatalogAction:
    """Return the author and the time of storing a fragment, for the check of visibility."""
    return CatalogAction(fragment.catalog, fragment.stored_by, fragment.stored_at)


def _read(reading: Reading, query: Select[Any], values: Mapping[str, Any] | None = None) -> tuple[Fragment, ...]:
    """Return the fragments selected by a query with some values, ignoring visibility."""
    rows = reading.connection.execute(query, values or {}).all()
    numbers = [row.id for row in rows]
    columns = _read_columns(reading, numbers)
    facts = _read_facts(reading, numbers)
    return tuple(_restore_fragment(row, columns.get(row.id, ()), facts.get(row.id, ())) for row in rows)


def _restore_fragment(
    row: Any,  # noqa: ANN401 - a row of SQLAlchemy
    columns: Iterable[tuple[AttributeIdentity, str]],
    fact_states: Sequence[tuple[int, bool]],
) -> Fragment:
    """Return the fragment of a row; raise an error if the row was changed."""
    attribute_columns, fact_numbers = tuple(columns), tuple(number for number, _ in fact_states)
    digest = _compute_digest(
        row.catalog, row.population, row.extent, row.location, row.rows, row.files, attribute_columns, fact_numbers
    )
    if digest != row.digest:
        raise CorruptArchiveError(f"the row of the fragment #{row.id} was changed after it was written")
    files = tuple(StoredFile(*values) for values in json.loads(row.files))
    return Fragment(
        row.id,
        row.catalog,
        row.population,
        row.extent,
        attribute_columns,
        row.location,
        row.rows,
        sum(file.size for file in files),
        files,
        row.seconds,
        row.stored_at,
        row.stored_by,
        row.used_at,
        row.uses,
        fact_numbers,
        tuple(number for number, holds in fact_states if not holds),
        row.dropped_at,
        row.dropped_by,
        row.dropped_reason,
        row.removed_at,
        row.platform,
    )


def _read_columns(reading: Reading, numbers: Collection[int]) -> dict[int, list[tuple[AttributeIdentity, str]]]:
    """Return identity and column of each attribute, in order, by number of the fragment."""
    columns_by_fragment: dict[int, list[tuple[AttributeIdentity, str]]] = {}
    for batch in split_batches(numbers):
        for fragment, identity, column in reading.connection.execute(fragment_queries.COLUMNS_OF, {"numbers": batch}):
            columns_by_fragment.setdefault(fragment, []).append((identity, column))
    return columns_by_fragment


def _read_facts(reading: Reading, numbers: Collection[int]) -> dict[int, list[tuple[int, bool]]]:
    """Return the facts of fragments, and whether each fact holds, by number of the fragment."""
    facts_by_fragment: dict[int, list[tuple[int, bool]]] = {}
    for batch in split_batches(numbers):
        for fragment, fact, holds in reading.connection.execute(fragment_queries.FACTS_OF, {"numbers": batch}):
            facts_by_fragment.setdefault(fragment, []).append((fact, bool(holds)))
    return facts_by_fragment


def _compute_digest(*content: Any) -> str:  # noqa: ANN401 - JSON
    return content_digest("fragment", list(content))
