"""Where people show who they are, before any page is asked for: with a token, or in the session of a browser.

Without it nothing is told, not even which pages there are.
"""

from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qs, quote

from fastapi import Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from provenn.web.accounts import Account, Accounts, acting, same
from provenn.web.failures import failure
from provenn.web.guarding import SAFE, replayed
from provenn.web.rates import Rate
from provenn.web.rendering import render

__all__ = ["COOKIE", "Entrance", "address_of", "too_often"]

COOKIE: Final = "provenn_session"
"""What the cookie of a session is called."""

_PER_SECOND: Final = 50
_AT_ONCE: Final = 200
"""How often somebody may ask: so many times at once, and then so many times a second."""

_FORM: Final = "form"
_FORM_HEADER: Final = "x-provenn-form"
_OPEN: Final = ("/login", "/static/")


class Entrance:
    """Lets those in who show a token that is good, each as who they are, and not too often.

    Parameters
    ----------
    app
        What answers them.
    accounts
        Who they are.
    """

    def __init__(self, app: ASGIApp, accounts: Accounts) -> None:
        self._app = app
        self._accounts = accounts
        self._rate = Rate(_PER_SECOND, _AT_ONCE)

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
        account = await run_in_threadpool(self._account, request)
        if not self._rate.take(f"account {account.who}" if account else address_of(request)):
            await too_often(scope)(scope, receive, send_private)
            return
        refused = await self._refused(request, account)
        if refused is None and account is not None and scope["method"] not in SAFE:
            body = (await receive()).get("body", b"")  # the guard has read all of it
            receive = replayed(body, receive)
            refused = _not_allowed(scope, account, Headers(scope=scope), body)
        if refused is not None:
            await refused(scope, receive, send_private)
        elif account is None:
            await self._app(scope, receive, send_private)
        else:
            with acting(account):
                await self._app(scope, receive, send_private)

    def _account(self, request: Request) -> Account | None:
        given = request.headers.get("authorization")
        if given is not None:
            scheme, _, secret = given.partition(" ")
            return self._accounts.with_token(secret.strip()) if scheme.lower() == "bearer" else None
        session = request.cookies.get(COOKIE)
        return None if session is None else self._accounts.in_session(session)

    async def _refused(self, request: Request, account: Account | None) -> Response | None:
        """Return the answer to somebody who does not say who they are; who comes with a bad token is taken note of."""
        path = request.scope["path"]  # by which it is answered; that of its URL may be another
        if account is not None or path == _OPEN[0] or path.startswith(_OPEN[1]):
            return None
        came = "authorization" in request.headers
        if came and not await run_in_threadpool(self._accounts.refused, address_of(request)):
            return too_often(request.scope)
        return _unknown(request)


def address_of(request: Request) -> str:
    """Return where a request comes from."""
    return request.client.host if request.client else "nowhere"


def _unknown(request: Request) -> Response:
    path = request.scope["path"]
    if path.startswith("/api/"):
        hint = "send it as: Authorization: Bearer TOKEN"
        refused: Response = failure(request.scope, 401, "this needs a token, and one that is good", hint)
    else:
        query = f"?{request.url.query}" if request.url.query else ""
        refused = render("login.html", {"next": f"{quote(path)}{query}", "problem": ""}, 401)
    refused.headers["WWW-Authenticate"] = "Bearer"
    return refused


def too_often(scope: Scope) -> Response:
    """Return the answer to somebody who asks too often."""
    refused = failure(scope, 429, "these are too many requests in a short time", "ask again in a moment")
    refused.headers["Retry-After"] = "1"
    return refused


def _not_allowed(scope: Scope, account: Account, headers: Mapping[str, str], body: bytes) -> Response | None:
    """Return the answer to somebody who may not change anything, or whose browser did not send a form of ours."""
    if scope["path"] == "/login":
        return None
    if account.form and not same(headers.get(_FORM_HEADER) or _in_form(headers, body), account.form):
        return failure(scope, 403, "this form is not of this session", "load its page again, and send it from there")
    if scope["path"] != "/logout" and not account.may("author"):
        return failure(scope, 403, "this needs a token of the role author", "ask who runs the server for one")
    return None


def _in_form(headers: Mapping[str, str], body: bytes) -> str:
    if headers.get("content-type", "").partition(";")[0].strip() != "application/x-www-form-urlencoded":
        return ""
    try:
        return parse_qs(body.decode("latin-1"), max_num_fields=1000).get(_FORM, [""])[0]
    except ValueError:  # more fields than any form of ours has
        return ""
