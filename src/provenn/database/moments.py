"""Moments: all reading of a thread in a single transaction."""

from __future__ import annotations

from dataclasses import dataclass
from threading import local
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from provenn.database.platform import FindPlatform, Platform

__all__ = ["MOMENTS", "Moment"]


@dataclass(slots=True)
class Moment:
    """The transaction shared by all reading of a thread; see `Database.at_one_moment`.

    Attributes
    ----------
    engine, connection
        The database, and the connection with the transaction.
    is_platform_asked
        Whether an answer depends on the platform of this process, which the database does not hold.
    """

    engine: Engine
    connection: Connection
    is_platform_asked: bool = False

    def watch(self, platform: FindPlatform) -> FindPlatform:
        """Return a function that finds a platform, and records that it was asked."""

        def find() -> Platform:
            self.is_platform_asked = True
            return platform()

        return find


class _Moments(local):
    """The moment of a thread, if any."""

    current: Moment | None = None


MOMENTS: Final = _Moments()
"""The moment of the current thread."""
