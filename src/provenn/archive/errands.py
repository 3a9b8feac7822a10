"""Errands: writes of a server, recorded with the time of their request, and made a moment later."""

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

__all__ = ["Errand", "make_errand", "run_errands"]

_LOG = logging.getLogger("provenn.archive")


@dataclass(frozen=True, slots=True)
class Errand:
    """A deferred write, recorded with the time of the request.

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
    database = archive.context.full_database
    return Errand(replace(database, who=who or database.who), act, monotonic(), settle)


def run_errands(archive: HasContext, errands: Sequence[Errand]) -> list[Errand]:
    """Write errands in a single transaction; return the errands to try again, because the archive is busy.

    An errand failing for another reason is logged and given up; the remaining errands are still written.
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
    """Write errands in a single transaction, and settle the errands."""
    committed = False
    try:
        with archive.context.full_database.writing() as writing:
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
