"""What each person who uses the server sees and runs: an archive as they see it, and jobs of their own."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from provenn.archive import Archive
from provenn.web.accounts import current
from provenn.web.jobs import AT_ONCE, Jobs

__all__ = ["People"]


@dataclass(frozen=True, slots=True)
class _Person:
    archive: Archive
    jobs: Jobs


class People:
    """The archive and the jobs of who asks.

    Parameters
    ----------
    archive
        The archive, as who runs the server sees it.
    roots
        Where files of base catalogs may lie; None for anywhere.
    """

    def __init__(self, archive: Archive, roots: Sequence[str] | None = None) -> None:
        self._archive = archive
        self._roots = roots
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(AT_ONCE, "job")
        self._known: dict[str | None, _Person] = {}

    @property
    def archive(self) -> Archive:
        """The archive, as who asks sees it."""
        return self._person().archive

    @property
    def jobs(self) -> Jobs:
        """The jobs of who asks, and of nobody else."""
        return self._person().jobs

    def close(self) -> None:
        """Cancel all jobs, wait until they have stopped, and delete their files."""
        with self._lock:
            people = list(self._known.values())
        for one in people:
            one.jobs.stop()
        for one in people:
            one.jobs.close()
        self._threads.shutdown(cancel_futures=True)

    def _person(self) -> _Person:
        account = current()
        who = None if account is None else account.who
        with self._lock:
            if who not in self._known:
                seen = self._archive.as_seen_by(
                    self._archive.who if who is None else who,
                    confined=who is not None or self._archive.confined,
                    via="http",
                    roots=self._roots,
                )
                self._known[who] = _Person(seen, Jobs(seen, self._threads))
            return self._known[who]
