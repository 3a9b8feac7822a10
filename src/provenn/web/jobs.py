"""Targets that the server computes: a few at a time, on threads of its own, into files that can be downloaded.

Jobs and their files last as long as the server does, and not all of them: the oldest go when there are many.
"""

import logging
import re
import secrets
import threading
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import Field
from starlette.exceptions import HTTPException

from provenn.archive import Archive
from provenn.archive.serving import note
from provenn.errors import ProvennError, UnknownJobError
from provenn.targets.plan import Plan
from provenn.targets.planning import Missing
from provenn.targets.running import Keep
from provenn.targets.ways import computed_attributes, reused_attributes
from provenn.web.first_rows import FirstRows, first_rows

if TYPE_CHECKING:
    from provenn.spark.progress import Progress

__all__ = ["AT_ONCE", "FORMATS", "Asked", "Format", "Job", "Jobs", "State"]

_LOG = logging.getLogger("provenn.web")

Format = Literal["parquet", "csv", "fits", "votable", "ecsv"]
State = Literal["waiting", "running", "done", "failed", "cancelled"]

FORMATS: Final[dict[Format, tuple[str, str]]] = {
    "parquet": (".parquet", "application/vnd.apache.parquet"),
    "csv": (".csv", "text/csv; charset=utf-8"),
    "fits": (".fits", "application/fits"),
    "votable": (".vot", "application/x-votable+xml"),
    "ecsv": (".ecsv", "text/plain; charset=utf-8"),
}
"""The formats of files: the suffix, and what it is called on the network."""

AT_ONCE = 2
"""How many jobs run at once, whosever they are."""

_MOST = 20
"""How many jobs are kept, and how many may wait or run."""

_UNFIT = re.compile(r'[\x00-\x1f\x7f-\x9f\\/:*?"<>|\s]+')
_DOING = {"verifying": "verifying keys", "storing": "storing what is kept", "writing": "writing the file"}
_DOING |= {"waiting": "waiting for another run, which computes the same"}


@dataclass(frozen=True, slots=True)
class Asked:
    """What a job computes: the parameters of a target, and the format of the file."""

    sources: Annotated[str, Field(min_length=1, max_length=500)]
    attributes: Annotated[tuple[Annotated[str, Field(max_length=500)], ...], Field(min_length=1, max_length=200)]
    where: Annotated[str | None, Field(max_length=2000)] = None
    missing: Missing = "error"
    keep: Keep = "worthwhile"
    format: Format = "parquet"


@dataclass(frozen=True, slots=True)
class Job:
    """A job, as it is now.

    Attributes
    ----------
    id
        By which it is found.
    what, asked, asked_at
        What it computes, in words and as it was asked for, and since when.
    state
        Where it stands.
    cancelling
        Whether it was cancelled, and has not stopped yet.
    ahead
        How many jobs wait before it.
    progress, share
        How far it is, in words; and from 0 to 1, if that is known.
    seconds
        How long it has been running, or ran.
    rows, size, file
        How many rows and bytes the file has, and its name; None and empty until there is one.
    reused, computed
        The names of the attributes of which values come from fragments, and of those of which values are computed.
    saved
        About how many seconds reuse has saved.
    rests_on, doubted
        The declared facts on which the result rests, in words; and what data contradict.
    first
        The first rows.
    error, hint
        Why it failed, and what to do about it.
    """

    id: str
    what: str
    asked: Asked
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

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.state not in ("waiting", "running")


@dataclass(slots=True)
class _Work:
    """A job, and what is needed to carry it out."""

    job: Job
    path: Path
    stop: threading.Event = field(default_factory=threading.Event)
    began: float | None = None
    told: "Progress | None" = None

    def listen(self, progress: "Progress") -> None:
        """Take note of how far it is; stop it, if it is to stop."""
        if self.stop.is_set():
            raise KeyboardInterrupt
        self.told = progress

    def now(self) -> Job:
        """Return the job, as it is now."""
        if self.job.state != "running" or self.began is None:
            return self.job
        job = replace(self.job, seconds=monotonic() - self.began, progress="starting")
        if self.told is None:
            return job
        from provenn.spark.progress_bar import described  # noqa: PLC0415 - pages do without Spark

        told = replace(self.told, what=_DOING.get(self.told.what.split(" ", 1)[0], "computing"))
        return replace(job, progress=described(told), share=told.tasks_done / told.tasks if told.tasks else None)


