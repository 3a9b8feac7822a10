"""Jobs: targets that the server computes on background threads, into files for download.

Jobs and their files are deleted when the server ends; when there are many, the oldest are deleted earlier.
"""

import logging
import re
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import Field
from starlette.exceptions import HTTPException

from provenn import deadline
from provenn.archive import Archive
from provenn.data.leftovers import JOBS, clear_job_folders, mark_folder
from provenn.errors import ProvennError, QuotaError, UnknownJobError
from provenn.files.suffixes import choose_suffix
from provenn.hints import Hint, find_page_target, phrase_for_page
from provenn.targets.keeping import Keep
from provenn.targets.plan import Plan
from provenn.targets.planning import Missing
from provenn.targets.ways import find_computed_attributes, find_reused_attributes
from provenn.web.first_rows import FirstRows, read_first_rows
from provenn.web.job_threads import JobThreads
from provenn.web.notes import Notes
from provenn.web.quota_limits import Quotas

if TYPE_CHECKING:
    from provenn.spark.progress import Progress

__all__ = ["FORMATS", "Format", "JobRequest", "Jobs", "State", "TargetJob"]

_LOG = logging.getLogger("provenn.web")

Format = Literal["parquet", "csv", "fits", "votable", "ecsv"]
State = Literal["waiting", "running", "done", "failed", "cancelled"]

FORMATS: Final[dict[Format, tuple[str, str]]] = {
    "parquet": (choose_suffix("parquet"), "application/vnd.apache.parquet"),
    "csv": (choose_suffix("csv"), "text/csv; charset=utf-8"),
    "fits": (choose_suffix("fits"), "application/fits"),
    "votable": (choose_suffix("votable"), "application/x-votable+xml"),
    "ecsv": (choose_suffix("ecsv"), "text/plain; charset=utf-8"),
}
"""The suffix and the media type of each file format."""

_UNFIT = re.compile(r'[\x00-\x1f\x7f-\x9f\\/:*?"<>|\s]+')
_DOING = {
    "starting": "starting Spark (about 6 s)",
    "verifying": "verifying keys",
    "storing": "storing results",
    "writing": "writing the file",
}
_DOING |= {"waiting": "waiting for another run that computes the same", "starting": "starting Spark (about 6 s)"}


@dataclass(frozen=True, slots=True)
class JobRequest:
    """A request for a job: the parameters of a target, and the format of the file."""

    sources: Annotated[str, Field(min_length=1, max_length=500)]
    attributes: Annotated[tuple[Annotated[str, Field(max_length=500)], ...], Field(min_length=1, max_length=200)]
    where: Annotated[str | None, Field(max_length=2000)] = None
    missing: Missing = "error"
    keep: Keep = "worthwhile"
    format: Format = "parquet"


@dataclass(frozen=True, slots=True)
class TargetJob:
    """The current state of a job.

    Attributes
    ----------
    id
        The identifier of the job.
    what, asked, asked_at
        The target in words, the request, and the time of the request.
    state
        The state of the job.
    cancelling
        Whether the job was cancelled, but still runs.
    ahead
        How many jobs wait before this job.
    progress, share
        The progress in words, and as a share from 0 to 1 if known.
    seconds
        The running time in seconds, so far or in total.
    rows, size, file
        The number of rows and bytes of the file, and its name; None and empty until the file exists.
    reused, computed
        The names of the attributes with values from fragments, and of the attributes with computed values.
    saved
        The approximate number of seconds saved by reuse.
    rests_on, doubted
        The declared facts on which the result rests, in words; and the facts that data contradict.
    first
        The first rows.
    error, hint, target
        The reason of a failure, what to do about it, and the page that the hint leads to, as a path.
    """

    id: str
    what: str
    asked: JobRequest
    asked_at: datetime
    state: State = "waiting"
    cancelling: bool = False
    ahead: int = 0
    progress: str = ""
    share: float | None = None
    seconds: float | None = None
    rows: int | None = None
    size: int | None = None
    file: str = ""
    reused: tuple[str, ...] = ()
    computed: tuple[str, ...] = ()
    saved: float = 0.0
    rests_on: tuple[str, ...] = ()
    doubted: tuple[str, ...] = ()
    first: FirstRows = field(default_factory=FirstRows)
    error: str = ""
    hint: str = ""
    target: str = ""

    @property
    def is_over(self) -> bool:
        """Whether the job has ended."""
        return self.state not in ("waiting", "running")


