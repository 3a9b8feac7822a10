"""Watching and cancelling a run of Spark.

A run is all work of Spark inside `watch_run`, on the thread of the caller. The jobs of a run carry a tag (Spark's *job
tag*, Connect's *operation tag*). By the tag, the jobs of the run are found and cancelled, and no other jobs on the same
Spark.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from provenn.spark.engine import Engine
from provenn.spark.interrupts import Cancel, allow_interrupts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["STARTING", "Listener", "Progress", "report_start", "watch_run"]

STARTING = "starting Spark (about 6 s)"
"""What is reported while Spark starts, with the usual time on two quiet cores and the class archive."""

_INTERVAL = 0.25
"""Seconds between two reports."""

_MEANINGFUL = 1.0
"""Seconds after which the work done so far allows an estimate of the work that remains."""

_PATIENCE = 10.0
"""Seconds in which the last report must be done."""

_INTERRUPT = "spark.job.interruptOnCancel"
_POOL = "spark.scheduler.pool"
_POOLS = 64
"""Runs take turns in as many pools of Spark, which share its cores: a short run does not wait for a long one."""

_numbers = count()


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run. No count decreases during a run, and neither does the share that is done.

    Parameters
    ----------
    what
        The activity.
    stage, stages
        The number of stages that have begun, and of all known stages; Spark may add stages during a run.
    tasks, tasks_done
        The number of tasks of all known stages, and of tasks that are done.
    rows
        The number of rows that have been read, if known.
    elapsed
        Seconds since the run began.
    remaining
        The estimated seconds until the run ends, if the work done so far allows an estimate. The estimate rises only if
        tasks were added.
    share
        The share of the run that is done, between 0 and 1; it stays where it is when tasks are added.
    added
        The number of tasks that were added since the estimate before; they are why an estimate rises.
    """

    what: str
    stage: int
    stages: int
    tasks: int
    tasks_done: int
    rows: int | None
    elapsed: float
    remaining: float | None
    share: float = 0.0
    added: int = 0

    def mark_finished(self) -> Progress:
        """Return this progress with no time remaining, as at the end of the run."""
        return replace(self, remaining=0.0)


Listener = Callable[[Progress], None]


class _StageStatus(NamedTuple):
    """The progress of a stage."""

    begun: bool
    tasks: int
    done: int
    rows: int


_UNKNOWN_STAGE = _StageStatus(begun=True, tasks=0, done=0, rows=0)
_ListStages = Callable[[], list[_StageStatus]]


@contextmanager
def watch_run(engine: Engine, what: str, listener: Listener | None) -> Iterator[None]:
    """Report the progress of Spark in the body, and cancel its jobs if the body is interrupted.

    Parameters
    ----------
    engine
        The engine that computes; it is started now if necessary.
    what
        The activity, as users read it.
    listener
        Called with a `Progress` several times a second from a thread of its own, and once more at the end of the run,
        when, and only when, `remaining` is zero. A `KeyboardInterrupt` from the listener has the effect of Ctrl-C,
        whichever thread runs the body. Other exceptions of the listener are ignored. After any exception the listener
        is not called again.

    Raises
    ------
    KeyboardInterrupt
        If the user or the listener interrupted the run; its jobs have been cancelled.
    """
    tag_run = _tag_operations if engine.is_remote else _tag_jobs
    tag = f"provenn-{uuid4().hex}"
    with tag_run(engine.session, tag) as (list_stages, cancel), allow_interrupts(cancel) as interrupt:
        watcher = None if listener is None else _Watcher(what, listener, list_stages, interrupt)
        try:
            yield
        finally:
            if watcher is not None:
                watcher.finish()


@contextmanager
def report_start(listener: Listener | None) -> Iterator[None]:
    """Report that Spark starts in the body, and for how long it has been starting."""
    if listener is None:
        yield
        return
    watcher = _Watcher(STARTING, listener, list, _ignore_interrupt)
    try:
        yield
    finally:
        watcher.finish()


def _ignore_interrupt() -> None:
    """Do nothing: the start of Spark is not interrupted by a listener, the run after it is."""


class _Watcher:
    """A thread that reports the progress of a run to a listener."""

    def __init__(self, what: str, listener: Listener, list_stages: _ListStages, interrupt: Callable[[], None]) -> None:
        self._listener: Listener | None = listener
        self._list_stages = list_stages
        self._interrupt = interrupt
        self._start = time.monotonic()
        self._last = Progress(what, 0, 0, 0, 0, None, 0.0, None)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name=f"progress of {what}")
        self._thread.start()

    def finish(self) -> None:
        """Report the end of the run, and stop the thread."""
        self._over.set()
        self._thread.join(_PATIENCE)

    def _run(self) -> None:
        while not self._over.wait(_INTERVAL):
            self._report()
        self._report(over=True)

    def _report(self, *, over: bool = False) -> None:
        stages: list[_StageStatus] = []
        with suppress(Exception):  # Spark may have ended; then no stages are known
            stages = self._list_stages()
        elapsed = time.monotonic() - self._start
        progress = self._last = _advance_progress(self._last, stages, elapsed, over=over)
        if self._listener is not None:
            try:
                self._listener(progress)
            except KeyboardInterrupt:
                self._listener = None
                self._interrupt()
            except Exception:  # noqa: BLE001 - an error in a progress bar must not end a night's work
                self._listener = None


