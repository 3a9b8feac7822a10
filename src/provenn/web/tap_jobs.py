"""The TAP jobs of a person: queries that wait, run or have ended, with their answers as files.

Like all jobs of the server they are kept in memory and in a temporary folder, until their destruction or until the
server ends. Queries that a client waits for (sync) run in a lane of their own, so that they need not wait for jobs.
"""

import secrets
import shutil
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

from starlette.exceptions import HTTPException

from provenn.archive import Archive
from provenn.data.leftovers import JOBS, clear_job_folders, mark_folder
from provenn.errors import QuotaError, TapError, UnknownJobError
from provenn.hints import Hint
from provenn.tap.answering import QueryRequest, TapAnswer, answer_from_metadata
from provenn.tap.parameters import Parameters, TapQuery
from provenn.tap.served_tables import ServedTable, TableCache
from provenn.tap.service_limits import ServiceLimits
from provenn.tap.uws import UwsJob
from provenn.web.job_threads import JobThreads
from provenn.web.notes import Notes
from provenn.web.quota_limits import Quotas
from provenn.web.tap_running import Annotate, TapWork, keep_notes, limit_rows, run_work

__all__ = ["Services", "TapJobs"]


@dataclass(frozen=True, slots=True)
class Services:
    """What all TAP jobs of the server share: lanes of threads, the writer of notes, quotas and limits.

    Parameters
    ----------
    queued
        The threads of jobs.
    direct
        The threads of queries that clients wait for.
    notes, quotas
        The writer of notes for the audit log, and the quotas of all people.
    limits
        The limits.
    """

    queued: JobThreads
    direct: JobThreads
    notes: Notes
    quotas: Quotas
    limits: ServiceLimits = field(default_factory=ServiceLimits)


