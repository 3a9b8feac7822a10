"""What a server for several people asks of an archive, and nobody else: tokens, and notes for the audit log."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from provenn.archive.archive import Archive
from provenn.errors import ArchiveBusyError
from provenn.store import audit, tokens
from provenn.store.database import Database
from provenn.store.tokens import Token

__all__ = ["issue_token", "list_tokens", "note", "note_use", "revoke_token", "token_numbered", "token_with"]


def issue_token(archive: Archive, who: str, role: str, *, days: float | None = None) -> tuple[Token, str]:
    """Make a token for somebody; return it and its secret, which cannot be had again.

    Raises
    ------
    TokenError
        If nobody can be called so, there is no such role, or it would expire before it can be used.
    """
    with _database(archive).writing() as writing:
        return tokens.issue(writing, who, role, days=days)


def list_tokens(archive: Archive) -> Sequence[Token]:
    """Return all tokens, by number."""
    with _database(archive).reading() as reading:
        return tokens.listing(reading)


def revoke_token(archive: Archive, number: int) -> Token:
    """Make a token useless from now on.

    Raises
    ------
    TokenError
        If there is no such token.
    """
    with _database(archive).writing() as writing:
        return tokens.revoke(writing, number)


def token_with(archive: Archive, secret: str) -> Token | None:
    """Return the token that has a secret, if it is good."""
    with _database(archive).reading() as reading:
        return tokens.identified(reading, secret)


def token_numbered(archive: Archive, number: int) -> Token | None:
    """Return a token, if it is good."""
    with _database(archive).reading() as reading:
        return tokens.identified(reading, number=number)


def note_use(archive: Archive, token: Token) -> None:
    """Note that a token is used, if it can be written."""
    database = _database(archive)
    if not database.read_only:
        with suppress(ArchiveBusyError), database.writing() as writing:
            tokens.used(writing, token)


def note(archive: Archive, action: str, subject: str, detail: str = "", *, who: str | None = None) -> None:
    """Record for the audit log what somebody did, by default the person of the archive, if it can be written."""
    database = _database(archive)
    if not database.read_only:
        with suppress(ArchiveBusyError), replace(database, who=who or database.who).writing() as writing:
            audit.record(writing, action, subject, detail)


def _database(archive: Archive) -> Database:
    return replace(archive._database, viewer=None)  # noqa: SLF001 - of the same room
