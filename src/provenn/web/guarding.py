"""What every request and every answer goes through, whatever page is asked for.

A server on loopback is not out of reach: any page in the same browser can send it requests. So a request must name a
host that is ours (a name that was rebound to this machine is not), what changes anything must come from a page of ours,
and no page of ours loads or runs anything from elsewhere.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from provenn.web.failures import failure

__all__ = ["LARGEST", "LOOPBACK", "SAFE", "Guard", "guarded", "replayed"]

LARGEST: Final = 1_000_000
"""How many bytes a request may bring."""

LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
"""The hosts that are this machine."""

SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""The methods of requests that change nothing."""

_LONGEST_HEAD: Final = 32_768
_PATIENCE: Final = 30.0
"""Seconds in which a request must have arrived."""

_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Guard:
    """Refuses what is too large or comes from elsewhere, and tells the browser what a page may do.

    Parameters
    ----------
    app
        What answers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                if scope["scheme"] == "https":
                    headers["Strict-Transport-Security"] = "max-age=31536000"
            await send(message)

        headers = Headers(scope=scope)
        if sum(len(name) + len(value) for name, value in scope["headers"]) > _LONGEST_HEAD:
            await failure(scope, 431, "the head of this request is too long")(scope, receive, send_guarded)
            return
        if scope["method"] not in SAFE and not _from_here(headers):
            refused = failure(scope, 403, "this request comes from a page of another site", "send it from its own page")
            await refused(scope, receive, send_guarded)
            return
        try:
            body = await asyncio.wait_for(_read(receive, headers), _PATIENCE)
        except TimeoutError:
            refused = failure(scope, 408, f"this request took longer than {_PATIENCE:g} seconds to arrive")
            await refused(scope, receive, send_guarded)
            return
        if body is None:
            refused = failure(scope, 413, f"this request brings more than {LARGEST:,} bytes", "ask for less at once")
            await refused(scope, receive, send_guarded)
            return
        await self._app(scope, replayed(body, receive), send_guarded)


def guarded(app: ASGIApp, hosts: Sequence[str] = LOOPBACK) -> ASGIApp:
    """Return an application that only answers requests for these hosts, and none that does harm."""
    return Guard(TrustedHostMiddleware(app, allowed_hosts=list(hosts), www_redirect=False))


def _from_here(headers: Headers) -> bool:
    """Whether a request comes from a page of ours, or from no page at all."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site in {"same-origin", "none"}
    origin = headers.get("origin")
    return origin is None or origin.partition("://")[2] == headers.get("host")


async def _read(receive: Receive, headers: Headers) -> bytes | None:
    """Return what a request brings, or None if that is too much."""
    told = headers.get("content-length", "")
    if told.isdecimal() and int(told) > LARGEST:
        return None
    body = bytearray()
    if not told and "transfer-encoding" not in headers:
        return bytes(body)
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return bytes(body)
        body += message.get("body", b"")
        if len(body) > LARGEST:
            return None
        if not message.get("more_body", False):
            return bytes(body)


def replayed(body: bytes, receive: Receive) -> Receive:
    """Return what gives the application the body that was read, and then whatever comes."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay
