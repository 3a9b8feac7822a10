"""Serving an archive over HTTP, on this machine."""

import socket
from collections.abc import Callable

import uvicorn

from provenn.archive import Archive
from provenn.errors import ServerError
from provenn.web.app import create_app
from provenn.web.guarding import guarded

__all__ = ["serve"]

_LOOPBACK = {"127.0.0.1", "::1", "localhost"}


def serve(archive: Archive, *, host: str = "127.0.0.1", port: int = 8765, ready: Callable[[str], None]) -> None:
    """Serve an archive until it is interrupted.

    Parameters
    ----------
    archive
        The archive.
    host, port
        Where to listen; port 0 is any that is free.
    ready
        Called with the address, once it can be opened.

    Raises
    ------
    ServerError
        If the host is not this machine, or the port is taken.
    """
    if host not in _LOOPBACK:
        raise ServerError(
            f"provenn serves this machine only, not {host}: whoever reaches it could read the archive and run targets",
            hint="leave --host out, and reach it from elsewhere through ssh -L 8765:127.0.0.1:8765",
        )
    listening = _listening(host, port)
    number = listening.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    config = uvicorn.Config(guarded(create_app(archive)), log_level="warning", server_header=False)
    server = uvicorn.Server(config)
    ready(f"http://{shown}:{number}/")
    try:
        server.run(sockets=[listening])
    finally:
        listening.close()


def _listening(host: str, port: int) -> socket.socket:
    made = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
    except (OSError, OverflowError) as error:
        made.close()
        raise ServerError(f"cannot listen at {host}:{port}: {error}", hint="choose another --port") from error
    made.listen(128)
    return made
