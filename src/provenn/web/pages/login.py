"""Logging in with a token, and out."""

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from provenn.web.accounts import Accounts
from provenn.web.entering import COOKIE, address_of, too_often
from provenn.web.rendering import render

__all__ = ["router"]

router = APIRouter(include_in_schema=False)

_START = "/catalogs"
Address = Annotated[str, Query(max_length=4000)]


@router.get("/login", response_class=HTMLResponse)
def ask(next: Address = _START) -> HTMLResponse:  # noqa: A002 - what it is called in the address
    """Ask for a token."""
    return render("login.html", {"next": next, "problem": ""})


@router.post("/login")
def log_in(
    request: Request,
    token: Annotated[str, Form(max_length=500)],
    next: Annotated[str, Form(max_length=4000)] = _START,  # noqa: A002 - as above
) -> Response:
    """Begin a session, and go where one wanted to go."""
    accounts: Accounts = request.app.state.accounts
    begun = accounts.log_in(token, address_of(request))
    if begun is None:
        if not accounts.refused(address_of(request)):
            return too_often(request.scope)
        problem = "This token is not known here, or not good any more."
        return render("login.html", {"next": next, "problem": problem}, 401)
    answer = RedirectResponse(_own(next), 303)
    secure = request.url.scheme == "https"
    answer.set_cookie(COOKIE, begun[0], httponly=True, samesite="strict", secure=secure, path="/")
    return answer


@router.post("/logout")
def log_out(request: Request) -> RedirectResponse:
    """End the session."""
    accounts: Accounts = request.app.state.accounts
    accounts.log_out(request.cookies.get(COOKIE, ""))
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return answer


def _own(address: str) -> str:
    r"""Return an address if it is one of ours, and no way to another site.

    >>> _own("/catalogs/a?b=c"), _own("//evil.example"), _own("/\\evil.example"), _own("https://evil.example")
    ('/catalogs/a?b=c', '/catalogs', '/catalogs', '/catalogs')
    """
    ours = address.startswith("/") and not address.startswith(("//", "/login", "/logout"))
    return address if ours and address.isprintable() and "\\" not in address else _START