def _advance_progress(last: Progress, stages: list[_StageStatus], elapsed: float, *, over: bool = False) -> Progress:
    """Return the progress after `last`, with no count less than before.

    Counts of Spark can decrease: the work of a lost worker is lost, and Spark forgets old stages.
    """
    done = max(last.tasks_done, sum(stage.done for stage in stages))
    tasks = max(last.tasks, done, sum(stage.tasks for stage in stages))
    begun = max(last.stage, sum(stage.begun for stage in stages))
    rows = max(last.rows or 0, sum(stage.rows for stage in stages)) or None
    remaining = elapsed / done * (tasks - done) if done and elapsed >= _MEANINGFUL and done < tasks else None
    added = tasks - last.tasks if last.tasks else 0
    if remaining is not None and last.remaining is not None and not added:
        remaining = min(remaining, last.remaining)
    share = 1.0 if over else max(last.share, done / tasks if tasks else 0.0)
    stages_known = max(last.stages, begun, len(stages))
    left = 0.0 if over else remaining
    return Progress(last.what, begun, stages_known, tasks, done, rows, elapsed, left, share, added)


@contextmanager
def _tag_jobs(session: SparkSession, tag: str) -> Iterator[tuple[_ListStages, Cancel]]:
    """Tag the jobs of this thread, on a Spark without Connect."""
    context = session.sparkContext
    java: Any = context._jsc.sc()  # noqa: SLF001 - Python's own tracker knows neither tags nor rows
    jobs: dict[int, dict[int, _StageStatus]] = {}  # stages by number; what Spark has forgotten stays as last seen
    ended = set()  # jobs whose stages do not change any more

    def list_stages() -> list[_StageStatus]:
        for job in sorted(java.statusTracker().getJobIdsForTag(tag)):
            info = None if job in ended else context.statusTracker().getJobInfo(job)
            if info is None:
                continue
            stages = jobs.setdefault(job, {})
            for number in info.stageIds:
                stages[number] = _read_stage(java, number) or stages.get(number, _UNKNOWN_STAGE)
            if info.status != "RUNNING":
                ended.add(job)
                # Spark skips stages whose results exist already; they count as done.
                jobs[job] = {number: stage._replace(begun=True, done=stage.tasks) for number, stage in stages.items()}
        return [stage for stages in jobs.values() for stage in stages.values()]

    def cancel() -> bool:
        context.cancelJobsWithTag(tag)
        return not set(java.statusTracker().getJobIdsForTag(tag)) & set(context.statusTracker().getActiveJobsIds())

    before = {name: context.getLocalProperty(name) for name in (_INTERRUPT, _POOL)}
    context.addJobTag(tag)
    context.setLocalProperty(_INTERRUPT, "true")  # Python's workers end at once, not after their batch
    if before[_POOL] is None:
        context.setLocalProperty(_POOL, f"provenn-{next(_numbers) % _POOLS}")
    try:
        yield list_stages, cancel
    finally:
        with suppress(Exception):  # Spark may have ended
            context.removeJobTag(tag)
            for name, value in before.items():
                context.setLocalProperty(name, value)  # type: ignore[arg-type] # None removes it


def _read_stage(java: Any, number: int) -> _StageStatus | None:  # noqa: ANN401 - an object of Java
    """Return the progress of a stage, or None if Spark has forgotten it.

    Spark keeps a thousand stages, and drops skipped ones first.
    """
    from py4j.protocol import Py4JJavaError  # noqa: PLC0415 - Spark is slow to import

    try:
        stage = java.statusStore().lastStageAttempt(number)
    except Py4JJavaError:
        return None
    tasks, done = stage.numTasks(), stage.numCompleteTasks()
    return _StageStatus(stage.status().toString() != "PENDING", tasks, min(done, tasks), stage.inputRecords())


@contextmanager
def _tag_operations(session: Any, tag: str) -> Iterator[tuple[_ListStages, Cancel]]:  # noqa: ANN401 - it may not be installed
    """Tag the operations of this thread, on a server of Spark Connect."""
    operations: dict[str | None, list[_StageStatus]] = {}

    def handle_progress(
        stages: Iterable[Any] | None, inflight_tasks: int, operation_id: str | None, done: bool
    ) -> None:
        operations[operation_id] = [
            _StageStatus(
                stage.done or inflight_tasks > 0,
                stage.num_tasks,
                stage.num_tasks if done else stage.num_completed_tasks,
                0,
            )
            for stage in stages or ()
        ]

    def cancel() -> bool:
        return not session.interruptTag(tag)

    session.registerProgressHandler(handle_progress)
    session.addTag(tag)
    try:
        yield lambda: [stage for stages in list(operations.values()) for stage in stages], cancel
    finally:
        with suppress(Exception):
            session.removeTag(tag)
            session.removeProgressHandler(handle_progress)
