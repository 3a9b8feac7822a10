"""What a failure of the database means to a user. Whatever failed, its transaction has not happened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from provenn.errors import ArchiveBusyError, ArchiveError, CorruptArchiveError

__all__ = ["telling", "told", "unreachable"]

# How PostgreSQL calls a lock that was not available in time, a disk that is full, data that are not as written, and a
# server that is gone, going or not yet there. SQLite has no such codes.
_CONFLICTS = frozenset({"55P03"})
_FULL = frozenset({"53100"})
_DAMAGED = frozenset({"XX001", "XX002"})
_GONE = ("08", "57P")


@contextmanager
def telling(place: str) -> Iterator[None]:
    """Say of a failure of the database in the body what it means.

    Raises
    ------
    ArchiveError
        If the body raises an error of the database.
    """
    try:
        yield
    except DBAPIError as failure:
        raise told(failure, place) from failure


def told(failure: DBAPIError, place: str) -> ArchiveError:
    """Return a failure in words."""
    said, state = str(failure.orig).strip().split("\n")[0], _state(failure)
    if "locked" in said or state in _CONFLICTS:
        return ArchiveBusyError(f"another process keeps writing to the archive {place}", hint="try again later")
    if "is full" in said or state in _FULL:
        return ArchiveError(f"there is no space left for the archive {place}", hint="make room; nothing was lost")
    if "malformed" in said or state in _DAMAGED:
        return CorruptArchiveError(f"the archive {place} is damaged: {said}")
    if unreachable(failure):
        return ArchiveError(f"the archive {place} cannot be reached: {said}", hint="is the server up? Then try again")
    return ArchiveError(f"the archive {place} cannot be used: {said}")


def unreachable(failure: DBAPIError) -> bool:
    """Whether a server is not there, not any more, or not yet."""
    if not isinstance(failure, OperationalError | InterfaceError) or not hasattr(failure.orig, "sqlstate"):
        return False
    return failure.connection_invalidated or (_state(failure) or _GONE[0]).startswith(_GONE)


def _state(failure: DBAPIError) -> str | None:
    return getattr(failure.orig, "sqlstate", None)
