"""The pages for login with a token and for logout."""

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from provenn.gate.entrances import entrance
from provenn.web.accounts import Accounts
from provenn.web.entering import COOKIE, make_too_often_answer
from provenn.web.proxies import find_address
from provenn.web.rendering import render

__all__ = ["router"]

router = APIRouter(include_in_schema=False)

_START = "/catalogs"
Address = Annotated[str, Query(max_length=4000)]


@router.get("/login", response_class=HTMLResponse)
def ask_for_token(next: Address = _START) -> HTMLResponse:  # noqa: A002 - the name in the address
    """Ask for a token."""
    return render("login.html", {"next": next, "problem": ""})


@router.post("/login")
@entrance("token of a stranger", "length", "digest")
def log_in(
    request: Request,
    token: Annotated[str, Form(max_length=500)],
    next: Annotated[str, Form(max_length=4000)] = _START,  # noqa: A002 - as above
) -> Response:
    """Begin a session, and redirect to the page requested before the login."""
    accounts: Accounts = request.app.state.accounts
    session = accounts.log_in(token, find_address(request))
    if session is None:
        if not accounts.record_refusal(find_address(request)):
            return make_too_often_answer(request.scope)
        problem = "This token is unknown or no longer valid."
        return render("login.html", {"next": next, "problem": problem}, 401)
    answer = RedirectResponse(_restrict_to_own_pages(next), 303)
    secure = request.url.scheme == "https"
    answer.set_cookie(COOKIE, session[0], httponly=True, samesite="strict", secure=secure, path="/")
    return answer


@router.post("/logout")
def log_out(request: Request) -> RedirectResponse:
    """End the session."""
    accounts: Accounts = request.app.state.accounts
    accounts.log_out(request.cookies.get(COOKIE, ""))
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return answer


def _restrict_to_own_pages(address: str) -> str:
    r"""Return an address of this server unchanged; replace every other address by the start page.

    >>> _restrict_to_own_pages("/catalogs/a?b=c"), _restrict_to_own_pages("//evil.example")
    ('/catalogs/a?b=c', '/catalogs')
    >>> _restrict_to_own_pages("/\\evil.example"), _restrict_to_own_pages("https://evil.example")
    ('/catalogs', '/catalogs')
    """
    is_own = address.startswith("/") and not address.startswith(("//", "/login", "/logout"))
    return address if is_own and address.isprintable() and "\\" not in address else _START
