"""What is known of all catalogs of a population, kept for the next question while nothing is added."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TypeVar

from provenn.logic import Knowledge
from provenn.store.database import Reading
from provenn.store.facts import state, whole_population
from provenn.store.knowledge import knowledge_of

__all__ = ["Everything"]

T = TypeVar("T")
_Key = tuple[str, str | None, str]

_MOST = 200_000  # as many catalogs are kept; they take about 4 kB each


class Everything:
    """What is known of whole populations. Threads take turns, as one knowledge answers one question at a time."""

    def __init__(self) -> None:
        self._lock = Lock()
        # By population, and who looks and asks; what was used last comes last.
        self._kept: dict[_Key, tuple[object, Knowledge]] = {}

    def ask(self, reading: Reading, population: str, question: Callable[[Knowledge], T]) -> T:
        """Ask something of all that is known of a population in the state of the archive that a transaction sees.

        Parameters
        ----------
        reading
            The transaction.
        population
            The name of the population.
        question
            Asks it; it must keep nothing of the knowledge.
        """
        now, key = state(reading), (population, reading.viewer, reading.who)
        with self._lock:
            seen, knowledge = self._kept.pop(key, (None, None))
            if knowledge is None or seen != now:
                knowledge = None  # free before as much is made again
                knowledge = knowledge_of(*whole_population(reading, population)).knowledge
            self._keep(key, now, knowledge)
            return question(knowledge)

    def _keep(self, key: _Key, now: object, knowledge: Knowledge) -> None:
        self._kept[key] = now, knowledge
        while len(self._kept) > 1 and sum(len(one.labels) for _, one in self._kept.values()) > _MOST:
            del self._kept[next(iter(self._kept))]
