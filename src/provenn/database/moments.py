"""Moments: all reading of a thread in a single transaction."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import local
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from provenn.database.platform import FindPlatform, Platform

__all__ = ["MOMENTS", "ReadMoment", "end_moment", "find_moment"]


@dataclass(slots=True)
class ReadMoment:
    """The transaction shared by all reading of a thread; see `Database.at_one_moment`.

    Attributes
    ----------
    engine, connection
        The database, and the connection with the transaction.
    platforms
        The platforms of this process on which an answer depends, and which the database does not hold: usually none,
        and several only if the platform changed meanwhile.
    is_over
        Whether the thread has begun to write: what it reads from then on is read anew.
    """

    engine: Engine
    connection: Connection
    platforms: set[Platform] = field(default_factory=set)
    is_over: bool = False

    def watch(self, platform: FindPlatform) -> FindPlatform:
        """Return a function that finds a platform, and records it."""

        def find() -> Platform:
            asked = platform()
            self.platforms.add(asked)
            return asked

        return find


class _Moments(local):
    """The moment of a thread, if any."""

    current: ReadMoment | None = None


MOMENTS: Final = _Moments()
"""The moment of the current thread."""


def find_moment(engine: Engine) -> ReadMoment | None:
    """Return the moment of this thread in a database, unless it is over."""
    moment = MOMENTS.current
    return moment if moment is not None and moment.engine is engine and not moment.is_over else None


def end_moment(engine: Engine) -> None:
    """End the moment of this thread in a database, if any, before the thread writes."""
    moment = find_moment(engine)
    if moment is not None:
        moment.is_over = True
