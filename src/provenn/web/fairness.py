"""A queue that is fair between people: waiting people take turns, however many entries a person has.

This module is pure. `provenn.web.turns` uses it for questions, `provenn.web.job_threads` for jobs.
"""

from collections import Counter, OrderedDict, deque
from dataclasses import dataclass, field
from typing import Generic, TypeVar

__all__ = ["FairQueue"]

T = TypeVar("T")


@dataclass(slots=True)
class FairQueue(Generic[T]):
    """Entries of many people, served round-robin, a limited number at once.

    >>> queue = FairQueue[str](at_once=2, per_client=1)
    >>> for person, entry in [("ada", "a1"), ("ada", "a2"), ("ada", "a3"), ("ben", "b1")]:
    ...     queue.add(person, entry)
    >>> queue.take(), queue.take(), queue.take()
    (('ada', 'a1'), ('ben', 'b1'), None)
    >>> queue.finish("ada")
    >>> queue.take()
    ('ada', 'a2')

    Parameters
    ----------
    at_once
        How many entries are served at the same time.
    per_client
        How many entries of the same person are served at the same time.
    """

    at_once: int
    per_client: int
    _waiting: OrderedDict[str, deque[T]] = field(default_factory=OrderedDict)
    _served: Counter[str] = field(default_factory=Counter)
    _detached: Counter[str] = field(default_factory=Counter)
    _own: dict[str, int] = field(default_factory=dict)

    def allow(self, person: str, per_client: int | None) -> None:
        """Set a separate limit for a person; None restores the usual limit."""
        if per_client is None:
            self._own.pop(person, None)
        else:
            self._own[person] = per_client

    def add(self, person: str, entry: T) -> None:
        """Put an entry at the end of a person's own line."""
        self._waiting.setdefault(person, deque()).append(entry)

    def remove(self, person: str, entry: T) -> bool:
        """Remove a waiting entry; return False if the entry does not wait (any more)."""
        line = self._waiting.get(person, deque())
        if entry not in line:
            return False
        line.remove(entry)
        if not line:
            del self._waiting[person]
        return True

    def take(self) -> tuple[str, T] | None:
        """Return the next person and entry to serve; None if no entry waits or the limits leave no room."""
        if self._served.total() >= self.at_once:
            return None
        for person in self._waiting:
            if self.count_served(person) < self._own.get(person, self.per_client):
                break
        else:
            return None
        line = self._waiting.pop(person)
        entry = line.popleft()
        if line:
            self._waiting[person] = line  # at the end of the round
        self._served[person] += 1
        return person, entry

    def finish(self, person: str) -> None:
        """Make room: an entry of a person has been served."""
        self._served = self._served - Counter([person])

    def detach(self, person: str) -> None:
        """Make room for other people while abandoned work of a person goes on; the work still counts for the person."""
        self.finish(person)
        self._detached[person] += 1

    def finish_detached(self, person: str) -> None:
        """Forget a detached entry after its end."""
        self._detached = self._detached - Counter([person])

    def count_served(self, person: str) -> int:
        """Return the number of entries of a person that are served now or go on detached."""
        return self._served[person] + self._detached[person]

    def count_waiting(self, person: str | None = None) -> int:
        """Return the number of waiting entries of a person, or of all people for None."""
        if person is not None:
            return len(self._waiting.get(person, ()))
        return sum(map(len, self._waiting.values()))

    def count_ahead(self, person: str, entry: T) -> int:
        """Return the number of waiting entries that round-robin serves before an entry."""
        position = self._waiting[person].index(entry)
        others = [len(line) for other, line in self._waiting.items() if other != person]
        return position + sum(min(length, position + 1) for length in others)
