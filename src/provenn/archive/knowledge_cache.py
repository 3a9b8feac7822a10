"""The knowledge about all catalogs of a population, cached; it grows with the archive where that suffices.

A large population has an index, shared by all viewers and stored in a file. Where there is no index, each viewer has a
knowledge of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from provenn.database.transactions import Database, Reading

if TYPE_CHECKING:
    from provenn.digests import CatalogDigest
    from provenn.knowledge.extent_index import ExtentIndex
    from provenn.knowledge.growing_knowledge import GrowingKnowledge
    from provenn.knowledge.index_files import IndexFiles
    from provenn.logic.knowledge.set_index import SetRelation

__all__ = ["KnowledgeCache"]

T = TypeVar("T")
_Key = tuple[str, str | None, str]

_MOST = 200_000  # catalogs in the cache; a catalog takes about 4 kB

_LEAST_INDEXED = 500  # catalogs of a population with an index
_LEAST_STORED = 2_000  # catalogs of a population with a stored index
_MOST_INDICES = 8
_STORED_AGAIN = 20  # an index is stored again when a twentieth of its catalogs are new
_MORE_OBJECTS = 1_024  # or when it has learned so many objects

_PAUSE = 0.1  # seconds between two checks of the caller's deadline


class KnowledgeCache:
    """The knowledge about whole populations, by person.

    A knowledge answers a single question at a time: threads of the same person take turns, further threads do not wait.
    An index answers a single question at a time, too.

    Parameters
    ----------
    database
        The database whose data folder keeps the indices; by default no index is stored.
    """

    def __init__(self, database: Database | None = None) -> None:
        self._database = database
        self._lock = Lock()
        self._indices: dict[str, ExtentIndex] = {}  # by population; the index used last comes last
        self._asking: dict[_Key, tuple[Lock, int]] = {}
        # By population, viewer and person; the entry used last comes last.
        self._kept: dict[_Key, tuple[object, GrowingKnowledge]] = {}

    def ask(self, reading: Reading, population: str, question: Callable[[GrowingKnowledge], T]) -> T:
        """Answer a question from all knowledge about a population, in the archive state of a transaction.

        Parameters
        ----------
        reading
            The transaction.
        population
            The name of the population.
        question
            Reads the answer from the knowledge; it must neither change the knowledge nor keep a reference to it.
        """
        from provenn.knowledge.growing_knowledge import GrowingKnowledge  # noqa: PLC0415 - a command starts without it
        from provenn.knowledge.stored_facts import read_knowledge_state  # noqa: PLC0415

        now, key = read_knowledge_state(reading), (population, reading.viewer, reading.who)
        with self._turn(key):
            with self._lock:
                seen, growing = self._kept.pop(key, (None, None))
            if growing is None or (seen != now and not growing.grow(reading)):
                growing = None  # free the memory before as much is allocated again
                growing = GrowingKnowledge(reading, population)
            answer = question(growing)
            with self._lock:
                self._keep(key, now, growing)
        return answer

    def find_related(
        self, reading: Reading, population: str, digest: CatalogDigest, relation: SetRelation
    ) -> list[CatalogDigest]:
        """Return the other catalogs in a relation to a catalog that the viewer sees, sorted.

        Parameters
        ----------
        reading
            The transaction.
        population
            The population of the catalog.
        digest
            The catalog, which the viewer sees.
        relation
            The name of a look-up of `Knowledge`.
        """
        from provenn.definitions.populations import count_catalogs_in_population, filter_directly_visible  # noqa: PLC0415

        if count_catalogs_in_population(reading, population) >= _LEAST_INDEXED:
            with self._turn((population, None, "")):
                related = self._ask_index(reading, population, digest, relation)
            if related is not None:
                return filter_directly_visible(reading, population, related)
        return self.ask(
            reading,
            population,
            lambda growing: sorted(growing.catalogs.intersection(getattr(growing.knowledge, relation)(digest))),
        )

    def _ask_index(
        self, reading: Reading, population: str, digest: CatalogDigest, relation: SetRelation
    ) -> list[CatalogDigest] | None:
        """Return the catalogs in a relation to a catalog, by the index; None without an index that can answer."""
        from provenn.knowledge.extent_index import ExtentIndex  # noqa: PLC0415 - a command starts without it
        from provenn.knowledge.stored_facts import read_knowledge_state  # noqa: PLC0415

        files = self._open_files()
        index = self._indices.pop(population, None)
        if index is None and files is not None:
            index = files.load(population)
        if index is None or not index.grow(reading):
            index = ExtentIndex(population)
            index.grow(reading)
        self._indices[population] = index
        while len(self._indices) > _MOST_INDICES:
            del self._indices[next(iter(self._indices))]
        if not index.is_usable or digest not in index.labels:
            return None
        related = index.find_related(reading, read_knowledge_state(reading), digest, relation)
        if files is not None and _is_worth_storing(index):
            files.save(index)
        return related

    def _open_files(self) -> IndexFiles | None:
        from provenn.knowledge.index_files import INDICES, IndexFiles  # noqa: PLC0415 - a command starts without it

        database = self._database
        if database is None or database.fence is None or database.folder is None or not database.folder.is_local:
            return None
        return IndexFiles(Path(database.folder.at(INDICES)), database.fence.epoch, read_only=database.read_only)

    @contextmanager
    def _turn(self, key: _Key) -> Iterator[None]:
        """Wait until no other thread asks for the same viewer and population, or until `deadline` stops the work."""
        from provenn import deadline  # noqa: PLC0415 - a command starts without it

        with self._lock:
            lock, threads = self._asking.get(key, (Lock(), 0))
            self._asking[key] = lock, threads + 1
        try:
            while not lock.acquire(timeout=_PAUSE):
                deadline.check()
            try:
                yield
            finally:
                lock.release()
        finally:
            with self._lock:
                threads = self._asking[key][1] - 1
                if threads:
                    self._asking[key] = lock, threads
                else:
                    del self._asking[key]

    def _keep(self, key: _Key, now: object, growing: GrowingKnowledge) -> None:
        """Cache a knowledge, and drop the oldest entries above the limit."""
        self._kept[key] = now, growing
        while len(self._kept) > 1 and sum(len(kept.knowledge.labels) for _, kept in self._kept.values()) > _MOST:
            del self._kept[next(iter(self._kept))]


def _is_worth_storing(index: ExtentIndex) -> bool:
    """Return whether storing an index saves later processes much time."""
    if index.state.catalogs < _LEAST_STORED:
        return False
    is_outdated = index.new_catalogs * _STORED_AGAIN > index.state.catalogs
    return is_outdated or index.sets.signatures.objects >= index.stored_objects + _MORE_OBJECTS
