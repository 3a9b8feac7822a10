"""The handling of connections before a request: limits on their number, encryption and timeouts."""

import asyncio
from collections.abc import Callable
from ssl import SSLContext
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

from provenn.web.connections import Connections

__all__ = ["make_protocol"]

_STALLED: Final = 60.0
"""Seconds after which a client that reads nothing is dropped."""

_REFUSAL: Final = (
    "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\n"
    "Retry-After: 5\r\nConnection: close\r\n\r\n{message}\n"
)


def make_protocol(connections: Connections, encryption: Callable[[], SSLContext] | None = None) -> type[H11Protocol]:
    """Return the protocol class for the connections of a server.

    Parameters
    ----------
    connections
        The open connections.
    encryption
        Returns the TLS context for a new connection; None for plain HTTP.
    """

    class BoundProtocol(_LimitedProtocol):
        """The protocol with the connections and the encryption of this server."""

        ledger = connections
        context = staticmethod(encryption) if encryption is not None else None

    return BoundProtocol


class _LimitedProtocol(H11Protocol):
    """Refuses connections beyond a limit; drops connections without a timely request or without a reader."""

    ledger: Connections
    context: Callable[[], SSLContext] | None
    _stalled: asyncio.TimerHandle | None = None
    _handshake: "asyncio.Task[None] | None" = None

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401 - asyncio has two kinds of transports
        self.transport = transport
        peer = transport.get_extra_info("peername")
        refusal = self.ledger.admit(self, peer[0] if peer else "nowhere")
        if refusal is not None:
            if self.context is None:
                transport.write(_REFUSAL.format(length=len(refusal) + 1, message=refusal).encode())
            transport.close()
        elif self.context is None:
            self._begin(transport)
        else:
            transport.pause_reading()
            self._handshake = self.loop.create_task(self._encrypt(transport, self.context()))

    def connection_lost(self, exc: Exception | None) -> None:
        self.ledger.leave(self)
        if self._stalled is not None:
            self._stalled.cancel()
        if self.flow is not None:  # otherwise the connection was refused
            super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.flow is not None:
            super().data_received(data)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._await_request()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_reader()

    def resume_writing(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None
        super().resume_writing()

    # -- as a `provenn.web.connections.Connection` -----------------------------------------------------------------

    def is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def drop(self) -> None:
        self.transport.abort()

    # -- inside ----------------------------------------------------------------------------------------------------

    def _begin(self, transport: Any) -> None:  # noqa: ANN401 - see above
        super().connection_made(transport)
        self._await_request()

    async def _encrypt(self, transport: Any, context: SSLContext) -> None:  # noqa: ANN401 - see above
        """Encrypt a connection, then handle it; data that arrive with the end of the handshake are kept meanwhile."""
        early = _EarlyData()
        seconds = self.ledger.limits.seconds
        try:
            encrypted = await self.loop.start_tls(
                transport, early, context, server_side=True, ssl_handshake_timeout=seconds, ssl_shutdown_timeout=seconds
            )
        except (OSError, TimeoutError):  # the client does not speak TLS, or is gone
            self.ledger.leave(self)
            transport.abort()
            return
        if encrypted is None or early.is_lost:
            self.ledger.leave(self)
            return
        encrypted.set_protocol(self)
        self._begin(encrypted)
        if early.data:
            self.data_received(bytes(early.data))

    def _await_request(self) -> None:
        self.loop.call_later(self.ledger.limits.seconds, self._give_up, self.cycle)

    def _give_up(self, last: object) -> None:
        if self.cycle is last and self.is_idle() and not self.transport.is_closing():
            self.transport.close()
            self._watch_reader()

    def _watch_reader(self) -> None:
        if self._stalled is None:
            self._stalled = self.loop.call_later(_STALLED, self.transport.abort)


class _EarlyData(asyncio.Protocol):
    """Keeps the data of an encrypted connection until a protocol handles them."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.is_lost = False

    def data_received(self, data: bytes) -> None:
        self.data += data

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self.is_lost = True
