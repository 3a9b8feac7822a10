"""Limits on the number and duration of requests; abandoned requests are stopped."""

import asyncio
import logging
from contextlib import suppress
from contextvars import Context
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from provenn import deadline
from provenn.errors import DeadlineError
from provenn.web.failures import make_busy_answer, make_failure
from provenn.web.questions import CURRENT, Question

__all__ = ["AT_ONCE", "SECONDS", "Limits"]

_LOG = logging.getLogger("provenn.web")

AT_ONCE: Final = 1000
"""Maximum number of open requests, answered or waiting for their turn."""

SECONDS: Final = 60.0
"""Time limit in seconds until an answer begins, and until the client reads the next piece of the answer."""


class Limits:
    """Refuses requests beyond a limit, and stops requests that take too long or have lost their client.

    The work of a stopped request ends at its next call of `provenn.deadline.check`.

    Parameters
    ----------
    app
        The application that answers.
    at_once, seconds
        The maximum number of open requests, and the time limit of a request in seconds.
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
        client = _Client(await receive(), receive)  # `provenn.web.guarding` has read the body
        if len(self._running) >= self._at_once:
            await make_busy_answer(scope, 503, f"the server is handling {self._at_once} requests, which is its limit")(
                scope, receive, send
            )
            return
        answer = _Answer(send, self._seconds)
        question = Question()
        task = self._start(question, scope, client.receive, answer.send)
        gone = asyncio.ensure_future(client.wait_until_gone())
        try:
            await asyncio.wait({task, gone}, timeout=self._seconds, return_when=asyncio.FIRST_COMPLETED)
            if answer.has_begun and not task.done():  # a large file takes as long as it takes
                await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            question.stop()
            task.cancel()
            raise
        finally:
            is_late = not gone.done()
            gone.cancel()
        if task.done():
            await task
            return
        answer.is_over = True
        question.stop()
        if answer.has_begun:
            task.cancel()
        elif is_late:
            hint = "request less: fewer catalogs, a shorter statement, a smaller depth"
            await make_failure(scope, 503, f"this takes longer than {self._seconds:g} seconds", hint)(
                scope, receive, send
            )

    def _start(self, question: Question, scope: Scope, receive: Receive, send: Send) -> "asyncio.Task[None]":
        """Start the task that answers a question, in a separate context."""
        token = CURRENT.set(question)
        try:
            with deadline.limit(question.is_stopped):
                task = asyncio.ensure_future(_run_app(self._app, scope, receive, send))
        finally:
            CURRENT.reset(token)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        task.add_done_callback(lambda done: _log_error(done) if question.was_stopped else None)
        return task


async def _run_app(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    await app(scope, receive, send)


class _Client:
    """The client of a request: gives the body once, and detects the disconnect."""

    def __init__(self, body: Message, receive: Receive) -> None:
        self._body: Message | None = body
        self._receive = receive
        self._gone = asyncio.Event()

    async def receive(self) -> Message:
        if self._body is not None:
            body, self._body = self._body, None
            return body
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def wait_until_gone(self) -> None:
        with suppress(OSError):
            while (await self._receive())["type"] != "http.disconnect":
                pass
        self._gone.set()


class _Answer:
    """An answer, sent as long as the client reads it."""

    def __init__(self, send: Send, seconds: float) -> None:
        self._send = send
        self._seconds = seconds
        self.has_begun = False
        self.is_over = False

    async def send(self, message: Message) -> None:
        if self.is_over:
            return
        self.has_begun = True
        try:
            async with asyncio.timeout(None) as limit:
                # The loop keeps a cancelled timer for a while, which must not keep the context of the request.
                Context().run(limit.reschedule, asyncio.get_running_loop().time() + self._seconds)
                await self._send(message)
        except TimeoutError:
            self.is_over = True


def _log_error(task: asyncio.Task[None]) -> None:
    """Log the error of a stopped request, unless the stop itself caused the error."""
    if task.cancelled() or (error := task.exception()) is None or isinstance(error, DeadlineError):
        return
    _LOG.error("an abandoned request failed", exc_info=error)
