"""Stopping Spark while it works: its jobs are cancelled, and Python stays on speaking terms with Java.

Ctrl-C does it; so does whoever is handed the means to, from any thread.

A `KeyboardInterrupt` that is raised in the middle of a conversation with Java tears it: py4j then closes the
connections of other threads as well. So while one is going on, Ctrl-C only cancels the jobs; Java answers that they are
cancelled, and that becomes the `KeyboardInterrupt`. A second Ctrl-C is raised at once.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

__all__ = ["Cancel", "interruptible"]

Cancel = Callable[[], bool]
"""Cancels all jobs of a run; returns whether none is active any more."""

_EVERY = 0.1
"""Seconds between two attempts to cancel."""

_PATIENCE = 10.0
"""Seconds in which Spark must have cancelled a job."""


@contextmanager
def interruptible(cancel: Cancel) -> Iterator[Callable[[], None]]:
    """Cancel what runs if the body is interrupted. Yields what interrupts it, from any thread, as Ctrl-C does.

    Parameters
    ----------
    cancel
        Called from threads of its own.

    Raises
    ------
    KeyboardInterrupt
        If the body was interrupted, however it ended.
    """
    interrupted = threading.Event()
    over = threading.Event()

    def keep_cancelling() -> None:
        while not over.wait(_EVERY):  # a job may be about to start
            with suppress(Exception):
                cancel()

    def interrupt() -> None:
        if not interrupted.is_set():
            interrupted.set()
            threading.Thread(target=keep_cancelling, daemon=True).start()

    def on_interrupt(_: int, frame: FrameType | None) -> None:
        if interrupted.is_set() or not _talks_to_java(frame):
            raise KeyboardInterrupt
        interrupt()

    with _handling(on_interrupt):
        try:
            yield interrupt
        except BaseException as error:
            if interrupted.is_set() or isinstance(error, KeyboardInterrupt | SystemExit):
                _until_cancelled(cancel)
            if interrupted.is_set():
                raise KeyboardInterrupt from error
            raise
        finally:
            over.set()
    if interrupted.is_set():
        raise KeyboardInterrupt


@contextmanager
def _handling(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Handle Ctrl-C, where Python or pyspark would: a program that has a handler of its own keeps it."""
    before = signal.getsignal(signal.SIGINT)
    usual = before is signal.default_int_handler or getattr(before, "__module__", "").startswith("pyspark.")
    if not usual or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _talks_to_java(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("py4j."):
            return True
        frame = frame.f_back
    return False


def _until_cancelled(cancel: Cancel) -> None:
    """Cancel what runs, from a thread of its own: this one may have been torn out of a conversation."""

    def work() -> None:
        until = time.monotonic() + _PATIENCE
        with suppress(Exception):  # Spark has ended
            while not cancel() and time.monotonic() < until:
                time.sleep(_EVERY)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(_PATIENCE)