class Jobs:
    """The jobs of a person who uses a server.

    Parameters
    ----------
    archive
        What they compute from. Spark is started with the first job.
    threads
        Where they run, with those of others.
    """

    def __init__(self, archive: Archive, threads: ThreadPoolExecutor) -> None:
        self._archive = archive
        self._lock = threading.Lock()
        self._works: OrderedDict[str, _Work] = OrderedDict()
        self._threads = threads
        self._folder: TemporaryDirectory[str] | None = None

    def start(self, asked: Asked) -> Job:
        """Have a target computed, as soon as there is room.

        Raises
        ------
        TargetError
            If it cannot be answered; that is seen now.
        HTTPException
            If too many are waiting.
        """
        plan = _target(self._archive, asked).plan()
        with self._lock:
            if sum(not one.job.over for one in self._works.values()) >= _MOST:
                raise HTTPException(429, f"{_MOST} jobs are waiting or running: wait for one, or cancel one")
            if self._folder is None:
                self._folder = TemporaryDirectory(prefix="provenn-jobs-", ignore_cleanup_errors=True)
            number = secrets.token_hex(6)
            job = Job(number, f"{', '.join(asked.attributes)} of {plan.what}", asked, datetime.now(UTC))
            work = _Work(job, Path(self._folder.name) / f"{number}{FORMATS[asked.format][0]}")
            self._works[number] = work
            self._forget()
            self._threads.submit(self._carry_out, work)
        note(self._archive, "run", job.what, f"job {number}")
        return self.job(number)

    def job(self, number: str) -> Job:
        """Return a job, as it is now.

        Raises
        ------
        UnknownJobError
            If there is none.
        """
        with self._lock:
            return self._now(self._work(number))

    def jobs(self) -> tuple[Job, ...]:
        """Return all jobs that are kept, the latest first."""
        with self._lock:
            return tuple(map(self._now, reversed(self._works.values())))

    def cancel(self, number: str) -> Job:
        """Have a job stop, if it has not ended; a job that waits ends at once."""
        with self._lock:
            work = self._work(number)
            if not work.job.over:
                work.stop.set()
                waits = work.began is None
                work.job = replace(work.job, state="cancelled" if waits else "running", cancelling=not waits)
            return self._now(work)

    def data(self, number: str) -> tuple[Job, Path]:
        """Return a job and the file that it has written.

        Raises
        ------
        UnknownJobError
            If there is none.
        """
        with self._lock:
            work = self._work(number)
            if work.job.state != "done":
                raise UnknownJobError(f"the job {number} has no data: it is {work.job.state}")
            job, path = work.job, work.path
        note(self._archive, "download", job.what, f"job {number}")
        return job, path

    def stop(self) -> None:
        """Cancel all jobs."""
        with self._lock:
            for work in self._works.values():
                work.stop.set()

    def close(self) -> None:
        """Cancel all jobs, wait until they and those of others have stopped, and delete their files."""
        self.stop()
        self._threads.shutdown(cancel_futures=True)
        if self._folder is not None:
            self._folder.cleanup()

    # -- inside --------------------------------------------------------------------------------------------------

    def _work(self, number: str) -> _Work:
        if number not in self._works:
            raise UnknownJobError(
                f"there is no job {number[:40]}",
                hint="jobs are forgotten when there are many, and when the server ends",
            )
        return self._works[number]

    def _now(self, work: _Work) -> Job:
        if work.job.state != "waiting":
            return work.now()
        waiting = [one.job.id for one in self._works.values() if one.job.state == "waiting"]
        return replace(work.job, ahead=waiting.index(work.job.id))

    def _forget(self) -> None:
        """Forget the oldest jobs that have ended, and delete their files."""
        ended = [one for one in self._works.values() if one.job.over]
        for work in ended[: max(0, len(self._works) - _MOST)]:
            del self._works[work.job.id]
            work.path.unlink(missing_ok=True)

    def _carry_out(self, work: _Work) -> None:
        """Compute a target. Whatever happens, the job says how it ended."""
        with self._lock:
            if work.stop.is_set():
                work.job = replace(work.job, state="cancelled", cancelling=False)
                return
            work.began = monotonic()
            work.job = replace(work.job, state="running")
        ended: dict[str, Any]
        try:
            ended = self._computed(work)
        except KeyboardInterrupt:
            ended = {"state": "cancelled"}
        except ProvennError as error:
            where = str(work.path)  # the name that the file will have is nobody's business
            ended = {"error": error.message.replace(where, "the file"), "hint": error.hint.replace(where, "the file")}
        except Exception as error:  # noqa: BLE001 - the page says so, and the log says why
            _LOG.error("the job %s failed", work.job.id, exc_info=error)
            ended = {"error": "provenn failed to compute this", "hint": "who runs the server finds out why in its log"}
        with self._lock:
            if work.stop.is_set():
                ended = {"state": "cancelled"}
            if ended.get("state") != "done":
                work.path.unlink(missing_ok=True)
            seconds = monotonic() - work.began
            usual: dict[str, Any] = {"state": "failed", "cancelling": False, "seconds": seconds}
            work.job = replace(work.job, **(usual | ended))

    def _computed(self, work: _Work) -> dict[str, Any]:
        asked = work.job.asked
        archive = self._archive.watched(work.listen, notify=False)
        target = _target(archive, asked)
        plan = target.plan()
        with self._lock:
            work.job = replace(work.job, **_shares(plan))
        done = target.write(work.path, format=asked.format, single=True)
        run = archive.last_run
        told = archive.notices
        return {
            "state": "done",
            "rows": done.rows,
            "size": done.size,
            "file": _file_name(asked),
            "saved": 0.0 if run is None or run.saved is None else run.saved,
            "rests_on": tuple(fact.words for one in told if one.kind == "rests on" for fact in one.facts),
            "doubted": tuple(one.message for one in told if one.kind == "suspended"),
            "first": first_rows(work.path, asked.format),
        }


def _target(archive: Archive, asked: Asked) -> Any:  # noqa: ANN401 - a target
    return archive.target(asked.sources, asked.attributes, where=asked.where, missing=asked.missing, keep=asked.keep)


def _shares(plan: Plan) -> dict[str, Any]:
    """Return what a plan reuses and computes."""
    return {
        "reused": tuple(reused_attributes(plan).values()),
        "computed": tuple(computed_attributes(plan).values()),
    }


def _file_name(asked: Asked) -> str:
    """Return a name for a file that every system takes."""
    return (_UNFIT.sub("_", asked.sources)[:100].strip("._ ") or "target") + FORMATS[asked.format][0]
