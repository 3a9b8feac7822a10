"""The people of a server: each has a view of the archive and separate jobs."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from provenn.archive import Archive
from provenn.tap.service_limits import ServiceLimits
from provenn.web.accounts import get_current_account
from provenn.web.job_threads import JobLimits, JobThreads
from provenn.web.jobs import Jobs
from provenn.web.notes import Notes
from provenn.web.quota_limits import Quotas

if TYPE_CHECKING:
    from provenn.web.tap_jobs import Services, TapJobs

__all__ = ["People"]

_DIRECT: Final = 4
"""How many queries run at once for which clients wait; half of them may be of the same person."""


@dataclass(frozen=True, slots=True)
class _Person:
    archive: Archive
    jobs: Jobs
    tap_jobs: "TapJobs"


class People:
    """Gives the archive and the jobs of the person of the current request.

    Parameters
    ----------
    archive
        The archive, as the operator of the server sees it.
    roots
        The folders that may contain files of base catalogs; None for any folder.
    notes
        Receives notes of the actions of people; by default a new writer of notes.
    limits
        The limits on jobs.
    tap_limits
        The limits of the TAP service.
    """

    def __init__(
        self,
        archive: Archive,
        roots: Sequence[str] | None = None,
        notes: Notes | None = None,
        limits: JobLimits | None = None,
        tap_limits: ServiceLimits | None = None,
    ) -> None:
        self._archive = archive
        self._roots = roots
        self._limits = limits or JobLimits()
        self._tap_limits = tap_limits or ServiceLimits()
        self._lock = threading.Lock()
        self._threads = JobThreads(self._limits)
        everything = archive.as_seen_by(archive.who, confined=False, via="http")
        self.notes = notes or Notes(everything)
        self.quotas = Quotas(everything, self.notes)
        self._people: dict[str | None, _Person] = {}

    @property
    def archive(self) -> Archive:
        """The archive, as the person of the current request sees it."""
        return self._find_person().archive

    @property
    def jobs(self) -> Jobs:
        """The jobs of the person of the current request."""
        return self._find_person().jobs

    @property
    def tap_jobs(self) -> "TapJobs":
        """The TAP jobs of the person of the current request."""
        return self._find_person().tap_jobs

    def purge_jobs(self) -> None:
        """Delete the TAP jobs of all people whose destruction time has come."""
        with self._lock:
            people = list(self._people.values())
        for person in people:
            person.tap_jobs.purge()

    def close(self) -> None:
        """Cancel all jobs, wait until they have stopped, and delete their files."""
        with self._lock:
            people = list(self._people.values())
        for person in people:
            person.jobs.stop()
            person.tap_jobs.stop()
        for person in people:
            person.jobs.close()
            person.tap_jobs.close()
        self._threads.shutdown()
        self.notes.close()

    @cached_property
    def _services(self) -> "Services":
        """What the TAP jobs of all people share."""
        from provenn.web.tap_jobs import Services  # noqa: PLC0415 - a report does without it

        per_client = max(_DIRECT // 2, self._limits.per_client)
        direct = JobThreads(replace(self._limits, at_once=_DIRECT, per_client=per_client))
        return Services(self._threads, direct, self.notes, self.quotas, self._tap_limits)

    def _find_person(self) -> _Person:
        from provenn.web.tap_jobs import TapJobs  # noqa: PLC0415 - see above

        account = get_current_account()
        who = None if account is None else account.who
        with self._lock:
            if who not in self._people:
                visible_archive = self._archive.as_seen_by(
                    self._archive.who if who is None else who,
                    confined=who is not None or self._archive.confined,
                    via="http",
                    roots=self._roots,
                ).deferring(self.notes.defer)
                self._people[who] = _Person(
                    visible_archive,
                    Jobs(visible_archive, self._threads, self.notes, self.quotas, self._limits.kept),
                    TapJobs(visible_archive, self._services, who or ""),
                )
            return self._people[who]
