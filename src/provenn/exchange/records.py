"""What is told to others of catalogs: read from an archive in pages, so that it may hold any number of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from provenn.archive import Archive
from provenn.archive.sentences import sentence
from provenn.archive.words import SHORT
from provenn.catalogs import Base, Catalog, cone
from provenn.store import bases, fragments, names, runs, search
from provenn.store.catalog_store import Entry, entries, get_all, resolve
from provenn.store.database import Reading
from provenn.store.fragments import Fragment
from provenn.store.runs import Run
from provenn.store.search import Filter

__all__ = ["Deed", "Record", "deeds", "records"]

_PAGE = 1000
_MOST_RUNS = 100_000


@dataclass(frozen=True, slots=True)
class Record:
    """A catalog, as others are told of it.

    Parameters
    ----------
    definition
        What it is.
    names
        Its names, sorted.
    what
        What it is, in words.
    made_from
        Its dependencies, each once, with their names.
    location
        Where its files were last seen, if it is a base catalog; otherwise empty.
    created_at, created_by
        When it was defined first, and by whom.
    """

    definition: Catalog
    names: tuple[str, ...]
    what: str
    made_from: tuple[tuple[Catalog, tuple[str, ...]], ...]
    location: str
    created_at: datetime
    created_by: str

    @property
    def digest(self) -> str:
        """The digest of the catalog."""
        return self.definition.digest


@dataclass(frozen=True, slots=True)
class Deed:
    """A run that ended, or a fragment that was stored.

    Parameters
    ----------
    number
        ``"run 7"`` or ``"fragment 3"``: no other deed of the archive has it.
    catalog, names
        The catalog that was computed, and its names.
    by, started_at, ended_at
        Who, and when.
    outcome
        How it ended: ``"done"``, ``"failed"`` or ``"cancelled"``.
    rows, size, files
        How much was computed, as far as that is known.
    """

    number: str
    catalog: Catalog
    names: tuple[str, ...]
    by: str
    started_at: datetime
    ended_at: datetime
    outcome: str
    rows: int | None
    size: int | None = None
    files: int | None = None


def records(archive: Archive, which: str | None = None) -> Iterator[Record]:
    """Yield a catalog and all it is made from, each after its dependencies; or all catalogs, the oldest first."""
    with archive._database.reading() as reading:  # noqa: SLF001 - all of one moment, however long it takes to write
        if which is None:
            start = 0
            while page := search.search(reading, Filter(), sort="oldest", start=start, most=_PAGE):
                yield from _page(reading, page)
                start += len(page)
        else:
            digest = resolve(reading, which)
            whole = cone(get_all(reading, [digest])[digest])
            found = entries(reading, [one.digest for one in whole])
            yield from _page(reading, [found[one.digest] for one in whole])


def _page(reading: Reading, page: Sequence[Entry]) -> Iterator[Record]:
    held = get_all(reading, [one.digest for one in page])
    made = [held[one.digest] for one in page]
    parts = {part.digest for one in made for part in one.dependencies}
    called = names.names_of(reading, {*parts, *(one.digest for one in page)})
    places = bases.all_last_seen(reading, [one.digest for one in made if isinstance(one, Base)])
    for entry, one in zip(page, made, strict=True):
        seen = places.get(one.digest)
        yield Record(
            one,
            entry.names,
            sentence(one, lambda digest: next(iter(called.get(digest, ())), digest[:SHORT])),
            tuple((part, called.get(part.digest, ())) for part in dict.fromkeys(one.dependencies)),
            "" if seen is None else seen.location,
            entry.created_at,
            entry.created_by,
        )


def deeds(archive: Archive, which: str | None = None) -> Iterator[Deed]:
    """Yield the runs that ended and the fragments that are stored: of a catalog and its lineage, or of all catalogs."""
    with archive._database.reading() as reading:  # noqa: SLF001 - as above
        only = None
        if which is not None:
            digest = resolve(reading, which)
            only = {one.digest for one in cone(get_all(reading, [digest])[digest])}
        wanted: list[Run | Fragment] = [one for one in runs.recent(reading, _MOST_RUNS) if one.catalog and one.ended_at]
        wanted.reverse()
        wanted += sorted(fragments.all_fragments(reading), key=lambda one: one.id)
        wanted = [one for one in wanted if only is None or one.catalog in only]
        for start in range(0, len(wanted), _PAGE):
            page = wanted[start : start + _PAGE]
            digests = {one.catalog for one in page if one.catalog is not None}
            made, called = get_all(reading, digests), names.names_of(reading, digests)
            for one in page:
                catalog = made[one.catalog or ""]
                yield _deed(one, catalog, called.get(catalog.digest, ()))


def _deed(one: Run | Fragment, catalog: Catalog, called: tuple[str, ...]) -> Deed:
    if isinstance(one, Fragment):
        at = one.stored_at
        held = (one.rows, one.size, len(one.files))
        return Deed(f"fragment {one.id}", catalog, called, one.stored_by, at, at, "done", *held)
    ended = one.ended_at or one.started_at
    return Deed(f"run {one.id}", catalog, called, one.by, one.started_at, ended, one.outcome or "failed", one.rows)