class TapJobs:
    """The TAP jobs of a person.

    Parameters
    ----------
    archive
        The archive, as the person sees it.
    services
        What all jobs share.
    owner
        The name of the person in documents; empty on a server without accounts.
    """

    def __init__(self, archive: Archive, services: Services, owner: str = "") -> None:
        self._archive = archive
        self._services = services
        self._owner = owner
        self._tables = TableCache()
        self._changed = threading.Condition()
        self._works: OrderedDict[str, TapWork] = OrderedDict()
        self._folder: TemporaryDirectory[str] | None = None

    @property
    def limits(self) -> ServiceLimits:
        """The limits of the service."""
        return self._services.limits

    def list_tables(self) -> tuple[ServedTable, ...]:
        """Return the tables that the person sees."""
        return self._tables.list_tables(self._archive)

    # -- asking ----------------------------------------------------------------------------------------------------

    def answer_now(self, query: TapQuery) -> TapAnswer | None:
        """Return an answer that needs no data; None if the query must be computed.

        Raises
        ------
        ProvennError
            If the query cannot be parsed, or names what does not exist.
        """
        uploads = {f"tap_upload.{upload.table}".lower(): None for upload in query.uploads}
        request = QueryRequest(query.text, limit_rows(query, self.limits), uploads)  # type: ignore[arg-type] # only names count
        return answer_from_metadata(self._archive, request, self.list_tables())

    def create(
        self,
        parameters: Parameters,
        uploads: Mapping[str, bytes],
        annotate: Annotate = keep_notes,
        *,
        is_direct: bool = False,
    ) -> UwsJob:
        """Create a job that waits for the client to start it.

        Parameters
        ----------
        parameters
            The parameters of the request.
        uploads
            The parts of the request with tables, by their names.
        annotate
            Adds to the notes of an answer.
        is_direct
            Whether a client waits for the answer: then the job is not in the list of jobs.

        Raises
        ------
        HTTPException
            If the person has too many jobs.
        """
        limits = self.limits
        with self._changed:
            self._purge()
            active = sum(not work.job.is_over for work in self._works.values())
            if active >= limits.jobs:
                message = f"{limits.jobs} of your jobs are waiting or running, which is the limit: wait, or abort one"
                raise HTTPException(429, message, {"Retry-After": "10"})
            number = secrets.token_hex(8)
            folder = self._open_folder() / number
            folder.mkdir()
            paths = _write_parts(uploads, folder)
            now = datetime.now(UTC)
            kept = timedelta(seconds=limits.most_seconds if is_direct else limits.kept_seconds)
            run_id = (parameters.find("RUNID") or "")[:200]
            job = UwsJob(number, parameters, self._owner, now, now + kept, limits.seconds, run_id=run_id)
            self._works[number] = TapWork(job, folder, paths, annotate, is_direct=is_direct)
            self._forget()
            return job

    def start(self, number: str, *, is_direct: bool = False, done: Callable[[], None] | None = None) -> UwsJob:
        """Start a job that has not been started yet, as soon as the limits permit.

        Parameters
        ----------
        number
            The job.
        is_direct
            Whether a client waits for the answer.
        done
            Called at the end of the job, on another thread.

        Raises
        ------
        TapError
            If a parameter is missing or invalid.
        QuotaError
            If the quota of the person permits no jobs.
        """
        at_once = self._services.quotas.limit(self._archive.who, "jobs")
        if at_once == 0:
            raise QuotaError(
                "your quota allows no jobs", hint=Hint("see your quotas; the owner can raise them", target="/quota")
            )
        with self._changed:
            work = self._find_work(number)
            if work.job.phase != "PENDING":
                return work.job
            if done is not None:
                work.listeners.append(done)
            self._set(work, phase="QUEUED")
        threads = self._services.direct if is_direct else self._services.queued
        threads.submit(self._archive.who, lambda: self._carry_out(work), at_once)
        subject = (work.job.parameters.find("QUERY") or "")[:200]
        self._services.notes.note_deed(
            "run", subject, f"TAP job {number}", who=self._archive.who, archive=self._archive
        )
        return self.find_job(number)

    # -- jobs --------------------------------------------------------------------------------------------------------

    def find_job(self, number: str) -> UwsJob:
        """Return a job.

        Raises
        ------
        UnknownJobError
            If there is no such job.
        """
        with self._changed:
            self._purge()
            return self._find_work(number).job

    def list_jobs(self) -> tuple[UwsJob, ...]:
        """Return all jobs but those that a client waits for."""
        with self._changed:
            self._purge()
            return tuple(work.job for work in self._works.values() if not work.is_direct)

    def add_listener(self, number: str, listener: Callable[[], None]) -> None:
        """Have a function called whenever the phase of a job changes, on any thread."""
        with self._changed:
            self._find_work(number).listeners.append(listener)

    def change_request(self, number: str, parameters: Parameters, uploads: Mapping[str, bytes]) -> UwsJob:
        """Change parameters of a job that has not been started, and add uploaded parts.

        Raises
        ------
        TapError
            If the job has been started.
        """
        with self._changed:
            work = self._find_work(number)
            if work.job.phase != "PENDING":
                raise TapError(f"the job {number} has been started: its parameters cannot change any more")
            work.uploads = {**work.uploads, **_write_parts(uploads, work.folder)}
            changed = work.job.parameters.replace(parameters)
            work.job = replace(work.job, parameters=changed, run_id=(changed.find("RUNID") or "")[:200])
            return work.job

    def change(self, number: str, *, duration: int | None = None, destruction: datetime | None = None) -> UwsJob:
        """Change how long a job may run, and when it is deleted, within the limits; no seconds mean the most."""
        limits = self.limits
        with self._changed:
            work = self._find_work(number)
            if duration is not None:
                seconds = min(duration or limits.most_seconds, limits.most_seconds)
                if work.until is not None:
                    work.until += seconds - work.job.duration
                work.job = replace(work.job, duration=seconds)
            if destruction is not None:
                latest = datetime.now(UTC) + timedelta(seconds=limits.most_kept_seconds)
                work.job = replace(work.job, destruction=min(destruction, latest))
            return work.job

    def abort(self, number: str) -> UwsJob:
        """Abort a job unless it has ended; a running job stops its work on Spark."""
        with self._changed:
            work = self._find_work(number)
            if not work.job.is_over:
                work.stop.set()
                self._set(work, phase="ABORTED", ended=datetime.now(UTC))
            return work.job

    def delete(self, number: str) -> None:
        """Abort a job, and delete it with its answer and its uploads."""
        with self._changed:
            self._delete(self._find_work(number))

    def open_answer(self, number: str) -> tuple[UwsJob, Path]:
        """Return a job and the file of its answer, and note the download.

        Raises
        ------
        UnknownJobError
            If the job has no answer.
        QuotaError
            If the file exceeds the download quota of the person for today.
        """
        with self._changed:
            work = self._find_work(number)
            job, path = work.job, work.path
        if job.result is None:
            raise UnknownJobError(f"the job {number} has no answer: it is {job.phase}")
        self._services.quotas.check_download(self._archive.who, job.result[1])
        self._services.notes.note_deed("download", f"TAP job {number}", who=self._archive.who, archive=self._archive)
        return job, path

    def count_download(self, size: int) -> None:
        """Count downloaded bytes towards the quota of the person."""
        self._services.quotas.count_download(self._archive.who, size)

    def purge(self) -> None:
        """Delete the jobs whose destruction time has come, with their files; there are at most `limits.jobs`."""
        with self._changed:
            self._purge()

    def stop(self) -> None:
        """Abort all jobs."""
        with self._changed:
            for work in self._works.values():
                work.stop.set()

    def close(self) -> None:
        """Abort all jobs, wait until the jobs of all people have stopped, and delete the files of this person."""
        self.stop()
        self._services.direct.shutdown()
        if self._folder is not None:
            self._folder.cleanup()

    # -- inside ------------------------------------------------------------------------------------------------------

    def _find_work(self, number: str) -> TapWork:
        if number not in self._works:
            raise UnknownJobError(f"there is no job {number[:40]}", hint="jobs are deleted at their destruction time")
        return self._works[number]

    def _open_folder(self) -> Path:
        if self._folder is None:
            clear_job_folders()
            self._folder = TemporaryDirectory(prefix=JOBS, ignore_cleanup_errors=True)
            mark_folder(Path(self._folder.name))
        return Path(self._folder.name)

    def _set(self, work: TapWork, **changes: Any) -> None:  # noqa: ANN401 - fields of a job
        """Change a job, and tell its listeners."""
        work.job = replace(work.job, **changes)
        for listener in work.listeners:
            listener()

    def _delete(self, work: TapWork) -> None:
        if not work.job.is_over:
            work.stop.set()
            self._set(work, phase="ABORTED", ended=datetime.now(UTC))
        self._works.pop(work.job.number, None)
        if work.until is None:  # otherwise the thread deletes the folder when it stops
            shutil.rmtree(work.folder, ignore_errors=True)

    def _purge(self) -> None:
        """Delete the jobs whose destruction time has come."""
        now = datetime.now(UTC)
        for work in [work for work in self._works.values() if work.job.destruction <= now]:
            self._delete(work)

    def _forget(self) -> None:
        """Delete the oldest ended jobs beyond the limit."""
        ended = [work for work in self._works.values() if work.job.is_over]
        for work in ended[: max(0, len(self._works) - self.limits.jobs)]:
            self._delete(work)

    def _carry_out(self, work: TapWork) -> None:
        """Run a job, and record its outcome in any case."""

        def tell_plan(plan: str) -> None:
            with self._changed:
                work.job = replace(work.job, plan=plan)

        if self._begin(work):
            self._end(work, run_work(self._archive, work, self.list_tables, self.limits, tell_plan))

    def _begin(self, work: TapWork) -> bool:
        """Record the start of a job; return False if it was aborted meanwhile."""
        with self._changed:
            if work.job.phase != "QUEUED":
                return False
            work.until = monotonic() + work.job.duration
            self._set(work, phase="EXECUTING", started=datetime.now(UTC))
            return True

    def _end(self, work: TapWork, outcome: dict[str, Any]) -> None:
        """Record the outcome of a job, unless it was aborted meanwhile."""
        with self._changed:
            work.until = None
            is_kept = work.job.phase == "EXECUTING" and outcome["phase"] == "COMPLETED"
            if not is_kept:
                work.path.unlink(missing_ok=True)
            if work.job.phase == "EXECUTING":
                self._set(work, ended=datetime.now(UTC), **outcome)
            if work.job.number not in self._works:
                shutil.rmtree(work.folder, ignore_errors=True)


def _write_parts(uploads: Mapping[str, bytes], folder: Path) -> dict[str, Path]:
    """Write the uploaded parts of a request into files, and return these by the names of the parts."""
    paths = {}
    for part, content in uploads.items():
        paths[part] = folder / f"upload-{secrets.token_hex(4)}"
        paths[part].write_bytes(content)
    return paths
