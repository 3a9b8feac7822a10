"""Fetching an uploaded table from an address that the client names, as TAP demands of services with uploads.

The server must not become a way into the network behind it: only public addresses are called, on the usual ports, and
redirections are not followed. The name is looked up once, and the connection goes to the address that was checked.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ipaddress import ip_address
from typing import Final
from urllib.parse import SplitResult, urlsplit

from provenn import deadline
from provenn.errors import TapError
from provenn.gate.entrances import entrance

__all__ = ["fetch_table", "is_public_address"]

_SECONDS: Final = 20.0
_BLOCK: Final = 1 << 16
_PORTS: Final = {"http": 80, "https": 443}


def is_public_address(address: str, port: int) -> bool:
    """Return whether an address lies in the public network, and the port is a usual one.

    >>> is_public_address("127.0.0.1", 80), is_public_address("10.1.2.3", 80), is_public_address("192.0.43.7", 443)
    (False, False, True)
    """
    parsed = ip_address(address.partition("%")[0])
    mapped = getattr(parsed, "ipv4_mapped", None) or parsed
    return mapped.is_global and not mapped.is_multicast and port in _PORTS.values()


@entrance("fetched VOTable", "length", "types")
def fetch_table(address: str, largest: int, is_allowed: Callable[[str, int], bool] = is_public_address) -> bytes:
    """Return the bytes at an address.

    Parameters
    ----------
    address
        The address, with http or https.
    largest
        The most bytes.
    is_allowed
        Returns whether an address and a port may be called.

    Raises
    ------
    TapError
        If the address may not be called, does not answer, or holds too much.
    """
    parts = urlsplit(address)
    try:
        host, port = parts.hostname, parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:
        host, port = None, 0
    if parts.scheme not in _PORTS or not host or parts.username is not None:
        raise TapError(f"expected an address with http or https, got {address[:200]!r}")
    try:
        entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise TapError(f"the host {host[:100]} of an uploaded table is not known") from error
    targets = [str(entry[4][0]) for entry in entries]
    if not all(is_allowed(target, port) for target in targets):
        raise TapError(
            f"this server does not fetch tables from {host[:100]}",
            hint="only public addresses are allowed: send the table in the request, UPLOAD=name,param:part",
        )
    try:
        return _read(parts, host, (targets[0], port), largest)
    except TapError:
        raise
    except (OSError, HTTPException, ValueError) as error:
        raise TapError(f"the uploaded table cannot be fetched from {host[:100]}: {type(error).__name__}") from error


def _read(parts: SplitResult, host: str, target: tuple[str, int], largest: int) -> bytes:
    """Return the content at an address, through a connection to a target that was checked."""
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(host, target[1], timeout=_SECONDS)
    connected = socket.create_connection(target, timeout=_SECONDS)
    if parts.scheme == "https":
        connected = ssl.create_default_context().wrap_socket(connected, server_hostname=host)
    connection.sock = connected
    try:
        path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
        connection.request("GET", path, headers={"Accept-Encoding": "identity"})
        with connection.getresponse() as response:
            if response.status != 200:
                raise TapError(f"the uploaded table cannot be fetched from {host[:100]}: status {response.status}")
            content = bytearray()
            while block := response.read(_BLOCK):
                deadline.check()
                content += block
                if len(content) > largest:
                    raise TapError(f"the uploaded table has more than {largest:,} bytes", hint="upload a smaller table")
            return bytes(content)
    finally:
        connection.close()
