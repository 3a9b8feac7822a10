"""A way to a PostgreSQL server on a loopback port that is cut now and then: within a request, or after a COMMIT."""

from __future__ import annotations

import select
import socket
from pathlib import Path
from random import Random
from threading import Thread

__all__ = ["serve"]


def serve(listener: socket.socket, server: Path, seed: int) -> None:
    """Pass on what clients and the server say, for ever. The listener is bound already."""
    chance = Random(seed)
    while True:
        client, _ = listener.accept()
        Thread(target=_pass_on, args=(client, server, Random(chance.random())), daemon=True).start()


def _pass_on(client: socket.socket, server: Path, chance: Random) -> None:
    """Pass on one connection. One COMMIT in twelve loses its answer, one in forty is lost; so is one request in 300."""
    with client, socket.socket(socket.AF_UNIX) as there:
        try:
            there.connect(str(server))
            while True:
                for ready in select.select([client, there], [], [])[0]:
                    block = ready.recv(1 << 16)
                    if not block:
                        return
                    if ready is there:
                        client.sendall(block)
                        continue
                    commits = b"COMMIT" in block
                    if chance.random() < (1 / 40 if commits else 1 / 300):
                        return
                    there.sendall(block)
                    if commits and chance.random() < 1 / 12:
                        return
        except OSError:
            return
