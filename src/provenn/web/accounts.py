"""Who uses the server: people who have a token, and browsers that were shown one.

A browser gets a session: a secret of its own, which is good for half a day while the token is, and dies with the
server. The token itself is never kept by the browser, nor by the server.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from hashlib import sha256
from secrets import compare_digest, token_urlsafe
from time import monotonic
from typing import Final

from provenn.archive import Archive
from provenn.archive.serving import note, note_use, token_numbered, token_with
from provenn.store.tokens import Role, Token
from provenn.web.rates import Rate

__all__ = ["Account", "Accounts", "acting", "current", "same"]

_ROLES: Final[tuple[Role, ...]] = ("reader", "author", "admin")
_SECONDS: Final = 12 * 3600.0
_MOST: Final = 10_000
_LONGEST: Final = 200
_OFTEN: Final = 60.0


@dataclass(frozen=True, slots=True)
class Account:
    """Somebody who uses the server.

    Attributes
    ----------
    who, role
        The person, and what they may do.
    token
        The number of the token.
    form
        What a form of this browser has to bring; empty if it is a program, whose token no other page can send.
    """

    who: str
    role: Role
    token: int
    form: str = ""

    def may(self, role: Role) -> bool:
        """Whether they may do what a role may."""
        return _ROLES.index(self.role) >= _ROLES.index(role)


_CURRENT: Final[ContextVar[Account | None]] = ContextVar("account", default=None)


def current() -> Account | None:
    """Return who asks now; None where the server asks nobody who they are."""
    return _CURRENT.get()


@contextmanager
def acting(account: Account) -> Iterator[None]:
    """Let somebody be who asks, while the body runs and in whatever it starts."""
    token = _CURRENT.set(account)
    try:
        yield
    finally:
        _CURRENT.reset(token)


@dataclass(frozen=True, slots=True)
class _Session:
    token: int
    form: str
    ends: float


class Accounts:
    """The people who have a token, and the sessions of their browsers.

    Parameters
    ----------
    archive
        Has the tokens.
    """

    def __init__(self, archive: Archive) -> None:
        self._archive = archive.as_seen_by(archive.who, confined=False, via="http")
        self._lock = threading.Lock()
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        self._noted: dict[int, float] = {}
        self._failures = Rate(per_second=0.2, at_once=10)

    def with_token(self, secret: str) -> Account | None:
        """Return who has a token, if it is good."""
        return self._account(token_with(self._archive, secret[:_LONGEST]))

    def in_session(self, secret: str) -> Account | None:
        """Return who is logged in with a session, if that has not ended and their token is good."""
        with self._lock:
            session = self._sessions.get(_hashed(secret))
        if session is None or session.ends < monotonic():
            return None
        account = self._account(token_numbered(self._archive, session.token))
        return account and replace(account, form=session.form)

    def log_in(self, secret: str, address: str) -> tuple[str, Account] | None:
        """Begin a session: return its secret, and whose it is; None if the token is not good.

        Parameters
        ----------
        secret
            The token's.
        address
            Where the browser is, for the audit log.
        """
        account = self.with_token(secret.strip())
        if account is None:
            return None
        made = token_urlsafe(32)
        with self._lock:
            self._sessions[_hashed(made)] = _Session(account.token, token_urlsafe(32), monotonic() + _SECONDS)
            while len(self._sessions) > _MOST:
                self._sessions.popitem(last=False)
        note(self._archive, "log in", f"token #{account.token}", address, who=account.who)
        return made, account

    def log_out(self, secret: str) -> None:
        """End a session."""
        with self._lock:
            self._sessions.pop(_hashed(secret), None)

    def refused(self, address: str) -> bool:
        """Record that somebody came with a token that is not good; or return False if that happens too often there."""
        with self._lock:
            seldom = self._failures.take(address)
        if seldom:
            note(self._archive, "fail to log in", address, who="?")
        return seldom

    def _account(self, token: Token | None) -> Account | None:
        if token is None:
            return None
        if monotonic() - self._noted.get(token.number, -_OFTEN) >= _OFTEN:
            self._noted[token.number] = monotonic()
            note_use(self._archive, token)
        return Account(token.who, token.role, token.number)


def same(given: str, wanted: str) -> bool:
    """Whether two secrets are the same; how long that takes tells nothing."""
    return compare_digest(given.encode("utf-8", "surrogatepass"), wanted.encode())


def _hashed(secret: str) -> str:
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
