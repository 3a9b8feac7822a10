"""A worker process of the server: answers questions about the archive, and keeps nothing but answers.

The server authenticates, limits and orders requests, holds sessions and jobs, and sends a worker the question with the
account for which it is answered. A worker that ends, in whatever way, takes along nothing that the server needs.
"""

import asyncio
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import nullcontext, suppress
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, Final, NoReturn

from anyio import to_thread

from provenn import deadline
from provenn.archive import Archive, open_archive
from provenn.archive.collector_pauses import collect_rarely
from provenn.database.secrets import hide_process
from provenn.errors import DeadlineError
from provenn.web.accounts import Account, act_as
from provenn.web.app import create_app
from provenn.web.questions import Question
from provenn.web.worker_messages import Message, encode_message, read_message

__all__ = ["main"]

_THREADS: Final = 100
_DECLINED: ContextVar[list[bool]] = ContextVar("declined")


def main(descriptor: int) -> None:
    """Answer questions that come through a socket until it is closed.

    Parameters
    ----------
    descriptor
        The number of the open socket.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server closes the socket when it ends
    hide_process()
    collect_rarely()
    asyncio.run(_serve(socket.socket(fileno=descriptor)))


async def _serve(connection: socket.socket) -> None:
    reader, writer = await asyncio.open_unix_connection(sock=connection)
    opening = await read_message(reader)
    if opening is None:
        return
    archive = _open_served_archive(opening.values)
    with archive:
        app = create_app(archive, roots=opening.values["roots"])
        to_thread.current_default_thread_limiter().total_tokens = _THREADS
        writer.write(encode_message(Message({"ready": True})))
        worker = _Worker(app, writer.write)
        while (message := await read_message(reader)) is not None:
            worker.receive(message.values)
        worker.stop()
        app.state.people.close()
        app.state.memory.close()


def _open_served_archive(options: dict[str, Any]) -> Archive:
    """Open the archive of the server, without a platform: an answer that depends on it is left to the server."""
    archive = open_archive(
        database=options["database"],
        who=options["who"],
        confined=options["confined"],
        create=False,
        progress=False,
        notify=False,
        via="http",
    )
    context = archive.context
    return Archive(replace(context, database=replace(context.database, platform=_decline)))


def _decline() -> NoReturn:
    """Leave a question to the server."""
    _DECLINED.get().append(True)
    raise DeadlineError


class _Worker:
    """Answers questions at the same time, each on a thread.

    Parameters
    ----------
    app
        The application.
    write
        Sends bytes to the server.
    """

    def __init__(self, app: Any, write: Callable[[bytes], None]) -> None:  # noqa: ANN401 - a FastAPI
        self._app = app
        self._write = write
        self._questions: dict[int, tuple[str, Question]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def receive(self, values: dict[str, Any]) -> None:
        """Begin to answer a question, or stop."""
        if "stop" in values:
            _, question = self._questions.get(values["stop"], ("", None))
            if question is not None:
                question.stop()
            return
        question = Question()
        account = None if values["account"] is None else Account(**values["account"])
        person = "" if account is None else account.who
        self._questions[values["number"]] = person, question
        question.begin(lambda: any(other != person for other, _ in tuple(self._questions.values())))
        with deadline.limit(question.is_stopped), act_as(account) if account is not None else nullcontext():
            task = asyncio.ensure_future(self._answer(values))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def stop(self) -> None:
        """Stop all work."""
        for _, question in self._questions.values():
            question.stop()

    async def _answer(self, values: dict[str, Any]) -> None:
        declined: list[bool] = []
        _DECLINED.set(declined)
        answer = _Answer()
        try:
            with suppress(Exception):  # the application has logged the failure, and answered
                await self._app(_make_scope(values), answer.receive, answer.send)
        finally:
            del self._questions[values["number"]]
        outcome = {"declined": True} if declined or not answer.status else answer.describe()
        body = b"" if "declined" in outcome else bytes(answer.body)
        self._write(encode_message(Message({"number": values["number"], **outcome}, body)))


class _Answer:
    """Gathers the answer of an application."""

    def __init__(self) -> None:
        self.status = 0
        self.body = bytearray()
        self._headers: list[tuple[bytes, bytes]] = []
        self._is_asked = False

    async def receive(self) -> dict[str, Any]:
        """Give the empty body of the request; the worker is told if the client leaves."""
        if self._is_asked:
            await asyncio.Event().wait()
        self._is_asked = True
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(self, message: Any) -> None:  # noqa: ANN401 - a message of ASGI
        """Take a part of the answer."""
        if message["type"] == "http.response.start":
            self.status, self._headers = message["status"], list(message["headers"])
        else:
            self.body += message.get("body", b"")

    def describe(self) -> dict[str, Any]:
        """Return the status and headers, as values that JSON can hold."""
        headers = [[name.decode("latin-1"), value.decode("latin-1")] for name, value in self._headers]
        return {"status": self.status, "headers": headers}


def _make_scope(values: dict[str, Any]) -> dict[str, Any]:
    """Return the request as ASGI describes it."""
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": values["scheme"],
        "path": values["path"],
        "raw_path": None,
        "query_string": values["query"].encode("latin-1"),
        "root_path": "",
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in values["headers"]],
        "client": None,
        "server": None,
        "state": {},
    }


if __name__ == "__main__":
    main(int(sys.argv[1]))
