"""Threads that run jobs: a few at once, fair between people."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from provenn.web.fairness import FairQueue

__all__ = ["JobLimits", "JobThreads"]

JobFunction = Callable[[], None]


@dataclass(frozen=True, slots=True)
class JobLimits:
    """Limits on the number of jobs.

    Parameters
    ----------
    at_once, per_client
        How many jobs run at once, in total and per person.
    kept
        How many jobs of a person are remembered; also the maximum of waiting and running jobs of a person.
    """

    at_once: int = 2
    per_client: int = 1
    kept: int = 20


class JobThreads:
    """Runs the jobs of many people, who take turns.

    Parameters
    ----------
    limits
        How many jobs run at once.
    """

    def __init__(self, limits: JobLimits) -> None:
        self._threads = ThreadPoolExecutor(limits.at_once, "job")
        self._queue: FairQueue[JobFunction] = FairQueue(limits.at_once, limits.per_client)
        self._lock = threading.Lock()

    def submit(self, person: str, job: JobFunction, per_client: int | None = None) -> None:
        """Run a job at the turn of its person; `per_client` replaces the usual limit of running jobs of this person."""
        with self._lock:
            self._queue.allow(person, per_client)
            self._queue.add(person, job)
            self._serve()

    def count_ahead(self, person: str, job: JobFunction) -> int:
        """Return the number of jobs that run before a waiting job; 0 if the job does not wait."""
        with self._lock:
            try:
                return self._queue.count_ahead(person, job)
            except (KeyError, ValueError):
                return 0

    def shutdown(self) -> None:
        """Start no more jobs, and wait for the running jobs."""
        self._threads.shutdown(cancel_futures=True)

    def _serve(self) -> None:
        while (entry := self._queue.take()) is not None:
            try:
                self._threads.submit(self._run, *entry)
            except RuntimeError:  # shut down meanwhile
                return

    def _run(self, person: str, job: JobFunction) -> None:
        try:
            job()
        finally:
            with self._lock:
                self._queue.finish(person)
                self._serve()
