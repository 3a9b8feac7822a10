"""A line to a PostgreSQL server that a test cuts when it wants to: a proxy on the loopback.

It understands just as much of the protocol as is needed to see a COMMIT pass by. Nothing is encrypted on the way.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from urllib.parse import parse_qs, quote, urlsplit

from tests.waiting import LIMIT

Cut = Callable[[bytes], bool]


class Line:
    """A proxy between clients and a server.

    Attributes
    ----------
    address
        The address of the database, by way of the proxy.
    cut
        What to do with the next COMMIT: ``"before"``: it never reaches the server; ``"after"``: it does, the server
        answers, and the client never hears of it; ``"silent"``: it does not, and the server is not told that the
        client is gone, either.
    down
        Whether new connections are refused.
    cuts
        How many COMMITs were treated so.
    """

    def __init__(self, server: str) -> None:
        parts = urlsplit(server)
        query = {key: value[0] for key, value in parse_qs(parts.query).items()}
        self._target = f"{query.pop('host')}/.s.PGSQL.5432"
        self._listener = socket.create_server(("127.0.0.1", 0))
        port = self._listener.getsockname()[1]
        options = "&".join(f"{key}={quote(value, safe='')}" for key, value in query.items())
        self.address = f"postgresql://postgres@127.0.0.1:{port}/postgres?sslmode=disable&gssencmode=disable&{options}"
        self.cut: str | None = None
        self.down = False
        self.down_after_cut = False
        self.cuts = 0
        self._kept: list[socket.socket] = []
        self._answered = threading.Event()
        self._open: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.down:
                client.close()
                continue
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._target)
            self._open |= {client, server}
            threading.Thread(target=self._forward, args=(client, server), daemon=True).start()
            threading.Thread(target=self._return, args=(server, client), daemon=True).start()

    def _forward(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := client.recv(65536):
                if self.cut is not None and b"COMMIT\0" in data:
                    self._cut(data, client, server)
                    return
                server.sendall(data)
        self._end(client, server)

    def _cut(self, data: bytes, client: socket.socket, server: socket.socket) -> None:
        how, self.cut = self.cut, None
        self._answered.clear()
        self.cuts += 1
        self.down = self.down_after_cut
        self._open -= {client, server}
        if how == "before":
            _reset(server)
            _reset(client)
            return
        # From here on nothing comes back to the client.
        self._kept.append(server)
        if how == "after":
            server.sendall(data)
            assert self._answered.wait(LIMIT)  # otherwise whoever asks what came of it may end the session before
        _reset(client)

    def _return(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                if client not in self._open:
                    self._answered.set()
                    return
                client.sendall(data)
        self._end(client, server)

    def _end(self, *sockets: socket.socket) -> None:
        for item in sockets:
            if item in self._open:
                self._open.discard(item)
                with suppress(OSError):
                    item.shutdown(socket.SHUT_RDWR)
                item.close()

    def close(self) -> None:
        """End it, with all connections."""
        self._listener.close()
        for item in (*self._open, *self._kept):
            with suppress(OSError):
                item.close()


def _reset(end: socket.socket) -> None:
    """Close a connection at once: to close a socket alone would wait for a thread that reads from it."""
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()


@contextmanager
def line_to(server: str) -> Iterator[Line]:
    """Run a proxy to a server in the body."""
    line = Line(server)
    try:
        yield line
    finally:
        line.close()
