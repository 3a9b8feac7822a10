"""Accounts of the server: people with a token, and browser sessions that began with a token.

A session is a separate secret. The session is valid for half a day, as long as the token is valid and the server runs.
Neither the browser nor the server keeps the token itself.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from hashlib import blake2b, sha256
from secrets import compare_digest, token_bytes, token_urlsafe
from time import monotonic
from typing import Final

from provenn.archive import Archive
from provenn.archive.tokens import find_best_token, find_token_by_number, find_token_by_secret
from provenn.people.tokens import Role, Token
from provenn.web.notes import Notes
from provenn.web.proxies import make_address_key
from provenn.web.quota_limits import Quotas
from provenn.web.rates import Rate

__all__ = ["Account", "Accounts", "act_as", "get_current_account", "match_secrets"]

_ROLES: Final[tuple[Role, ...]] = ("reader", "author", "admin")
_SECONDS: Final = 12 * 3600.0
_MOST: Final = 10_000
_LONGEST: Final = 200
_OFTEN: Final = 60.0


@dataclass(frozen=True, slots=True)
class Account:
    """A person on whose behalf the server answers requests.

    Attributes
    ----------
    who, role
        The name of the person, and the role that limits their actions.
    token
        The number of the token.
    form
        The secret that each form of this browser must send; empty for a program, because no foreign page can send the
        token of a program.
    is_vouched_for
        Whether a named proxy identified the person; the server then offers no logout.
    """

    who: str
    role: Role
    token: int
    form: str = ""
    is_vouched_for: bool = False

    def may(self, role: Role) -> bool:
        """Return whether the account has at least the rights of a role."""
        return _ROLES.index(self.role) >= _ROLES.index(role)


_CURRENT: Final[ContextVar[Account | None]] = ContextVar("account", default=None)


def get_current_account() -> Account | None:
    """Return the account of the current request; None on a server without accounts."""
    return _CURRENT.get()


@contextmanager
def act_as(account: Account) -> Iterator[None]:
    """Make an account the current account within the block, and in all tasks and threads started by the block."""
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
    """The accounts of all people with a token, and the sessions of their browsers.

    Parameters
    ----------
    archive
        The archive with the tokens.

    Attributes
    ----------
    notes
        Receives notes of logins and failed logins for the audit log.
    quotas
        The quotas of all people.
    """

    def __init__(self, archive: Archive) -> None:
        self._archive = archive.as_seen_by(archive.who, confined=False, via="http")
        self.notes = Notes(self._archive)
        self.quotas = Quotas(self._archive, self.notes)
        self._forms = token_bytes(32)
        self._lock = threading.Lock()
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        self._noted: dict[int, float] = {}
        self._failures = Rate(per_second=0.2, at_once=10)

    def find_by_token(self, secret: str) -> Account | None:
        """Return the account of a token; None unless the token is valid."""
        return self._make_account(find_token_by_secret(self._archive, secret[:_LONGEST]))

    def find_by_session(self, secret: str) -> Account | None:
        """Return the account of a session; None if the session has ended or the token is not valid any more."""
        with self._lock:
            session = self._sessions.get(_hash_secret(secret))
        if session is None or session.ends < monotonic():
            return None
        account = self._make_account(find_token_by_number(self._archive, session.token))
        return account and replace(account, form=session.form)

    def find_vouched_for(self, who: str) -> Account | None:
        """Return the account of a person identified by a named proxy; None if the person has no valid token.

        The best token of the person determines the role. The proxy typically knows people by a cookie, and any page
        can make a browser send a cookie: therefore each form must send the secret that its page contained.
        """
        account = self._make_account(find_best_token(self._archive, who[:_LONGEST]))
        form = blake2b(who.encode("utf-8", "surrogatepass"), key=self._forms, digest_size=24).hexdigest()
        return account and replace(account, form=form, is_vouched_for=True)

    def log_in(self, secret: str, address: str) -> tuple[str, Account] | None:
        """Begin a session: return the secret and the account of the session, or None for an invalid token.

        Parameters
        ----------
        secret
            The secret of the token.
        address
            The address of the browser, for the audit log.
        """
        account = self.find_by_token(secret.strip())
        if account is None:
            return None
        session_secret = token_urlsafe(32)
        with self._lock:
            self._sessions[_hash_secret(session_secret)] = _Session(
                account.token, token_urlsafe(32), monotonic() + _SECONDS
            )
            while len(self._sessions) > _MOST:
                self._sessions.popitem(last=False)
        self.notes.note_deed("log in", f"token #{account.token}", address, who=account.who)
        return session_secret, account

    def log_out(self, secret: str) -> None:
        """End a session."""
        with self._lock:
            self._sessions.pop(_hash_secret(secret), None)

    def record_refusal(self, address: str) -> bool:
        """Note a failed login for the audit log; return False if the address has failed too often to be noted."""
        with self._lock:
            is_within_rate = self._failures.take(make_address_key(address))
        if is_within_rate:
            self.notes.note_deed("fail to log in", address, who="?")
        return is_within_rate

    def _make_account(self, token: Token | None) -> Account | None:
        if token is None:
            return None
        if monotonic() - self._noted.get(token.number, -_OFTEN) >= _OFTEN:
            self._noted[token.number] = monotonic()
            self.notes.note_use(token)
        return Account(token.who, token.role, token.number)


def match_secrets(secret: str, wanted: str) -> bool:
    """Return whether two secrets are equal, in a time that does not depend on the secrets."""
    return compare_digest(secret.encode("utf-8", "surrogatepass"), wanted.encode())


def _hash_secret(secret: str) -> str:
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
