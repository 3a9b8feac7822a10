"""How much the server does at once, and how long an answer may take."""

import asyncio
import logging
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from provenn.web.failures import failure

__all__ = ["AT_ONCE", "SECONDS", "Limits"]

_LOG = logging.getLogger("provenn.web")

AT_ONCE: Final = 256
"""How many requests are answered at once."""

SECONDS: Final = 60.0
"""How long it may take until an answer begins, and until a reader takes the next piece of it."""


class Limits:
    """Refuses requests when there are too many at once, and gives up those that take too long.

    What is given up is still carried out, and counts as long as it is: a thread cannot be stopped.

    Parameters
    ----------
    app
        What answers.
    at_once, seconds
        How many requests, and how long each may take.
    """

    def __init__(self, app: ASGIApp, *, at_once: int = AT_ONCE, seconds: float = SECONDS) -> None:
        self._app = app
        self._at_once = at_once
        self._seconds = seconds
        self._running: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if len(self._running) >= self._at_once:
            refused = failure(scope, 503, "the server is busy", "ask again in a moment")
            refused.headers["Retry-After"] = "1"
            await refused(scope, receive, send)
            return
        answer = _Answer(send, self._seconds)
        task = asyncio.ensure_future(self._app(scope, receive, answer.send))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        try:
            await asyncio.wait({task}, timeout=self._seconds)
            if task.done() or answer.begun:
                await task  # a large file takes as long as it takes
                return
        except asyncio.CancelledError:
            task.cancel()
            raise
        answer.over = True
        task.add_done_callback(_told)
        hint = "ask for less: fewer catalogs, a shorter statement, a smaller depth"
        await failure(scope, 503, f"this takes longer than {self._seconds:g} seconds", hint)(scope, receive, send)


class _Answer:
    """An answer that is sent as long as somebody reads it."""

    def __init__(self, send: Send, seconds: float) -> None:
        self._send = send
        self._seconds = seconds
        self.begun = False
        self.over = False

    async def send(self, message: Message) -> None:
        if self.over:
            return
        self.begun = True
        try:
            await asyncio.wait_for(self._send(message), self._seconds)
        except TimeoutError:
            self.over = True


def _told(task: asyncio.Task[None]) -> None:
    """Tell the log why what was given up has failed, if it has."""
    if not task.cancelled() and (error := task.exception()) is not None:
        _LOG.error("a request that was given up has failed", exc_info=error)
