"""Interrupting Spark: jobs are cancelled, and the connection between Python and Java stays intact.

Ctrl-C interrupts a run, and so does the function from `allow_interrupts`, in any thread.

A `KeyboardInterrupt` in the middle of a call to Java breaks the connection, and py4j then closes the connections of all
threads. So during a call, Ctrl-C only cancels the jobs; Java reports the cancellation, and this report becomes the
`KeyboardInterrupt`. A second Ctrl-C is raised at once.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

__all__ = ["Cancel", "allow_interrupts"]

Cancel = Callable[[], bool]
"""Cancels all jobs of a run; returns whether no job is active any more."""

_INTERVAL = 0.1
"""Seconds between two attempts to cancel."""

_PATIENCE = 10.0
"""Seconds in which Spark must cancel a job."""


@contextmanager
def allow_interrupts(cancel: Cancel) -> Iterator[Callable[[], None]]:
    """Cancel the jobs of an interrupted body; yield a function to interrupt the body from any thread.

    Parameters
    ----------
    cancel
        Called from threads of its own.

    Raises
    ------
    KeyboardInterrupt
        If the body was interrupted, even if it ended without an error.
    """
    interrupted = threading.Event()
    over = threading.Event()

    def keep_cancelling() -> None:
        while not over.wait(_INTERVAL):  # a job may be about to start
            with suppress(Exception):
                cancel()

    def interrupt() -> None:
        if not interrupted.is_set():
            interrupted.set()
            threading.Thread(target=keep_cancelling, daemon=True).start()

    def on_interrupt(_: int, frame: FrameType | None) -> None:
        if interrupted.is_set() or not _is_calling_java(frame):
            raise KeyboardInterrupt
        interrupt()

    with _handle_interrupts(on_interrupt):
        try:
            yield interrupt
        except BaseException as error:
            if interrupted.is_set() or isinstance(error, KeyboardInterrupt | SystemExit):
                _cancel_all(cancel)
            if interrupted.is_set():
                raise KeyboardInterrupt from error
            raise
        finally:
            over.set()
    if interrupted.is_set():
        raise KeyboardInterrupt


@contextmanager
def _handle_interrupts(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Handle Ctrl-C in the body, unless the program has replaced the handler of Python or pyspark."""
    before = signal.getsignal(signal.SIGINT)
    # The handler of pyspark is a function inside a function: nothing but the name of its module identifies it.
    usual = before is signal.default_int_handler or getattr(before, "__module__", "").startswith("pyspark.")
    if not usual or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _is_calling_java(frame: FrameType | None) -> bool:
    """Return whether a frame runs inside py4j, which calls Java; a frame has nothing but the name of its module."""
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("py4j."):
            return True
        frame = frame.f_back
    return False


def _cancel_all(cancel: Cancel) -> None:
    """Cancel all jobs in a new thread, because the interrupt may have broken the connection of this thread."""

    def keep_cancelling() -> None:
        deadline = time.monotonic() + _PATIENCE
        with suppress(Exception):  # Spark has ended
            while not cancel() and time.monotonic() < deadline:
                time.sleep(_INTERVAL)

    thread = threading.Thread(target=keep_cancelling, daemon=True)
    thread.start()
    thread.join(_PATIENCE)
