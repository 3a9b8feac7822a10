"""Authentication before any page: by a token, by a browser session, or by a named proxy.

An unauthenticated request learns nothing, not even which pages exist.
"""

from asyncio import sleep
from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import parse_qs, quote

from anyio import CapacityLimiter, to_thread
from fastapi import Request, Response
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from provenn.web.accounts import Account, Accounts, act_as, match_secrets
from provenn.web.failures import DELAY, OBSERVATORY, make_busy_answer, make_failure
from provenn.web.guarding import SAFE, replay_body
from provenn.web.proxies import find_address
from provenn.web.rates import Rate
from provenn.web.rendering import render
from provenn.web.turns import make_person_key

__all__ = ["COOKIE", "Authenticator", "make_too_often_answer"]

COOKIE: Final = "provenn_session"
"""The name of the session cookie."""

_PER_SECOND: Final = 50
_AT_ONCE: Final = 200
"""The rate limit per person: a burst of `_AT_ONCE` requests, then `_PER_SECOND` requests per second."""

_THREADS: Final = 4
"""Threads reserved for authentication, so that long questions never delay it."""

_FORM: Final = "form"
_FORM_HEADER: Final = "x-provenn-form"
_OPEN: Final = ("/login", "/static/")


class Authenticator:
    """Passes on authenticated requests with their account, and limits the rate of requests.

    Parameters
    ----------
    app
        The application that answers authenticated requests.
    accounts
        The accounts of the server.
    """

    def __init__(self, app: ASGIApp, accounts: Accounts) -> None:
        self._app = app
        self._accounts = accounts
        self._rate = Rate(_PER_SECOND, _AT_ONCE)
        self._quotas = Rate(_PER_SECOND, _AT_ONCE)
        self._threads = CapacityLimiter(_THREADS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_private(message: Message) -> None:
            if message["type"] == "http.response.start" and not scope["path"].startswith("/static/"):
                MutableHeaders(scope=message)["Cache-Control"] = "no-store"
            await send(message)

        request = Request(scope)
        account, per_minute = await to_thread.run_sync(self._identify, request, limiter=self._threads)
        person = make_person_key(scope, account)
        if not self._rate.take(person):
            await sleep(DELAY)
            await make_too_often_answer(scope)(scope, receive, send_private)
            return
        if per_minute is not None and not self._quotas.take(person, per_minute=per_minute):
            await sleep(DELAY)
            message = f"your quota is {per_minute} requests per minute"
            await make_busy_answer(scope, 429, message, -(-60 // max(1, per_minute)))(scope, receive, send_private)
            return
        refusal = await self._refuse_unknown(request, account)
        if refusal is None and account is not None and scope["method"] not in SAFE:
            body = (await receive()).get("body", b"")  # the guard has read all of it
            receive = replay_body(body, receive)
            refusal = _check_permission(scope, account, Headers(scope=scope), body)
        if refusal is not None:
            await refusal(scope, receive, send_private)
        elif account is None:
            await self._app(scope, receive, send_private)
        else:
            with act_as(account):
                await self._app(scope, receive, send_private)

    def _identify(self, request: Request) -> tuple[Account | None, int | None]:
        """Return the account of a request, and its quota of questions per minute; None for no quota."""
        account = self._find_account(request)
        if account is None or request.scope["path"].startswith(_OPEN[1]):
            return account, None
        return account, self._accounts.quotas.limit(account.who, "questions")

    def _find_account(self, request: Request) -> Account | None:
        authorization = request.headers.get("authorization")
        if authorization is not None:
            secret = _read_token(request.scope, authorization)
            return None if secret is None else self._accounts.find_by_token(secret)
        users = request.scope.get("provenn.user")
        if users is not None:
            return self._accounts.find_vouched_for(users[0]) if len(users) == 1 else None
        session = request.cookies.get(COOKIE)
        return None if session is None else self._accounts.find_by_session(session)

    async def _refuse_unknown(self, request: Request, account: Account | None) -> Response | None:
        """Return the refusal of an unauthenticated request, or None; note an invalid token for the audit log."""
        path = request.scope["path"]  # the path that routing uses; the path in the URL may differ
        if account is not None or path == _OPEN[0] or path.startswith(_OPEN[1]):
            return None
        has_token = "authorization" in request.headers
        if has_token and not self._accounts.record_refusal(find_address(request)):
            return make_too_often_answer(request.scope)
        users = request.scope.get("provenn.user")
        return _request_login(request) if has_token or users is None else _refuse_proxy_user(request, users)


def _read_token(scope: Scope, authorization: str) -> str | None:
    """Return the token in a header: a bearer token, or the password that clients of the Virtual Observatory send."""
    scheme, _, text = authorization.partition(" ")
    if scheme.lower() == "bearer":
        return text.strip()
    if scheme.lower() != "basic" or not scope["path"].startswith(OBSERVATORY):
        return None
    try:
        return b64decode(text.strip(), validate=True).decode().partition(":")[2]
    except ValueError:
        return None


def _request_login(request: Request) -> Response:
    path = request.scope["path"]
    if path.startswith(OBSERVATORY):
        hint = "send the token as password, or in the header Authorization: Bearer TOKEN"
        refusal: Response = make_failure(request.scope, 401, "this needs a valid token", hint)
        refusal.headers["WWW-Authenticate"] = 'Basic realm="provenn"'
        return refusal
    if path.startswith("/api/"):
        hint = "send the header Authorization: Bearer TOKEN"
        refusal = make_failure(request.scope, 401, "this needs a valid token", hint)
    else:
        query = f"?{request.url.query}" if request.url.query else ""
        refusal = render("login.html", {"next": f"{quote(path)}{query}", "problem": ""}, 401)
    refusal.headers["WWW-Authenticate"] = "Bearer"
    return refusal


def _refuse_proxy_user(request: Request, users: Sequence[str]) -> Response:
    """Return the refusal of a request through a proxy that names no person, or a person without a token."""
    if len(users) != 1 or not users[0]:
        return make_failure(
            request.scope,
            401,
            "the proxy does not name the person",
            "log in at the proxy, or send the header Authorization: Bearer TOKEN",
        )
    hint = "ask the administrator for one: provenn token new"
    return make_failure(request.scope, 403, f"{users[0]} has no token for this archive", hint)


def make_too_often_answer(scope: Scope) -> Response:
    """Return the refusal of a request beyond the rate limit."""
    return make_busy_answer(scope, 429, "too many requests in a short time")


def _check_permission(scope: Scope, account: Account, headers: Mapping[str, str], body: bytes) -> Response | None:
    """Return the refusal of a change by a reader or by a form without the session's secret; None if it is allowed."""
    if scope["path"] == "/login":
        return None
    if account.form and not match_secrets(headers.get(_FORM_HEADER) or _read_form_secret(headers, body), account.form):
        return make_failure(
            scope, 403, "this form belongs to another session", "reload the page, and send the form again"
        )
    may_ask = scope["path"] == "/logout" or scope["path"].startswith(OBSERVATORY)  # these check queries themselves
    if not may_ask and not account.may("author"):
        return make_failure(scope, 403, "this needs a token with the role author", "ask the administrator for one")
    return None


def _read_form_secret(headers: Mapping[str, str], body: bytes) -> str:
    if headers.get("content-type", "").partition(";")[0].strip() != "application/x-www-form-urlencoded":
        return ""
    try:
        return parse_qs(body.decode("latin-1"), max_num_fields=1000).get(_FORM, [""])[0]
    except ValueError:  # more fields than any form of this server has
        return ""
