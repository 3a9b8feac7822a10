"""The knowledge about all catalogs of a population, cached until the archive changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TypeVar

from provenn import deadline
from provenn.database.transactions import Reading
from provenn.knowledge.consequences import build_knowledge
from provenn.knowledge.stored_facts import read_knowledge_state, read_whole_population
from provenn.logic import Knowledge

__all__ = ["KnowledgeCache"]

T = TypeVar("T")
_Key = tuple[str, str | None, str]

_MOST = 200_000  # catalogs in the cache; a catalog takes about 4 kB

_PAUSE = 0.1  # seconds between two checks of the caller's deadline


class KnowledgeCache:
    """The knowledge about whole populations, by person.

    A knowledge answers one question at a time: threads of the same person take turns, other threads do not wait.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._asking: dict[_Key, tuple[Lock, int]] = {}
        # By population, viewer and person; the entry used last comes last.
        self._kept: dict[_Key, tuple[object, Knowledge]] = {}

    def ask(self, reading: Reading, population: str, question: Callable[[Knowledge], T]) -> T:
        """Answer a question from all knowledge about a population, in the archive state that a transaction sees.

        Parameters
        ----------
        reading
            The transaction.
        population
            The name of the population.
        question
            Reads the answer from the knowledge; it must keep no reference to the knowledge.
        """
        now, key = read_knowledge_state(reading), (population, reading.viewer, reading.who)
        with self._turn(key):
            with self._lock:
                seen, knowledge = self._kept.pop(key, (None, None))
            if knowledge is None or seen != now:
                knowledge = None  # free the memory before as much is allocated again
                knowledge = build_knowledge(*read_whole_population(reading, population)).knowledge
            answer = question(knowledge)
            with self._lock:
                self._keep(key, now, knowledge)
        return answer

    @contextmanager
    def _turn(self, key: _Key) -> Iterator[None]:
        """Wait until no other thread asks for the same viewer and population, or until `deadline` stops the work."""
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

    def _keep(self, key: _Key, now: object, knowledge: Knowledge) -> None:
        """Cache a knowledge, and drop the oldest entries above the limit."""
        self._kept[key] = now, knowledge
        while (
            len(self._kept) > 1 and sum(len(kept_knowledge.labels) for _, kept_knowledge in self._kept.values()) > _MOST
        ):
            del self._kept[next(iter(self._kept))]
