"""Tokens of the users of an archive's server: issue, list, revoke and find tokens."""

from __future__ import annotations

from collections.abc import Sequence

from provenn.archive.context import HasContext
from provenn.people import tokens
from provenn.people.tokens import Token

__all__ = [
    "find_best_token",
    "find_token_by_number",
    "find_token_by_secret",
    "issue_token",
    "list_tokens",
    "revoke_token",
]


def issue_token(archive: HasContext, who: str, role: str, *, days: float | None = None) -> tuple[Token, str]:
    """Make a token for a person; return the token and its secret, which cannot be retrieved again.

    Raises
    ------
    TokenError
        If the name of the person is invalid, the role does not exist, or the token would expire before use.
    """
    with archive.context.full_database.writing() as writing:
        return tokens.issue_token(writing, who, role, days=days)


def list_tokens(archive: HasContext) -> Sequence[Token]:
    """Return all tokens, by number."""
    with archive.context.full_database.reading() as reading:
        return tokens.list_tokens(reading)


def revoke_token(archive: HasContext, number: int) -> Token:
    """Make a token useless from now on.

    Raises
    ------
    TokenError
        If the token does not exist.
    """
    with archive.context.full_database.writing() as writing:
        return tokens.revoke_token(writing, number)


def find_token_by_secret(archive: HasContext, secret: str) -> Token | None:
    """Return the valid token with a secret, or None."""
    with archive.context.full_database.reading() as reading:
        return tokens.identify_token(reading, secret)


def find_token_by_number(archive: HasContext, number: int) -> Token | None:
    """Return the valid token with a number, or None."""
    with archive.context.full_database.reading() as reading:
        return tokens.identify_token(reading, number=number)


def find_best_token(archive: HasContext, who: str) -> Token | None:
    """Return the valid token of a person with the most rights, or None."""
    with archive.context.full_database.reading() as reading:
        return tokens.find_best_token(reading, who)
