"""Functions for a server with several people only: tokens, and deferred notes for the audit log."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from time import monotonic

from sqlalchemy.exc import SQLAlchemyError

from provenn.archive.context import HasContext
from provenn.database.transactions import Database, Writing
from provenn.errors import ArchiveBusyError, ArchiveError
from provenn.people import tokens
from provenn.people.tokens import Token

__all__ = [
    "Errand",
    "find_best_token",
    "find_token_by_number",
    "find_token_by_secret",
    "issue_token",
    "list_tokens",
    "make_errand",
    "revoke_token",
    "run_errands",
]

_LOG = logging.getLogger("provenn.archive")


@dataclass(frozen=True, slots=True)
class Errand:
    """A deferred write, recorded with the time of its request.

    Parameters
    ----------
    database
        The database with the person, viewer and interface to record.
    act
        Executes the write.
    since
        The time of the request, by `time.monotonic`.
    settle
        Called after the transaction of every attempt: with True if it was committed, with False if it was not, or if
        the outcome is unknown.
    """

    database: Database
    act: Callable[[Writing], None]
    since: float
    settle: Callable[[bool], None] | None = None


def make_errand(
    archive: HasContext,
    act: Callable[[Writing], None],
    *,
    who: str | None = None,
    settle: Callable[[bool], None] | None = None,
) -> Errand:
    """Return an errand for an archive; by default with the person of the archive."""
    database = _get_full_database(archive)
    return Errand(replace(database, who=who or database.who), act, monotonic(), settle)


def run_errands(archive: HasContext, errands: Sequence[Errand]) -> list[Errand]:
    """Write errands in one transaction; return the errands to try again, because the archive is busy.

    An errand that fails for another reason is logged and given up; the other errands are still written.
    """
    try:
        _write_errands(archive, errands)
    except ArchiveBusyError:
        return list(errands)
    except (SQLAlchemyError, ArchiveError) as error:
        if len(errands) > 1:
            return [left for errand in errands for left in run_errands(archive, [errand])]
        _LOG.error("a note could not be written", exc_info=error)
    return []


def _write_errands(archive: HasContext, errands: Sequence[Errand]) -> None:
    """Write errands in one transaction, and settle the errands."""
    committed = False
    try:
        with _get_full_database(archive).writing() as writing:
            now = monotonic()
            for errand in errands:
                database, age = errand.database, timedelta(seconds=now - errand.since)
                when = writing.when - age
                errand.act(replace(writing, who=database.who, viewer=database.viewer, via=database.via, when=when))
        committed = True
    finally:
        for errand in errands:
            if errand.settle is not None:
                errand.settle(committed)


def issue_token(archive: HasContext, who: str, role: str, *, days: float | None = None) -> tuple[Token, str]:
    """Make a token for a person; return the token and its secret, which cannot be retrieved again.

    Raises
    ------
    TokenError
        If the name of the person is invalid, the role does not exist, or the token would expire before use.
    """
    with _get_full_database(archive).writing() as writing:
        return tokens.issue_token(writing, who, role, days=days)


def list_tokens(archive: HasContext) -> Sequence[Token]:
    """Return all tokens, by number."""
    with _get_full_database(archive).reading() as reading:
        return tokens.list_tokens(reading)


def revoke_token(archive: HasContext, number: int) -> Token:
    """Make a token useless from now on.

    Raises
    ------
    TokenError
        If the token does not exist.
    """
    with _get_full_database(archive).writing() as writing:
        return tokens.revoke_token(writing, number)


def find_token_by_secret(archive: HasContext, secret: str) -> Token | None:
    """Return the valid token with a secret, or None."""
    with _get_full_database(archive).reading() as reading:
        return tokens.identify_token(reading, secret)


def find_token_by_number(archive: HasContext, number: int) -> Token | None:
    """Return the valid token with a number, or None."""
    with _get_full_database(archive).reading() as reading:
        return tokens.identify_token(reading, number=number)


def find_best_token(archive: HasContext, who: str) -> Token | None:
    """Return the valid token of a person with the most rights, or None."""
    with _get_full_database(archive).reading() as reading:
        return tokens.find_best_token(reading, who)


def _get_full_database(archive: HasContext) -> Database:
    """Return the database of an archive without the limits of a viewer."""
    return replace(archive.context.database, viewer=None)
