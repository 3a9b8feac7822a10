"""A real server on a thread of its own, for any application or any archive."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import httpx
import uvicorn

import provenn
from provenn.web.connections import ConnectionLimits, Connections
from provenn.web.protocol import make_protocol
from provenn.web.proxies import Proxies
from provenn.web.serving import serve
from tests.waiting import LIMIT, wait_until

__all__ = ["is_answered", "running", "running_app"]


@contextmanager
def running(archive: provenn.Archive, **options: Any) -> Iterator[str]:
    """Serve an archive; give the address."""
    servers: list[uvicorn.Server] = []
    addresses: list[str] = []
    problems: list[BaseException] = []
    original = uvicorn.Server.__init__

    def construct(self: uvicorn.Server, config: uvicorn.Config) -> None:
        original(self, config)
        servers.append(self)

    def run() -> None:
        try:
            serve(archive, ready=addresses.append, **{"port": 0, **options})
        except BaseException as error:
            problems.append(error)
            raise

    with mock.patch.object(uvicorn.Server, "__init__", construct):
        thread = threading.Thread(target=run)
        thread.start()
        wait_until(lambda: bool(problems) or bool(servers and servers[0].started), "the server starts")
    try:
        yield addresses[0]
    finally:
        servers[0].should_exit = True
        thread.join(LIMIT)
        assert not thread.is_alive()


@contextmanager
def running_app(app: Any, limits: ConnectionLimits | None = None) -> Iterator[tuple[str, Connections]]:
    """Serve an application; give the address, and the connections that are open."""
    connections = Connections(limits or ConnectionLimits(), Proxies())
    config = uvicorn.Config(
        app,
        port=0,
        log_level="warning",
        http=make_protocol(connections),
        ws="none",
        proxy_headers=False,
        lifespan="off",
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    wait_until(lambda: server.started, "the server starts")
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}", connections
    finally:
        server.should_exit = True
        thread.join(LIMIT)
        assert not thread.is_alive()


def is_answered(address: str, **options: Any) -> bool:
    """Whether a request is answered with success; a server may drop one that a slow machine sends too late."""
    try:
        return httpx.get(address, timeout=LIMIT, **options).status_code == 200
    except httpx.TransportError:
        return False
