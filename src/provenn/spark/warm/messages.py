"""The messages between commands and the keeper of the warm Spark: lines of JSON over a socket of the file system."""

from __future__ import annotations

import json
import os
import socket
import struct
import sys
from pathlib import Path
from typing import Any

__all__ = ["connect_socket", "listen_on", "read_message", "read_peer", "send_message"]

_LONGEST = 1 << 18
"""The most bytes of a message."""

_PATIENCE = 30.0
"""Seconds in which the other side must answer, even on a busy machine."""


def send_message(connection: socket.socket, values: dict[str, Any]) -> None:
    """Send a message.

    Raises
    ------
    OSError
        If the other side has gone.
    """
    connection.sendall(json.dumps(values).encode() + b"\n")


def read_message(connection: socket.socket) -> dict[str, Any]:
    """Return the next message.

    Raises
    ------
    OSError
        If the other side has gone, or is silent.
    ValueError
        If the bytes are not a message.
    """
    received = b""
    while not received.endswith(b"\n"):
        part = connection.recv(65536)
        if not part:
            raise ConnectionError("the other side has closed the connection")
        received += part
        if len(received) > _LONGEST:
            raise ValueError(f"a message has more than {_LONGEST} bytes")
    values = json.loads(received)
    if not isinstance(values, dict):
        raise ValueError(f"expected an object, got {type(values).__name__}")  # noqa: TRY004 - as all that is wrong with a message
    return values


def listen_on(path: Path) -> socket.socket:
    """Return a socket that listens at a path, which only this person can open.

    Raises
    ------
    OSError
        If the path exists or cannot be made.
    """
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with _ShortPath(path) as short:
            listener.bind(short)
        path.chmod(0o600)
        listener.listen(64)
    except BaseException:
        listener.close()
        raise
    return listener


def connect_socket(path: Path) -> socket.socket:
    """Return a connection to whoever listens at a path.

    Raises
    ------
    OSError
        If nobody listens there, or somebody else than this person does.
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(_PATIENCE)
        with _ShortPath(path) as short:
            connection.connect(short)
        _check_peer(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _check_peer(connection: socket.socket, path: Path) -> None:
    peer = read_peer(connection)
    if peer is not None and peer[1] != os.getuid():
        raise PermissionError(f"{path} belongs to another user")


def read_peer(connection: socket.socket) -> tuple[int, int] | None:
    """Return the process and the user on the other side, as the system knows them; None if the system does not tell."""
    if sys.platform != "linux":
        return None
    pid, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return pid, user


class _ShortPath:
    """A path of a socket by its folder's descriptor, since addresses of sockets have at most some 100 bytes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = -1

    def __enter__(self) -> str:
        if sys.platform != "linux" or len(os.fsencode(self._path)) < 100:
            return str(self._path)
        self._descriptor = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY)
        return f"/proc/self/fd/{self._descriptor}/{self._path.name}"

    def __exit__(self, *_: object) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
