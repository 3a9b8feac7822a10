"""Watching what Spark does, and stopping it.

A run is everything that Spark computes inside `watched`, on the thread that entered it: it carries a tag (Spark's
*job tag*, Connect's *operation tag*) by which it is found and cancelled, so that nothing else on the same Spark is.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from provenn.spark.engine import Engine
from provenn.spark.interrupts import Cancel, interruptible

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Listener", "Progress", "watched"]

_EVERY = 0.25
"""Seconds between two looks."""

_MEANINGFUL = 1.0
"""Seconds after which what was done says something about what remains."""

_PATIENCE = 10.0
"""Seconds in which the last look must be done."""

_INTERRUPT = "spark.job.interruptOnCancel"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is. From one to the next of a run, no count goes back.

    Parameters
    ----------
    what
        What is done.
    stage, stages
        How many stages have begun, and how many are known of; Spark may find more on its way.
    tasks, tasks_done
        How many tasks the stages have that are known of, and how many are done.
    rows
        How many rows have been read, if that is known.
    elapsed
        Seconds since the run began.
    remaining
        Seconds that it may still take, if what was done says anything about that.
    """

    what: str
    stage: int
    stages: int
    tasks: int
    tasks_done: int
    rows: int | None
    elapsed: float
    remaining: float | None

    def finished(self) -> Progress:
        """Return the progress that says that nothing remains."""
        return replace(self, remaining=0.0)


Listener = Callable[[Progress], None]


class _Stage(NamedTuple):
    """What Spark has done of a stage."""

    begun: bool
    tasks: int
    done: int
    rows: int


_Look = Callable[[], list[_Stage]]


@contextmanager
def watched(engine: Engine, what: str, listener: Listener | None) -> Iterator[None]:
    """Watch what Spark computes in the body, and cancel it if the body is interrupted.

    Parameters
    ----------
    engine
        Where it is computed; started now, if it was not yet.
    what
        What is done, for people.
    listener
        Called with a `Progress` several times a second, from a thread of its own, and at the end of the run once
        more: `remaining` is zero then, and only then. If it raises `KeyboardInterrupt`, that is as if the user had
        pressed Ctrl-C, whichever thread the body runs on. What else it raises is ignored; either way it is not called
        again.

    Raises
    ------
    KeyboardInterrupt
        Which the user, or the listener, raised: the jobs have been cancelled.
    """
    tagged = _tagged_connect if engine.remote else _tagged
    with tagged(engine.session, f"provenn-{uuid4().hex}") as (look, cancel), interruptible(cancel) as interrupt:
        watcher = None if listener is None else _Watcher(what, listener, look, interrupt)
        try:
            yield
        finally:
            if watcher is not None:
                watcher.finish()


class _Watcher:
    """A thread that looks, and tells a listener what it saw."""

    def __init__(self, what: str, listener: Listener, look: _Look, interrupt: Callable[[], None]) -> None:
        self._listener: Listener | None = listener
        self._look = look
        self._interrupt = interrupt
        self._start = time.monotonic()
        self._last = Progress(what, 0, 0, 0, 0, None, 0.0, None)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name=f"progress of {what}")
        self._thread.start()

    def finish(self) -> None:
        """Tell how it ended, and stop."""
        self._over.set()
        self._thread.join(_PATIENCE)

    def _run(self) -> None:
        while not self._over.wait(_EVERY):
            self._tell()
        self._tell(over=True)

    def _tell(self, *, over: bool = False) -> None:
        stages: list[_Stage] = []
        with suppress(Exception):  # Spark may have ended; then nothing is known
            stages = self._look()
        now = self._last = _advanced(self._last, stages, time.monotonic() - self._start, over=over)
        if self._listener is not None:
            try:
                self._listener(now)
            except KeyboardInterrupt:
                self._listener = None
                self._interrupt()
            except Exception:  # noqa: BLE001 - a bar that cannot be drawn must not end a night's work
                self._listener = None


def _advanced(last: Progress, stages: list[_Stage], elapsed: float, *, over: bool = False) -> Progress:
    """Return what is told after `last`: what was seen, but nothing less than before.

    A worker that is lost takes what it has done with it, and Spark forgets old stages.
    """
    done = max(last.tasks_done, sum(stage.done for stage in stages))
    tasks = max(last.tasks, done, sum(stage.tasks for stage in stages))
    begun = max(last.stage, sum(stage.begun for stage in stages))
    rows = max(last.rows or 0, sum(stage.rows for stage in stages)) or None
    remaining = elapsed / done * (tasks - done) if done and elapsed >= _MEANINGFUL and done < tasks else None
    return Progress(
        last.what, begun, max(last.stages, begun, len(stages)), tasks, done, rows, elapsed, 0.0 if over else remaining
    )


@contextmanager
def _tagged(session: SparkSession, tag: str) -> Iterator[tuple[_Look, Cancel]]:
    """Tag the jobs of this thread, in this process's own Spark."""
    context = session.sparkContext
    java: Any = context._jsc.sc()  # noqa: SLF001 - Python's own tracker knows neither tags nor rows
    ended: dict[int, list[_Stage]] = {}  # what is over needs not be looked at again

    def look() -> list[_Stage]:
        stages = []
        for job in sorted(java.statusTracker().getJobIdsForTag(tag)):
            if job not in ended:
                info = context.statusTracker().getJobInfo(job)
                seen = [] if info is None else [_stage(java, stage) for stage in info.stageIds]
                if info is not None and info.status == "RUNNING":
                    stages += seen
                    continue
                # Stages that were not needed, as their results were there, count as done.
                ended[job] = [stage._replace(begun=True, done=stage.tasks) for stage in seen]
            stages += ended[job]
        return stages

    def cancel() -> bool:
        context.cancelJobsWithTag(tag)
        return not set(java.statusTracker().getJobIdsForTag(tag)) & set(context.statusTracker().getActiveJobsIds())

    before = context.getLocalProperty(_INTERRUPT)
    context.addJobTag(tag)
    context.setLocalProperty(_INTERRUPT, "true")  # Python's workers end at once, not after their batch
    try:
        yield look, cancel
    finally:
        with suppress(Exception):  # of a Spark that has ended
            context.removeJobTag(tag)
            context.setLocalProperty(_INTERRUPT, before)  # type: ignore[arg-type] # None removes it


def _stage(java: Any, number: int) -> _Stage:  # noqa: ANN401 - an object of Java
    stage = java.statusStore().lastStageAttempt(number)
    tasks, done = stage.numTasks(), stage.numCompleteTasks()
    return _Stage(stage.status().toString() != "PENDING", tasks, min(done, tasks), stage.inputRecords())


@contextmanager
def _tagged_connect(session: Any, tag: str) -> Iterator[tuple[_Look, Cancel]]:  # noqa: ANN401 - it may not be installed
    """Tag the operations of this thread, on a server."""
    seen: dict[str | None, list[_Stage]] = {}

    def handler(stages: Iterable[Any] | None, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
        seen[operation_id] = [
            _Stage(one.done or inflight_tasks > 0, one.num_tasks, one.num_tasks if done else one.num_completed_tasks, 0)
            for one in stages or ()
        ]

    def cancel() -> bool:
        return not session.interruptTag(tag)

    session.registerProgressHandler(handler)
    session.addTag(tag)
    try:
        yield lambda: [stage for stages in list(seen.values()) for stage in stages], cancel
    finally:
        with suppress(Exception):
            session.removeTag(tag)
            session.removeProgressHandler(handler)
