"""Progress of reading large files, shown by the same listener as the progress of runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal

from provenn.files.hashing import ReadingProgress

if TYPE_CHECKING:
    from provenn.spark.progress import Listener

__all__ = ["show_reading_progress"]

_LONG = 256 * 2**20
"""Reading fewer bytes than this takes only a moment, and is not shown."""

_EVERY = 0.25
_MEBIBYTE = 2**20


@contextmanager
def show_reading_progress(what: str, wanted: Callable[..., None] | Literal[False] | None) -> Iterator[ReadingProgress]:
    """Yield a function for reporting the number of bytes read.

    Parameters
    ----------
    what
        The description of the work.
    wanted
        The listener: a function, False for none, by default a bar on a terminal or in a notebook.
    """
    shown: list[tuple[Listener, Any]] = []
    started = monotonic()
    due = 0.0

    def tell(done: int, total: int) -> None:
        nonlocal due
        now = monotonic()
        if wanted is False or total < _LONG or now < due:
            return
        due = now + _EVERY
        from provenn.spark.progress import Progress  # noqa: PLC0415 - only long reading needs it
        from provenn.spark.progress_bar import choose_listener  # noqa: PLC0415

        elapsed = now - started
        left = elapsed * (total - done) / done if done else None
        share = done / total if total else 0.0
        progress = Progress(what, 0, 0, total // _MEBIBYTE, done // _MEBIBYTE, None, elapsed, left or None, share)
        show = shown[0][0] if shown else choose_listener(wanted)
        if show is not None:
            show(progress)
            shown[:] = [(show, progress)]

    try:
        yield tell
    finally:
        for show, last in shown:
            show(last.mark_finished())
