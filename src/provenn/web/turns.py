"""Turns: limits on questions answered at once, in total and per person, and the order of waiting questions."""

import asyncio
from asyncio import sleep
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from provenn.errors import DeadlineError
from provenn.web.accounts import Account, get_current_account
from provenn.web.failures import DELAY, make_busy_answer
from provenn.web.fairness import FairQueue
from provenn.web.proxies import find_address, make_address_key
from provenn.web.questions import CURRENT

__all__ = ["TurnLimits", "Turns", "make_person_key"]

_OWNER: Final = "owner"


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """Limits on answered and waiting questions.

    Parameters
    ----------
    at_once, per_client
        How many questions are answered at once, in total and per person.
    most_waiting, waiting_per_client
        How many questions may wait for their turn, in total and per person.
    """

    at_once: int = 8
    per_client: int = 2
    most_waiting: int = 900
    waiting_per_client: int = 50


class Turns:
    """Makes questions wait for their turn: a person with many questions does not delay other people.

    Parameters
    ----------
    app
        The application that answers.
    limits
        The limits on questions.
    alone
        Whether the server has a single user, who may then use all turns.
    """

    def __init__(self, app: ASGIApp, limits: TurnLimits, *, alone: bool = False) -> None:
        self._app = app
        self._alone = alone
        self._limits = (
            replace(limits, per_client=limits.at_once, waiting_per_client=limits.most_waiting) if alone else limits
        )
        self._queue: FairQueue[asyncio.Future[None]] = FairQueue(self._limits.at_once, self._limits.per_client)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request when its turn comes."""
        if scope["type"] != "http" or scope["path"].startswith("/static/"):
            await self._app(scope, receive, send)
            return
        person = _OWNER if self._alone else make_person_key(scope, get_current_account())
        refusal = self._find_refusal(person)
        if refusal is not None:
            status, message = refusal
            await sleep(DELAY)
            await make_busy_answer(scope, status, message)(scope, receive, send)
            return
        async with self._take_turn(person) as finish:

            async def send_and_finish(message: Message) -> None:
                finish()  # the answer is computed: a slow reader must not delay other people
                await send(message)

            await self._app(scope, receive, send_and_finish)

    def _find_refusal(self, person: str) -> tuple[int, str] | None:
        """Return the status and the message of a refusal if too many questions wait, otherwise None."""
        if self._queue.count_waiting(person) >= self._limits.waiting_per_client:
            return 429, f"{self._limits.waiting_per_client} of your requests are waiting, which is the limit"
        if self._queue.count_waiting() >= self._limits.most_waiting:
            return 503, f"{self._limits.most_waiting} requests are waiting, which is the limit of the server"
        return None

    @asynccontextmanager
    async def _take_turn(self, person: str) -> AsyncIterator[Callable[[], None]]:
        """Wait for a turn; yield a function that ends the turn before the end of the block."""
        granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        question = CURRENT.get()
        turn = _Turn(self._queue, person, granted, self._serve)
        if question is not None:
            question.on_stop(turn.stop)
        self._queue.add(person, granted)
        self._serve()
        try:
            await granted
            if question is not None and question.was_stopped:
                raise DeadlineError
            if question is not None:
                question.begin(lambda: self._queue.count_waiting() > self._queue.count_waiting(person), turn.finish)
            yield turn.finish
        finally:
            turn.end()

    def _serve(self) -> None:
        """Grant turns as long as the limits permit."""
        while (entry := self._queue.take()) is not None:
            _, granted = entry
            if not granted.done():
                granted.set_result(None)


class _Turn:
    """A turn of a person: finished once, detached when its client is gone, and ended with its work."""

    def __init__(
        self,
        queue: FairQueue[asyncio.Future[None]],
        person: str,
        granted: asyncio.Future[None],
        serve: Callable[[], None],
    ) -> None:
        self._queue = queue
        self._person = person
        self._granted = granted
        self._serve = serve
        self._finished = False
        self._detached = False

    def finish(self) -> None:
        """Make room for the next question; further calls do nothing."""
        if not self._finished:
            self._finished = True
            self._queue.finish(self._person)
            self._serve()

    def stop(self) -> None:
        """Make room for other people when the client is gone: the work may take a moment to notice."""
        if self._queue.remove(self._person, self._granted):
            self._finished = True
            self._granted.set_exception(DeadlineError())
        elif not self._finished:
            self._finished = self._detached = True
            self._queue.detach(self._person)
        self._serve()

    def end(self) -> None:
        """Forget the turn after the end of its work."""
        if self._queue.remove(self._person, self._granted):
            self._finished = True
        if self._detached:
            self._detached = False
            self._queue.finish_detached(self._person)
        elif not self._finished:
            self._finished = True
            self._queue.finish(self._person)
        self._serve()


def make_person_key(scope: Scope, account: Account | None) -> str:
    """Return the key of the person of a request, or of the address without an account; the two never collide.

    >>> make_person_key({"type": "http", "client": ("192.0.2.7", 1), "headers": []}, None)
    'address 192.0.2.7'
    """
    return f"address {make_address_key(find_address(Request(scope)))}" if account is None else f"person {account.who}"
