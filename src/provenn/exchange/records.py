"""Read catalogs and activities for an export from an archive, in pages, so that any number of catalogs fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Literal

from provenn.archive import Archive
from provenn.batches import split_batches
from provenn.catalogs import Catalog, cone, list_bases
from provenn.data import fragments, run_records
from provenn.data.fragments import Fragment
from provenn.data.run_records import Run
from provenn.database.transactions import Reading
from provenn.definitions import base_locations, catalog_names, search
from provenn.definitions.catalog_store import CatalogEntry, find_entries, get_catalogs, resolve_catalog
from provenn.definitions.search import CatalogFilter
from provenn.words.definition_words import describe_definition, describe_publicly, drop_folder
from provenn.words.vocabulary import SHORT

__all__ = ["Activity", "Record", "read_activities", "read_records"]

_PAGE = 1000


@dataclass(frozen=True, slots=True)
class Record:
    """A catalog in an export.

    Parameters
    ----------
    definition
        The catalog.
    names
        The names of the catalog, sorted.
    description
        A sentence that describes the catalog.
    dependencies
        The dependencies, without repetitions, with their names.
    location
        The last known location of the files of a base catalog; otherwise empty.
    created_at, created_by
        The time of the first definition, and the user.
    """

    definition: Catalog
    names: tuple[str, ...]
    description: str
    dependencies: tuple[tuple[Catalog, tuple[str, ...]], ...]
    location: str
    created_at: datetime
    created_by: str

    @property
    def digest(self) -> str:
        """The digest of the catalog."""
        return self.definition.digest


@dataclass(frozen=True, slots=True)
class Activity:
    """An ended run or a stored fragment.

    Parameters
    ----------
    kind, number
        Whether the activity is a run or a fragment, and its number among these.
    catalog, names
        The computed catalog, and its names.
    user, started_at, ended_at
        The user, the start and the end.
    outcome
        The outcome: ``"done"``, ``"failed"`` or ``"cancelled"``.
    rows, size, files
        The amount of computed data, as far as known.
    """

    kind: Literal["run", "fragment"]
    number: int
    catalog: Catalog
    names: tuple[str, ...]
    user: str
    started_at: datetime
    ended_at: datetime
    outcome: str
    rows: int | None
    size: int | None = None
    files: int | None = None

    @property
    def name(self) -> str:
        """The kind and the number, unique in the archive: ``"run 7"``."""
        return f"{self.kind} {self.number}"


def read_records(archive: Archive, which: str | None = None, *, shows_folders: bool = True) -> Iterator[Record]:
    """Yield a catalog and the lineage, dependencies first; or all catalogs, the oldest first."""
    with archive.context.database.reading() as reading:  # a single snapshot, regardless of how long the export takes
        if which is None:
            start = 0
            while page := search.search_catalogs(reading, CatalogFilter(), sort="oldest", start=start, most=_PAGE):
                yield from _build_records(reading, page, shows_folders)
                start += len(page)
        else:
            digest = resolve_catalog(reading, which)
            whole = cone(get_catalogs(reading, [digest])[digest])
            entries_by_digest = find_entries(reading, [catalog.digest for catalog in whole])
            entries = [entries_by_digest[catalog.digest] for catalog in whole]
            yield from _build_records(reading, entries, shows_folders)


def _build_records(reading: Reading, page: Sequence[CatalogEntry], shows_folders: bool) -> Iterator[Record]:
    """Yield the records of a page of catalogs."""
    describe = describe_definition if shows_folders else describe_publicly
    definitions = get_catalogs(reading, [entry.digest for entry in page])
    catalogs = [definitions[entry.digest] for entry in page]
    parts = {part.digest for catalog in catalogs for part in catalog.dependencies}
    names_by_digest = catalog_names.find_names_by_digest(reading, {*parts, *(entry.digest for entry in page)})
    words: dict[str, str] = {digest: names[0] for digest, names in names_by_digest.items()}
    sightings = base_locations.find_base_locations(reading, [catalog.digest for catalog in list_bases(catalogs)])
    for entry, catalog in zip(page, catalogs, strict=True):
        sighting = sightings.get(catalog.digest)
        yield Record(
            catalog,
            entry.names,
            describe(catalog, lambda digest: words.get(digest, digest[:SHORT])),
            tuple((part, names_by_digest.get(part.digest, ())) for part in dict.fromkeys(catalog.dependencies)),
            "" if sighting is None else sighting.location if shows_folders else drop_folder(sighting.location),
            entry.created_at,
            entry.created_by,
        )


def read_activities(archive: Archive, which: str | None = None) -> Iterator[Activity]:
    """Yield ended runs and stored fragments of a catalog and its lineage, or of all catalogs."""
    with archive.context.database.reading() as reading:  # as above
        lineage = None
        if which is not None:
            digest = resolve_catalog(reading, which)
            lineage = {catalog.digest for catalog in cone(get_catalogs(reading, [digest])[digest])}
        works: Iterator[Run | Fragment] = chain(
            (run for run in run_records.iterate_runs(reading) if run.catalog and run.ended_at),
            sorted(fragments.all_fragments(reading), key=lambda fragment: fragment.id),
        )
        wanted = (work for work in works if lineage is None or work.catalog in lineage)
        for page in split_batches(wanted, _PAGE):
            digests = {work.catalog for work in page if work.catalog is not None}
            catalogs, names_by_digest = (
                get_catalogs(reading, digests),
                catalog_names.find_names_by_digest(reading, digests),
            )
            for work in page:
                assert work.catalog is not None, "runs without a catalog are left out"  # noqa: S101 - for the type checker
                catalog = catalogs[work.catalog]
                yield _build_activity(work, catalog, names_by_digest.get(catalog.digest, ()))


def _build_activity(work: Run | Fragment, catalog: Catalog, catalog_names: tuple[str, ...]) -> Activity:
    """Return a run or a fragment as an activity."""
    if isinstance(work, Fragment):
        at = work.stored_at
        amounts = (work.rows, work.size, len(work.files))
        return Activity("fragment", work.id, catalog, catalog_names, work.stored_by, at, at, "done", *amounts)
    ended = work.ended_at or work.started_at
    return Activity(
        "run", work.id, catalog, catalog_names, work.by, work.started_at, ended, work.outcome or "failed", work.rows
    )
