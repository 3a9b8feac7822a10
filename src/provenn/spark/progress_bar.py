"""Showing progress: a bar on a terminal, a line in a notebook, lines in a log."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TextIO

from provenn.spark.progress import Listener, Progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

__all__ = ["NotebookLine", "PlainLines", "TerminalBar", "default_listener", "described", "listener"]

_SHORT = 0.5
"""Seconds that a run may take without being shown."""


def listener(wanted: bool | Listener | None) -> Listener | None:
    """Return who is told of progress.

    Parameters
    ----------
    wanted
        None or True for what suits where Python runs (`default_listener`), False for nobody, or whom to tell.
    """
    if wanted is None or wanted is True:
        return default_listener()
    return wanted or None


def default_listener() -> Listener | None:
    """Return a bar if there is a terminal, a line in a notebook, and otherwise nothing."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None and hasattr(shell, "kernel"):
        return NotebookLine()
    return TerminalBar() if sys.stderr is not None and sys.stderr.isatty() else None


def described(progress: Progress) -> str:
    """Return progress in words.

    >>> described(Progress("counting bright", 2, 3, 12, 7, 12_250_000, 6.1, 4.4))
    'counting bright: stage 2 of 3, 7 of 12 tasks, 12 250 000 rows read, 6 s, about 4 s left'
    >>> described(Progress("counting bright", 0, 0, 0, 0, None, 95.0, None))
    'counting bright: 1 min 35 s'
    """
    parts = []
    if progress.stages:
        parts.append(f"stage {progress.stage} of {progress.stages}")
        parts.append(f"{progress.tasks_done:,} of {progress.tasks:,} tasks".replace(",", " "))
    if progress.rows:
        parts.append(f"{progress.rows:,} rows read".replace(",", " "))
    parts.append(_duration(progress.elapsed))
    if progress.remaining:
        parts.append(f"about {_duration(progress.remaining)} left")
    return f"{progress.what}: {', '.join(parts)}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _is_over(progress: Progress) -> bool:
    return progress.remaining == 0.0


class PlainLines:
    """Writes a line now and then, for logs.

    Parameters
    ----------
    every
        Seconds between two lines of a run, at least; a shorter run writes nothing.
    stream
        Where to; by default the standard error.
    """

    def __init__(self, every: float = 5.0, stream: TextIO | None = None) -> None:
        self._every = every
        self._stream = stream
        self._written: dict[str, float] = {}

    def __call__(self, progress: Progress) -> None:
        """Write a line, if the last one is old enough; and a last one, if there was one before."""
        if _is_over(progress):
            due = self._written.pop(progress.what, None) is not None
        elif due := progress.elapsed - self._written.get(progress.what, 0.0) >= self._every:
            self._written[progress.what] = progress.elapsed
        if due:
            print(described(progress), file=self._stream or sys.stderr, flush=True)


class TerminalBar:
    """Draws a bar for every run that takes more than a moment, and removes it at its end."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # runs are watched from threads of their own
        self._bars: Bars | None = None
        self._rows: dict[str, TaskID] = {}

    def __call__(self, progress: Progress) -> None:
        """Draw the bar of this run anew."""
        with self._lock:
            if _is_over(progress):
                self._remove(progress.what)
            elif progress.elapsed >= _SHORT:
                self._draw(progress)

    def _draw(self, progress: Progress) -> None:
        if self._bars is None:
            self._bars = _bars()
            self._bars.start()
        if progress.what not in self._rows:
            self._rows[progress.what] = self._bars.add_task("", total=None)
        self._bars.update(
            self._rows[progress.what],
            total=progress.tasks or None,  # without a total the bar pulses
            completed=progress.tasks_done,
            description=described(progress),
        )

    def _remove(self, what: str) -> None:
        row = self._rows.pop(what, None)
        if self._bars is not None and row is not None:
            self._bars.remove_task(row)
            if not self._rows:
                self._bars.stop()
                self._bars = None


def _bars() -> Bars:
    from rich.console import Console  # noqa: PLC0415 - rich is slow to start
    from rich.progress import BarColumn, TextColumn  # noqa: PLC0415
    from rich.progress import Progress as Bars  # noqa: PLC0415

    text = TextColumn("{task.description}", markup=False)
    return Bars(BarColumn(bar_width=24), text, console=Console(stderr=True), transient=True)


class NotebookLine:
    """Shows one line below a cell for every run that takes more than a moment, and rewrites it.

    It needs neither widgets nor rich, whose bars need them in notebooks.
    """

    def __init__(self) -> None:
        self._shown: dict[str, Any] = {}

    def __call__(self, progress: Progress) -> None:
        """Rewrite the line of this run."""
        display: Callable[..., Any] = sys.modules["IPython"].display.display
        handle = self._shown.get(progress.what)
        line = {"text/plain": "" if _is_over(progress) else described(progress)}
        if handle is not None:
            handle.update(line, raw=True)
        elif progress.elapsed >= _SHORT and not _is_over(progress):
            self._shown[progress.what] = display(line, raw=True, display_id=True)
        if _is_over(progress):
            self._shown.pop(progress.what, None)
