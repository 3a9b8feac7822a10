"""Showing how far the reading of large files is, by whatever shows the progress of runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal

from provenn.catalogs.hashing import ReadingProgress

if TYPE_CHECKING:
    from provenn.spark.progress import Listener

__all__ = ["reading_progress"]

_LONG = 256 * 2**20
"""Fewer bytes than this are read in a moment."""

_EVERY = 0.25
_MEBIBYTE = 2**20


@contextmanager
def reading_progress(what: str, wanted: Callable[..., None] | Literal[False] | None) -> Iterator[ReadingProgress]:
    """Give a function that is told how many bytes are read.

    Parameters
    ----------
    what
        What is done, for whoever looks.
    wanted
        Whom to tell: a function, nobody, or by default whoever looks at a terminal or a notebook.
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
        from provenn.spark.progress_bar import listener  # noqa: PLC0415

        elapsed = now - started
        left = elapsed * (total - done) / done if done else None
        progress = Progress(what, 0, 0, total // _MEBIBYTE, done // _MEBIBYTE, None, elapsed, left or None)
        told = shown[0][0] if shown else listener(wanted)
        if told is not None:
            told(progress)
            shown[:] = [(told, progress)]

    try:
        yield tell
    finally:
        for told, last in shown:
            told(last.finished())
