"""Checks and headers for every request and every answer, independent of the page.

A server on loopback is reachable: any page in the same browser can send it requests. So a request must name a host of
this server (a foreign name that was rebound to this machine is refusal), a request with a change must come from a page
of this server, and the pages of this server load and run nothing from other sites.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from provenn.tap.service_limits import ServiceLimits
from provenn.web.failures import make_busy_answer, make_failure
from provenn.web.policy import POLICY
from provenn.web.proxies import find_address, make_address_key

__all__ = ["LARGEST", "LOOPBACK", "SAFE", "Guard", "guard_app", "replay_body"]

LARGEST: Final = 1_000_000
"""Maximum bytes of the body of a request."""

LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
"""The host names of this machine."""

SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""The HTTP methods without side effects."""

_UPLOAD: Final = ServiceLimits().upload
_LONGEST_HEAD: Final = 32_768
_PATIENCE: Final = 30.0
"""Time limit in seconds for the arrival of a whole request."""

_UPLOAD_PATIENCE: Final = 120.0
_UPLOADS: Final = 8
_UPLOADS_EACH: Final = 2
"""How many requests with uploads are in memory at once, in total and from each address."""

_HEADERS: Final = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Guard:
    """Refuses requests that are too large or come from other sites, and adds security headers to answers.

    Parameters
    ----------
    app
        The application that answers.
    upload
        The most bytes of tables that a request uploads.
    """

    def __init__(self, app: ASGIApp, upload: int) -> None:
        self._app = app
        self._upload = upload
        self._uploads: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("Content-Security-Policy", POLICY)
                for name, value in _HEADERS.items():
                    headers[name] = value
                if scope["scheme"] == "https":
                    headers["Strict-Transport-Security"] = "max-age=31536000"
            await send(message)

        headers = Headers(scope=scope)
        if sum(len(name) + len(value) for name, value in scope["headers"]) > _LONGEST_HEAD:
            await make_failure(scope, 431, "the headers of this request are too long")(scope, receive, send_guarded)
            return
        if scope["method"] not in SAFE and not _is_from_own_page(headers):
            refusal = make_failure(scope, 403, "this request comes from another site", "send it from its own page")
            await refusal(scope, receive, send_guarded)
            return
        with self._take_upload_slot(scope, headers) as limits:
            if limits is None:
                refusal = make_busy_answer(scope, 503, "too many tables are being uploaded", 10)
                await refusal(scope, receive, send_guarded)
                return
            await self._answer(scope, receive, send_guarded, *limits)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, largest: int, seconds: float) -> None:
        """Read the body of a request within limits of bytes and seconds, and pass the request on."""
        try:
            body = await asyncio.wait_for(_read_body(receive, Headers(scope=scope), largest), seconds)
        except TimeoutError:
            refusal = make_failure(scope, 408, f"this request took longer than {seconds:g} seconds to arrive")
            await refusal(scope, receive, send)
            return
        if body is None:
            hint = "ask for less at once, or upload a smaller table"
            refusal = make_failure(scope, 413, f"this request has more than {largest:,} bytes", hint)
            await refusal(scope, receive, send)
            return
        await self._app(scope, replay_body(body, receive), send)

    @contextmanager
    def _take_upload_slot(self, scope: Scope, headers: Headers) -> Iterator[tuple[int, float] | None]:
        """Yield the limits of bytes and seconds of a request; None if too many others upload tables."""
        if not _is_upload(scope, headers):
            yield LARGEST, _PATIENCE
            return
        address = make_address_key(find_address(Request(scope)))
        if self._uploads.total() >= _UPLOADS or self._uploads[address] >= _UPLOADS_EACH:
            yield None
            return
        self._uploads[address] += 1
        try:
            yield LARGEST + self._upload, _UPLOAD_PATIENCE
        finally:
            self._uploads -= Counter([address])


def guard_app(app: ASGIApp, hosts: Sequence[str] = LOOPBACK, upload: int = _UPLOAD) -> ASGIApp:
    """Return an application that answers only harmless requests for the given hosts, with uploads of so many bytes."""
    return Guard(TrustedHostMiddleware(app, allowed_hosts=list(hosts), www_redirect=False), upload)


def _is_from_own_page(headers: Headers) -> bool:
    """Return whether a request comes from a page of this server, or from no page at all."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site in {"same-origin", "none"}
    origin = headers.get("origin")
    return origin is None or origin.partition("://")[2] == headers.get("host")


def _is_upload(scope: Scope, headers: Headers) -> bool:
    """Return whether a request may upload tables to the TAP service, and is larger than other requests."""
    if scope["method"] != "POST" or not scope["path"].startswith(("/tap/sync", "/tap/async")):
        return False
    announced_length = headers.get("content-length", "")
    is_form = headers.get("content-type", "").lower().startswith("multipart/form-data")
    return is_form and not (announced_length.isdecimal() and int(announced_length) <= LARGEST)


async def _read_body(receive: Receive, headers: Headers, largest: int) -> bytes | None:
    """Return the body of a request, or None if it is too large."""
    announced_length = headers.get("content-length", "")
    if announced_length.isdecimal() and int(announced_length) > largest:
        return None
    body = bytearray()
    if not announced_length and "transfer-encoding" not in headers:
        return bytes(body)
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return bytes(body)
        body += message.get("body", b"")
        if len(body) > largest:
            return None
        if not message.get("more_body", False):
            return bytes(body)


def replay_body(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that first gives the body already read, then the messages that follow."""
    is_replayed = False

    async def replay() -> Message:
        nonlocal is_replayed
        if is_replayed:
            return await receive()
        is_replayed = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay
