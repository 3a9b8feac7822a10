"""Worker processes: pages that only read the archive are computed in other processes, on other cores.

All state of the server stays in its own process: connections, sessions, rates, turns, quotas and jobs. A worker gets a
question that is already authenticated and whose turn has come. If a worker ends, its questions go to another worker
once, and a new worker takes its place.
"""

import asyncio
import logging
import re
import socket
import subprocess
import sys
from collections.abc import MutableMapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import count
from typing import Any, Final
from zlib import crc32

from fastapi import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from provenn.archive import Archive
from provenn.errors import ServerError
from provenn.web.accounts import get_current_account
from provenn.web.failures import make_busy_answer
from provenn.web.questions import CURRENT
from provenn.web.worker_messages import Message, encode_message, read_message

__all__ = ["Workers", "WorkersApp"]

_LOG = logging.getLogger("provenn.web")
_HEADERS: Final = frozenset({b"accept", b"host", b"if-none-match"})
"""The headers of a request that a page may depend on; secrets stay in the server."""

_PAUSE: Final = 1.0
_LONGEST_PAUSE: Final = 60.0
"""Seconds until a worker is replaced, at first and at most; each worker that never answered doubles them."""

_PATIENCE: Final = 5.0
"""Seconds that a worker may take to end."""

_BUSIER: Final = 20
"""How many more requests than another the worker with the answer in its memory may have."""


class _LostError(Exception):
    """The worker has ended."""


@dataclass(slots=True)
class _Worker:
    """A worker process with its connection, and the answers that it owes."""

    process: "subprocess.Popen[bytes]"
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    owed: dict[int, "asyncio.Future[Message]"]
    is_ready: bool = False

    def send(self, message: Message) -> None:
        """Send a message; a worker that has ended is noticed by its reader."""
        with suppress(OSError, RuntimeError):
            self.writer.write(encode_message(message))


class Workers:
    """The worker processes of a server.

    Parameters
    ----------
    archive
        The archive, as the operator of the server sees it.
    roots
        The folders that may contain files of base catalogs; None for any folder.
    number
        How many processes.
    """

    def __init__(self, archive: Archive, roots: Sequence[str] | None, number: int) -> None:
        database = archive.context.database
        is_server = database.engine.dialect.name == "postgresql"
        address = database.engine.url.render_as_string(hide_password=False) if is_server else database.place
        self._opening = Message(
            {
                "database": address,
                "who": archive.who,
                "confined": archive.confined,
                "roots": None if roots is None else list(roots),
            }
        )
        self._number = number
        self._numbers = count()
        self._workers: dict[int, _Worker] = {}
        self._keepers: list[asyncio.Task[None]] = []

    @property
    def processes(self) -> tuple[int, ...]:
        """The numbers of the processes that are ready to answer."""
        return tuple(worker.process.pid for worker in self._workers.values() if worker.is_ready)

    async def start(self) -> None:
        """Start the processes; until they are ready, there are no workers."""
        self._keepers = [asyncio.ensure_future(self._keep_worker(place)) for place in range(self._number)]

    async def close(self) -> None:
        """End the processes."""
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)

    async def ask(self, question: dict[str, Any]) -> Message | None:
        """Return the answer of a worker; None if the server must answer: no worker is ready, or it declines.

        Raises
        ------
        _LostError
            If two workers ended while they answered.
        """
        for attempt in range(2):
            worker = self._choose_worker(question["path"] + question["query"])
            if worker is None and attempt:
                break
            if worker is None:
                return None
            try:
                answer = await self._ask_worker(worker, question)
            except _LostError:
                continue
            return None if "declined" in answer.values else answer
        raise _LostError

    # -- inside ----------------------------------------------------------------------------------------------------

    def _choose_worker(self, address: str) -> _Worker | None:
        """Return the worker that has answered this address before, unless it is much busier than another.

        That worker has the answer in its memory. Another one would compute it.
        """
        ready = [worker for _, worker in sorted(self._workers.items()) if worker.is_ready]
        if not ready:
            return None
        usual = ready[crc32(address.encode("utf-8", "surrogatepass")) % len(ready)]
        least = min(ready, key=lambda worker: len(worker.owed))
        return usual if len(usual.owed) <= len(least.owed) + _BUSIER else least

    async def _ask_worker(self, worker: _Worker, question: dict[str, Any]) -> Message:
        number = next(self._numbers)
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        worker.owed[number] = answer
        worker.send(Message({"number": number, **question}))
        current = CURRENT.get()
        if current is not None:
            current.on_stop(lambda: worker.send(Message({"stop": number})))
        try:
            return await answer
        finally:
            worker.owed.pop(number, None)

    async def _keep_worker(self, place: int) -> None:
        """Have a worker in a place until this task is cancelled."""
        pause = _PAUSE
        while True:
            worker = await _start_worker(self._opening)
            self._workers[place] = worker
            try:
                await self._read_answers(worker)
            finally:
                self._workers.pop(place, None)
                for answer in worker.owed.values():
                    if not answer.done():
                        answer.set_exception(_LostError())
                worker.writer.close()
                await _end_process(worker.process)
            _LOG.warning("a worker process ended with status %s; another takes its place", worker.process.returncode)
            pause = _PAUSE if worker.is_ready else min(2 * pause, _LONGEST_PAUSE)
            await asyncio.sleep(pause)

    async def _read_answers(self, worker: _Worker) -> None:
        while (message := await read_message(worker.reader)) is not None:
            if "ready" in message.values:
                worker.is_ready = True
                continue
            answer = worker.owed.get(message.values["number"])
            if answer is not None and not answer.done():
                answer.set_result(message)


