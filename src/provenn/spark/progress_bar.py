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

__all__ = [
    "NotebookLine",
    "PlainLines",
    "TerminalBar",
    "choose_default_listener",
    "choose_listener",
    "describe_progress",
]

_SHORT = 0.5
"""Seconds that a run may take before it is shown."""


def choose_listener(wanted: bool | Listener | None) -> Listener | None:
    """Return the listener that receives progress, or None.

    Parameters
    ----------
    wanted
        A listener; None or True for the usual one (`choose_default_listener`); False for none.
    """
    if wanted is None or wanted is True:
        return choose_default_listener()
    return wanted or None


def choose_default_listener() -> Listener | None:
    """Return a bar if there is a terminal, a line in a notebook, and otherwise None."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None and hasattr(shell, "kernel"):
        return NotebookLine()
    return TerminalBar() if sys.stderr is not None and sys.stderr.isatty() else None


def describe_progress(progress: Progress) -> str:
    """Return progress in words.

    >>> describe_progress(Progress("counting bright", 2, 3, 12, 7, 12_250_000, 6.1, 4.4))
    'counting bright: stage 2 of 3, 7 of 12 tasks, 12,250,000 rows read, 6 s, about 4 s left'
    >>> describe_progress(Progress("counting bright", 0, 0, 0, 0, None, 95.0, None))
    'counting bright: 1 min 35 s'
    """
    parts = []
    if progress.stages:
        parts.append(f"stage {progress.stage} of {progress.stages}")
        parts.append(f"{progress.tasks_done:,} of {progress.tasks:,} tasks")
    if progress.rows:
        parts.append(f"{progress.rows:,} rows read")
    parts.append(_format_duration(progress.elapsed))
    if progress.remaining:
        added = f" ({progress.added:,} tasks were added)" if progress.added else ""
        parts.append(f"about {_format_duration(progress.remaining)} left{added}")
    return f"{progress.what}: {', '.join(parts)}"


def _format_duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _is_over(progress: Progress) -> bool:
    return progress.remaining == 0.0


class PlainLines:
    """Writes a line to a log from time to time.

    Parameters
    ----------
    every
        The least seconds between two lines of a run; a shorter run writes nothing.
    stream
        The stream to write to; by default the standard error.
    """

    def __init__(self, every: float = 5.0, stream: TextIO | None = None) -> None:
        self._every = every
        self._stream = stream
        self._written: dict[str, float] = {}

    def __call__(self, progress: Progress) -> None:
        """Write a line if the last line of the run is old enough; at the end, only after an earlier line."""
        if _is_over(progress):
            due = self._written.pop(progress.what, None) is not None
        elif due := progress.elapsed - self._written.get(progress.what, 0.0) >= self._every:
            self._written[progress.what] = progress.elapsed
        if due:
            print(describe_progress(progress), file=self._stream or sys.stderr, flush=True)


class TerminalBar:
    """Draws a bar for every run that takes more than a moment, and removes the bar at the end of the run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # every run reports from a thread of its own
        self._bars: Bars | None = None
        self._rows: dict[str, TaskID] = {}

    def __call__(self, progress: Progress) -> None:
        """Redraw the bar of a run."""
        with self._lock:
            if _is_over(progress):
                self._remove(progress.what)
            elif progress.elapsed >= _SHORT:
                self._draw(progress)

    def _draw(self, progress: Progress) -> None:
        if self._bars is None:
            self._bars = _make_bars()
            self._bars.start()
        if progress.what not in self._rows:
            self._rows[progress.what] = self._bars.add_task("", total=None)
        self._bars.update(
            self._rows[progress.what],
            total=1.0 if progress.tasks else None,  # without a total the bar pulses
            completed=progress.share,  # tasks may be added, but a bar does not run backwards
            description=describe_progress(progress),
            refresh=True,
        )

    def _remove(self, what: str) -> None:
        row = self._rows.pop(what, None)
        if self._bars is not None and row is not None:
            self._bars.remove_task(row)
            if not self._rows:
                self._bars.stop()
                self._bars = None


def _make_bars() -> Bars:
    from rich.console import Console  # noqa: PLC0415 - rich is slow to start
    from rich.progress import BarColumn, TextColumn  # noqa: PLC0415
    from rich.progress import Progress as Bars  # noqa: PLC0415

    text = TextColumn("{task.description}", markup=False)
    return Bars(BarColumn(bar_width=24), text, console=Console(stderr=True), transient=True)


class NotebookLine:
    """Shows a line below a notebook cell for every run that takes more than a moment, and rewrites the line.

    Neither widgets nor rich are necessary; the bars of rich need widgets in notebooks.
    """

    def __init__(self) -> None:
        self._shown: dict[str, Any] = {}

    def __call__(self, progress: Progress) -> None:
        """Rewrite the line of a run."""
        display: Callable[..., Any] = sys.modules["IPython"].display.display
        handle = self._shown.get(progress.what)
        line = {"text/plain": "" if _is_over(progress) else describe_progress(progress)}
        if handle is not None:
            handle.update(line, raw=True)
        elif progress.elapsed >= _SHORT and not _is_over(progress):
            self._shown[progress.what] = display(line, raw=True, display_id=True)
        if _is_over(progress):
            self._shown.pop(progress.what, None)