@dataclass(slots=True)
class _Work:
    """A job with the file, the function and the stop signal for the work."""

    job: TargetJob
    path: Path
    run: Callable[[], None] = lambda: None
    stop: threading.Event = field(default_factory=threading.Event)
    began: float | None = None
    last_progress: "Progress | None" = None

    def listen(self, progress: "Progress") -> None:
        """Remember the progress of the job; raise KeyboardInterrupt if the job was cancelled."""
        if self.stop.is_set():
            raise KeyboardInterrupt
        self.last_progress = progress

    def describe_now(self) -> TargetJob:
        """Return the job with its current running time and progress."""
        if self.job.state != "running" or self.began is None:
            return self.job
        job = replace(self.job, seconds=monotonic() - self.began, progress="starting")
        if self.last_progress is None:
            return job
        from provenn.spark.progress_bar import describe_progress  # noqa: PLC0415 - pages do without Spark

        activity = _DOING.get(self.last_progress.what.split(" ", 1)[0], "computing")
        progress = replace(self.last_progress, what=activity)
        share = progress.share if progress.tasks else None
        return replace(job, progress=describe_progress(progress), share=share)


class Jobs:
    """The jobs of a person.

    Parameters
    ----------
    archive
        The archive, as the person sees it. The first job starts Spark.
    threads
        The threads that run the jobs of all people.
    notes
        Receives notes of runs and downloads for the audit log.
    quotas
        The quotas of all people.
    kept
        How many jobs are remembered; also the maximum of waiting and running jobs.
    """

    def __init__(self, archive: Archive, threads: JobThreads, notes: Notes, quotas: Quotas, kept: int = 20) -> None:
        self._archive = archive
        self._notes = notes
        self._quotas = quotas
        self._kept = kept
        self._lock = threading.Lock()
        self._works: OrderedDict[str, _Work] = OrderedDict()
        self._threads = threads
        self._folder: TemporaryDirectory[str] | None = None

    def start(self, asked: JobRequest) -> TargetJob:
        """Start a job as soon as the limits permit.

        Raises
        ------
        TargetError
            If the target has no plan; the plan is made before the job starts.
        HTTPException
            If too many jobs wait or run.
        QuotaError
            If the quota of the person permits no jobs.
        """
        at_once = self._quotas.limit(self._archive.who, "jobs")
        if at_once == 0:
            raise QuotaError(
                "your quota allows no jobs", hint=Hint("see your quotas; the owner can raise them", target="/quota")
            )
        plan = _make_target(self._archive, asked).plan()
        with self._lock:
            if sum(not work.job.is_over for work in self._works.values()) >= self._kept:
                limit = (
                    f"{self._kept} of your jobs are waiting or running, which is the limit: wait for one, or cancel one"
                )
                raise HTTPException(429, limit, {"Retry-After": "10"})
            if self._folder is None:
                clear_job_folders()
                self._folder = TemporaryDirectory(prefix=JOBS, ignore_cleanup_errors=True)
                mark_folder(Path(self._folder.name))
            number = secrets.token_hex(6)
            job = TargetJob(number, f"{', '.join(asked.attributes)} of {plan.what}", asked, datetime.now(UTC))
            work = _Work(job, Path(self._folder.name) / f"{number}{FORMATS[asked.format][0]}")
            self._works[number] = work
            self._forget()
            work.run = partial(self._carry_out, work)
            self._threads.submit(self._archive.who, work.run, at_once)
        self._notes.note_deed("run", job.what, f"job {number}", who=self._archive.who, archive=self._archive)
        return self.find_job(number)

    def find_job(self, number: str) -> TargetJob:
        """Return the current state of a job.

        Raises
        ------
        UnknownJobError
            If no such job is remembered.
        """
        with self._lock:
            return self._describe_now(self._find_work(number))

    def list_jobs(self) -> tuple[TargetJob, ...]:
        """Return all remembered jobs, the latest first."""
        with self._lock:
            return tuple(map(self._describe_now, reversed(self._works.values())))

    def cancel(self, number: str) -> TargetJob:
        """Cancel a job unless it has ended; a waiting job ends at once."""
        with self._lock:
            work = self._find_work(number)
            if not work.job.is_over:
                work.stop.set()
                waits = work.began is None
                work.job = replace(work.job, state="cancelled" if waits else "running", cancelling=not waits)
            return self._describe_now(work)

    def open_data(self, number: str) -> tuple[TargetJob, Path]:
        """Return a job and the path of its file, and note the download.

        Raises
        ------
        UnknownJobError
            If no such job is remembered, or the job has no file.
        QuotaError
            If the file exceeds the download quota of the person for today.
        """
        with self._lock:
            work = self._find_work(number)
            if work.job.state != "done":
                raise UnknownJobError(f"the job {number} has no data: it is {work.job.state}")
            job, path = work.job, work.path
        self._quotas.check_download(self._archive.who, job.size or 0)
        self._notes.note_deed("download", job.what, f"job {number}", who=self._archive.who, archive=self._archive)
        return job, path

    def count_download(self, size: int) -> None:
        """Count downloaded bytes towards the quota of the person."""
        self._quotas.count_download(self._archive.who, size)

    def stop(self) -> None:
        """Cancel all jobs."""
        with self._lock:
            for work in self._works.values():
                work.stop.set()

    def close(self) -> None:
        """Cancel all jobs, wait until the jobs of all people have stopped, and delete the files of this person."""
        self.stop()
        self._threads.shutdown()
        if self._folder is not None:
            self._folder.cleanup()

    # -- inside --------------------------------------------------------------------------------------------------

    def _find_work(self, number: str) -> _Work:
        if number not in self._works:
            raise UnknownJobError(
                f"there is no job {number[:40]}",
                hint=Hint("old jobs are removed, and all jobs when the server stops: see your jobs", target="/jobs"),
            )
        return self._works[number]

    def _describe_now(self, work: _Work) -> TargetJob:
        if work.job.state != "waiting":
            return work.describe_now()
        return replace(work.job, ahead=self._threads.count_ahead(self._archive.who, work.run))

    def _forget(self) -> None:
        """Forget the oldest ended jobs, and delete their files."""
        ended = [work for work in self._works.values() if work.job.is_over]
        for work in ended[: max(0, len(self._works) - self._kept)]:
            del self._works[work.job.id]
            work.path.unlink(missing_ok=True)

    def _carry_out(self, work: _Work) -> None:
        """Run a job, and record its outcome in any case."""
        with self._lock:
            if work.stop.is_set():
                work.job = replace(work.job, state="cancelled", cancelling=False)
                return
            work.began = monotonic()
            work.job = replace(work.job, state="running")
        ended: dict[str, Any]
        try:
            with deadline.limit(work.stop.is_set):
                ended = self._compute(work)
        except KeyboardInterrupt:
            ended = {"state": "cancelled"}
        except ProvennError as error:
            where = str(work.path)  # the path on the server stays private
            ended = {
                "error": error.message.replace(where, "the file"),
                "hint": phrase_for_page(error.hint).replace(where, "the file"),
                "target": find_page_target(error.hint),
            }
        except Exception as error:  # noqa: BLE001 - the page reports the failure, and the log its reason
            _LOG.error("the job %s failed", work.job.id, exc_info=error)
            ended = {
                "error": "the server failed to compute this",
                "hint": "the administrator finds the reason in the log of the server",
            }
        with self._lock:
            if work.stop.is_set():
                ended = {"state": "cancelled"}
            if ended.get("state") != "done":
                work.path.unlink(missing_ok=True)
            seconds = monotonic() - work.began
            usual: dict[str, Any] = {"state": "failed", "cancelling": False, "seconds": seconds}
            work.job = replace(work.job, **(usual | ended))

    def _compute(self, work: _Work) -> dict[str, Any]:
        asked = work.job.asked
        archive = self._archive.watched(work.listen, notify=False)
        target = _make_target(archive, asked)
        plan = target.plan()
        with self._lock:
            work.job = replace(work.job, **_list_attributes(plan))
        result = target.write(work.path, format=asked.format, single=True)
        run = archive.last_run
        notices = archive.notices
        return {
            "state": "done",
            "rows": result.rows,
            "size": result.size,
            "file": _make_file_name(asked),
            "saved": 0.0 if run is None or run.saved is None else run.saved,
            "rests_on": tuple(fact.words for notice in notices if notice.kind == "rests on" for fact in notice.facts),
            "doubted": tuple(notice.message for notice in notices if notice.kind == "suspended"),
            "first": read_first_rows(work.path, asked.format),
        }


def _make_target(archive: Archive, asked: JobRequest) -> Any:  # noqa: ANN401 - a target
    return archive.target(asked.sources, asked.attributes, where=asked.where, missing=asked.missing, keep=asked.keep)


def _list_attributes(plan: Plan) -> dict[str, Any]:
    """Return the names of the attributes that a plan reuses and computes, as fields of a job."""
    return {
        "reused": tuple(find_reused_attributes(plan).values()),
        "computed": tuple(find_computed_attributes(plan).values()),
    }


def _make_file_name(asked: JobRequest) -> str:
    """Return a file name that is valid on every operating system."""
    return (_UNFIT.sub("_", asked.sources)[:100].strip("._ ") or "target") + FORMATS[asked.format][0]
