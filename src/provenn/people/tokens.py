"""Tokens: a token lets a person use the server of an archive in a role, until expiry.

A token is a secret of 256 random bits that is shown once. The archive keeps only its SHA-256, from which the secret
cannot be recovered. So a reader of the database cannot use another person's token.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Literal, get_args

from sqlalchemy import insert, select, update

from provenn.database import clock
from provenn.database.tables import tokens
from provenn.errors import TokenError, did_you_mean
from provenn.people import audit_log

if TYPE_CHECKING:
    from provenn.database.transactions import Reading, Writing

__all__ = [
    "Role",
    "Token",
    "find_best_token",
    "identify_token",
    "issue_token",
    "list_tokens",
    "record_token_use",
    "revoke_token",
]

Role = Literal["reader", "author", "admin"]
"""What a person may do: look, ask and plan; an author also has targets computed; an admin also sees the audit log."""

_LONGEST = 200
_MOST_DAYS = 36_500
_BYTES = 32
_OFTEN = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Token:
    """A token, without the secret.

    Parameters
    ----------
    number
        The number of the token, which is never used again.
    who, role
        The person that uses the server with the token, and the person's role.
    created_at, created_by
        The time at which the token was made, and the person that made it.
    expires_at, used_at, revoked_at
        When the token expires, when it was last used (roughly), and when it was revoked; None for never.
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
        """Whether the token can be used: neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


def issue_token(writing: Writing, who: str, role: str, *, days: float | None = None) -> tuple[Token, str]:
    """Make a token; return the token and the secret, readable only now.

    Raises
    ------
    TokenError
        If the person's name is unfit, the role does not exist, or the number of days is out of range.
    """
    if not who.strip() or who != who.strip() or not who.isprintable() or len(who) > _LONGEST:
        raise TokenError(f"{who[:_LONGEST]!r} cannot name a person", hint=f"use up to {_LONGEST} printable characters")
    if role not in get_args(Role):
        hint = did_you_mean(role, get_args(Role)) or f"there are {', '.join(get_args(Role))}"
        raise TokenError(f"unknown role {role!r}", hint=hint)
    if days is not None and not 0 < days <= _MOST_DAYS:
        raise TokenError(
            f"expected a validity in days, got {days:g}", hint="use more than 0 days and less than 100 years"
        )
    secret = secrets.token_urlsafe(_BYTES)
    row = {
        "who": who,
        "role": role,
        "digest": _compute_secret_digest(secret),
        "created_at": writing.when,
        "created_by": writing.who,
        "expires_at": None if days is None else writing.when + timedelta(days=days),
    }
    number = writing.connection.execute(insert(tokens).returning(tokens.c.id), row).scalar_one()
    audit_log.record_action(writing, "make token", f"token #{number}", f"{role} {who}")
    return _get_token(writing, number), secret


def list_tokens(reading: Reading) -> Sequence[Token]:
    """Return all tokens, including expired and revoked ones, by number."""
    return [Token(*row) for row in reading.connection.execute(_SELECT.order_by(tokens.c.id))]


def revoke_token(writing: Writing, number: int) -> Token:
    """Revoke a token; a revoked token stays unchanged.

    Raises
    ------
    TokenError
        If there is no token with this number.
    """
    token = _get_token(writing, number)
    if token.revoked_at is None:
        writing.connection.execute(update(tokens).where(tokens.c.id == number).values(revoked_at=writing.when))
        audit_log.record_action(writing, "revoke token", f"token #{number}", token.who)
    return _get_token(writing, number)


def identify_token(reading: Reading, secret: str | None = None, *, number: int | None = None) -> Token | None:
    """Return the token with a secret, or with a number, if good now by the archive's clock; otherwise None."""
    matches = tokens.c.id == number if secret is None else tokens.c.digest == _compute_secret_digest(secret)
    row = reading.connection.execute(_SELECT.where(matches)).one_or_none()
    token = None if row is None else Token(*row)
    return token if token is not None and token.is_good(clock.now(reading.connection)) else None


def find_best_token(reading: Reading, who: str) -> Token | None:
    """Return a person's good token with the highest role; None if the person has no good token."""
    rows = reading.connection.execute(_SELECT.where(tokens.c.who == who).order_by(tokens.c.id.desc()))
    now = clock.now(reading.connection)
    good = [token for token in (Token(*row) for row in rows) if token.is_good(now)]
    return max(good, key=lambda token: get_args(Role).index(token.role), default=None)


def record_token_use(writing: Writing, token: Token) -> None:
    """Record the use of a token, unless a use was recorded within the last minute."""
    if token.used_at is None or writing.when - token.used_at > _OFTEN:
        writing.connection.execute(update(tokens).where(tokens.c.id == token.number).values(used_at=writing.when))


def _get_token(reading: Reading, number: int) -> Token:
    row = reading.connection.execute(_SELECT.where(tokens.c.id == number)).one_or_none()
    if row is None:
        raise TokenError(f"there is no token #{number}", hint="`provenn token ls` lists them")
    return Token(*row)


def _compute_secret_digest(secret: str) -> str:
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
