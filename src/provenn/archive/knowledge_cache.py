"""The knowledge about all catalogs of a population, cached; it grows with the archive where that suffices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from provenn.database.transactions import Reading

if TYPE_CHECKING:
    from provenn.knowledge.growing_knowledge import GrowingKnowledge

__all__ = ["KnowledgeCache"]

T = TypeVar("T")
_Key = tuple[str, str | None, str]

_MOST = 200_000  # catalogs in the cache; a catalog takes about 4 kB

_PAUSE = 0.1  # seconds between two checks of the caller's deadline


class KnowledgeCache:
    """The knowledge about whole populations, by person.

    A knowledge answers a single question at a time: threads of the same person take turns, further threads do not wait.
    """

    def __init__(self) -> None:
        self._lock = Lock()
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
