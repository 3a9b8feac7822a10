"""Tokens: who may use the server of an archive, as whom, and until when.

A token is a secret that is shown once. The archive keeps its SHA-256, from which it cannot be found out: it is 256
random bits. So who reads the database cannot use anybody's token.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Literal, get_args

from sqlalchemy import insert, select, update

from provenn.errors import TokenError, did_you_mean
from provenn.store import audit, clock
from provenn.store.database import Reading, Writing
from provenn.store.tables import tokens

__all__ = ["Role", "Token", "identified", "issue", "listing", "revoke", "used"]

Role = Literal["reader", "author", "admin"]
"""What somebody may do: look, ask and plan; also have targets computed; also see the audit log."""

_LONGEST = 200
_MOST_DAYS = 36_500
_BYTES = 32
_OFTEN = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Token:
    """A token, without its secret.

    Parameters
    ----------
    number
        Its number, which no other token ever has.
    who, role
        Who uses the server with it, and what they may do.
    created_at, created_by
        When it was made, and by whom.
    expires_at, used_at, revoked_at
        Until when it is good, when it was last used, about, and since when it is not good any more; None for never.
    """

    number: int
    who: str
    role: Role
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    used_at: datetime | None
    revoked_at: datetime | None

    def is_good(self, now: datetime) -> bool:
        """Whether it can be used."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


def issue(writing: Writing, who: str, role: str, *, days: float | None = None) -> tuple[Token, str]:
    """Make a token; return it and its secret, which cannot be had again.

    Raises
    ------
    TokenError
        If nobody can be called so, there is no such role, or it would expire before it can be used.
    """
    if not who.strip() or who != who.strip() or not who.isprintable() or len(who) > _LONGEST:
        raise TokenError(f"nobody is called {who[:_LONGEST]!r}", hint=f"up to {_LONGEST} printable characters")
    if role not in get_args(Role):
        hint = did_you_mean(role, get_args(Role)) or f"there are {', '.join(get_args(Role))}"
        raise TokenError(f"there is no role {role!r}", hint=hint)
    if days is not None and not 0 < days <= _MOST_DAYS:
        raise TokenError(
            f"a token cannot be good for {days:g} days", hint="for more than none, and less than a century"
        )
    secret = secrets.token_urlsafe(_BYTES)
    row = {
        "who": who,
        "role": role,
        "digest": _digest(secret),
        "created_at": writing.when,
        "created_by": writing.who,
        "expires_at": None if days is None else writing.when + timedelta(days=days),
    }
    number = writing.connection.execute(insert(tokens).returning(tokens.c.id), row).scalar_one()
    audit.record(writing, "make token", f"token #{number}", f"{role} {who}")
    return _token(writing, number), secret


def listing(reading: Reading) -> Sequence[Token]:
    """Return all tokens, those that are not good any more included, by number."""
    return [Token(*row) for row in reading.connection.execute(_SELECT.order_by(tokens.c.id))]


def revoke(writing: Writing, number: int) -> Token:
    """Make a token useless from now on; one that is so already stays as it is.

    Raises
    ------
    TokenError
        If there is no such token.
    """
    found = _token(writing, number)
    if found.revoked_at is None:
        writing.connection.execute(update(tokens).where(tokens.c.id == number).values(revoked_at=writing.when))
        audit.record(writing, "revoke token", f"token #{number}", found.who)
    return _token(writing, number)


def identified(reading: Reading, secret: str | None = None, *, number: int | None = None) -> Token | None:
    """Return the token that has a secret, or a number, if it is good now by the clock of the archive."""
    which = tokens.c.id == number if secret is None else tokens.c.digest == _digest(secret)
    row = reading.connection.execute(_SELECT.where(which)).one_or_none()
    found = None if row is None else Token(*row)
    return found if found is not None and found.is_good(clock.now(reading.connection)) else None


def used(writing: Writing, token: Token) -> None:
    """Note that a token is used; what was noted a moment ago stays."""
    if token.used_at is None or writing.when - token.used_at > _OFTEN:
        writing.connection.execute(update(tokens).where(tokens.c.id == token.number).values(used_at=writing.when))


def _token(reading: Reading, number: int) -> Token:
    row = reading.connection.execute(_SELECT.where(tokens.c.id == number)).one_or_none()
    if row is None:
        raise TokenError(f"there is no token #{number}", hint="see: provenn token ls")
    return Token(*row)


def _digest(secret: str) -> str:
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


_SELECT = select(
    tokens.c.id,
    tokens.c.who,
    tokens.c.role,
    tokens.c.created_at,
    tokens.c.created_by,
    tokens.c.expires_at,
    tokens.c.used_at,
    tokens.c.revoked_at,
)