async def _start_worker(opening: Message) -> _Worker:
    """Start a worker process, and tell it which archive to open."""
    if not hasattr(socket, "AF_UNIX"):
        raise ServerError("worker processes need a system with Unix sockets", hint="serve without --workers")
    ours, theirs = socket.socketpair()
    with theirs:
        command = [sys.executable, "-m", "provenn.web.worker", str(theirs.fileno())]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()])  # noqa: S603, ASYNC220 - our own module; a fork takes a moment
    reader, writer = await asyncio.open_unix_connection(sock=ours)
    worker = _Worker(process, reader, writer, {})
    worker.send(opening)
    return worker


async def _end_process(process: "subprocess.Popen[bytes]") -> None:
    """Wait until a process has ended, and end it if it takes long."""
    try:
        await asyncio.wait_for(asyncio.to_thread(process.wait, _PATIENCE), _PATIENCE + 1)
    except (subprocess.TimeoutExpired, TimeoutError):
        process.kill()
        process.wait()


class WorkersApp:
    """Has workers answer requests for pages that only read the archive; the application answers all others.

    Parameters
    ----------
    app
        The application.
    workers
        The workers.
    paths
        The paths of the pages.
    """

    def __init__(self, app: ASGIApp, workers: Workers, paths: Sequence[re.Pattern[str]]) -> None:
        self._app = app
        self._workers = workers
        self._paths = paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or run the workers as long as the application lives."""
        if scope["type"] == "lifespan":
            await self._live(scope, receive, send)
            return
        response = await self._ask(scope) if self._is_for_workers(scope) else None
        await (response or self._app)(scope, receive, send)

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Start the workers with the application, and end them before the server is told that all has ended."""

        async def send_after_workers(message: MutableMapping[str, Any]) -> None:
            if message["type"].startswith("lifespan.shutdown."):
                await self._workers.close()  # the event loop ends soon after the message
            await send(message)

        await self._workers.start()
        await self._app(scope, receive, send_after_workers)

    def _is_for_workers(self, scope: Scope) -> bool:
        return scope["type"] == "http" and scope["method"] == "GET" and any(p.match(scope["path"]) for p in self._paths)

    async def _ask(self, scope: Scope) -> Response | None:
        account = get_current_account()
        question = {
            "path": scope["path"],
            "query": scope["query_string"].decode("latin-1"),
            "scheme": scope["scheme"],
            "headers": [
                [name.decode("latin-1"), value.decode("latin-1")]
                for name, value in scope["headers"]
                if name in _HEADERS
            ],
            "account": None if account is None else asdict(account),
        }
        try:
            answer = await self._workers.ask(question)
        except _LostError:
            return make_busy_answer(scope, 503, "the processes that computed this page have ended", 5)
        if answer is None:
            return None
        response = Response(answer.body, answer.values["status"])
        response.raw_headers = [
            (name.encode("latin-1"), value.encode("latin-1")) for name, value in answer.values["headers"]
        ]
        return response
