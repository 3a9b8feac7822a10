"""Serving an archive over HTTP: to this machine, or to people who have a token."""

import socket
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from provenn.archive import Archive
from provenn.archive.serving import list_tokens
from provenn.errors import ServerError
from provenn.web.accounts import Accounts
from provenn.web.app import create_app
from provenn.web.entering import Entrance
from provenn.web.guarding import LOOPBACK, guarded
from provenn.web.limits import Limits

__all__ = ["serve", "served"]

_LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_EVERYWHERE: Final = frozenset({"0.0.0.0", "::", ""})  # noqa: S104 - to be told from others
_CONNECTIONS: Final = 1000
_PATIENCE: Final = 20.0
"""Seconds in which the head of a request must have arrived, and after which nobody waits for the next one."""


def served(
    archive: Archive,
    *,
    tokens: bool = False,
    hosts: Sequence[str] = LOOPBACK,
    roots: Sequence[str] | None = None,
) -> ASGIApp:
    """Return all that answers requests.

    Parameters
    ----------
    archive
        The archive.
    tokens
        Whether to ask for tokens: then all see what they may see, do what they may do, and nothing else. Otherwise
        whoever asks is who opened the archive.
    hosts
        The names by which the server is reached, as they stand in requests.
    roots
        Where files of base catalogs may lie, if tokens are asked for.
    """
    if not tokens:
        return guarded(Limits(create_app(archive)), hosts)
    accounts = Accounts(archive)
    return guarded(Limits(Entrance(create_app(archive, accounts=accounts, roots=roots or ()), accounts)), hosts)


def serve(
    archive: Archive,
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    tokens: bool = False,
    hosts: Sequence[str] = (),
    roots: Sequence[str] = (),
    ready: Callable[[str], None],
) -> None:
    """Serve an archive until it is interrupted.

    Parameters
    ----------
    archive
        The archive.
    host, port
        Where to listen; port 0 is any that is free. Elsewhere than on this machine, tokens are asked for.
    tokens
        Whether to ask for tokens on this machine, too.
    hosts
        Names by which it is reached, besides the host and those of this machine.
    roots
        Where files of base catalogs may lie, if tokens are asked for; by default in the folder of the archive.
    ready
        Called with the address, once it can be opened.

    Raises
    ------
    ServerError
        If the port is taken; or the host is not this machine and nobody has a token, or it has no name.
    """
    tokens = tokens or host not in _LOOPBACK
    if tokens:
        _check_tokens(archive, host)
    if host in _EVERYWHERE and not hosts:
        raise ServerError(
            "a server that listens everywhere must be told by which names it is reached",
            hint="--allow-host survey.example.org",
        )
    names = [*LOOPBACK, *hosts, *([] if host in _EVERYWHERE else [_in_address(host)])]
    listening = _listening(host, port)
    app = served(archive, tokens=tokens, hosts=names, roots=roots or _own_roots(archive))
    config = uvicorn.Config(
        app,
        log_level="warning",
        server_header=False,
        http=_Protocol,
        ws="none",
        limit_concurrency=_CONNECTIONS,
        timeout_keep_alive=int(_PATIENCE),
        timeout_graceful_shutdown=int(_PATIENCE),
        h11_max_incomplete_event_size=32_768,
    )
    server = uvicorn.Server(config)
    ready(f"http://{_in_address(host)}:{listening.getsockname()[1]}/")
    try:
        server.run(sockets=[listening])
    finally:
        listening.close()


class _Protocol(H11Protocol):
    """Closes connections on which no request arrives in time, however slowly somebody sends it."""

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401 - asyncio's, of which there are two kinds
        super().connection_made(transport)
        self._await_request()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._await_request()

    def _await_request(self) -> None:
        self.loop.call_later(_PATIENCE, self._give_up, self.cycle)

    def _give_up(self, last: object) -> None:
        if self.cycle is last and (last is None or self.cycle.response_complete) and not self.transport.is_closing():
            self.transport.close()


def _check_tokens(archive: Archive, host: str) -> None:
    now = datetime.now(UTC)
    if not any(one.is_good(now) for one in list_tokens(archive)):
        raise ServerError(
            f"nobody has a token for this archive, so nobody could use it at {host}",
            hint="make one: provenn token new WHO --role reader",
        )


def _own_roots(archive: Archive) -> tuple[str, ...]:
    """Return the folder of an archive; one in a database on a server has none."""
    return () if "://" in archive.place else (str(Path(archive.place).absolute().parent),)


def _in_address(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _listening(host: str, port: int) -> socket.socket:
    made = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
    except (OSError, OverflowError) as error:
        made.close()
        raise ServerError(f"cannot listen at {host}:{port}: {error}", hint="choose another --port") from error
    made.listen(512)
    return made
