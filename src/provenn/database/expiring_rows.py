"""Rows held by a process for a while: the rows expire unless renewed, so that a dead process holds nothing.

Pins, leases and imports are held rows: tables with a holder and a moment of expiry.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, Table, delete, insert, select, update

from provenn.errors import ArchiveError
from provenn.processes import is_gone

if TYPE_CHECKING:
    from provenn.database.transactions import Database, Reading, Writing

__all__ = ["Holding", "forget_expired_rows", "renew_rows"]


class Holding:
    """The rows of a table held by a process, and whether another process ever deleted the rows meanwhile.

    Parameters
    ----------
    table
        The table: pins or leases.
    holder
        The text that identifies the process.
    lifetime
        The time after which the rows expire unless they are renewed.
    """

    def __init__(self, table: Table, holder: str, lifetime: timedelta) -> None:
        self._table, self._lifetime = table, lifetime
        self._mine = table.c.holder == holder
        self._rows: list[dict[str, object]] = []
        self._forgotten = False

    def note_rows(self, reading: Reading) -> None:
        """Remember the rows, to insert the same rows again after another process deletes them."""
        rows = reading.connection.execute(select(self._table).where(self._mine)).mappings()
        self._rows = [{str(key): value for key, value in row.items()} for row in rows]

    def renew(self, writing: Writing) -> None:
        """Extend the rows; insert the rows again if another process has deleted them, as while a laptop slept."""
        expires = {"expires_at": writing.when + self._lifetime}
        if (
            self._rows
            and not writing.connection.execute(update(self._table).where(self._mine).values(expires)).rowcount
        ):
            self._forgotten = True
            writing.connection.execute(insert(self._table), [row | expires for row in self._rows])

    def is_unbroken(self, writing: Writing) -> bool:
        """Whether the rows existed all the time, so that the protected data are unchanged."""
        rows = writing.connection.execute(select(self._table.c.holder).where(self._mine)).all()
        return not self._forgotten and len(rows) == len(self._rows)

    def release(self, writing: Writing) -> None:
        """Delete the rows."""
        writing.connection.execute(delete(self._table).where(self._mine))


_PATIENCE = 1.0
"""Seconds for which a thread waits for other writers before it checks whether it is still needed."""


@contextmanager
def renew_rows(
    database: Database,
    table: Table,
    holder: str,
    lifetime: timedelta,
    *,
    waits: bool = True,
    take: Callable[[Writing], object] | None = None,
    delay: float = 0.0,
) -> Iterator[Holding]:
    """Renew the rows of a holder while the body runs, and then delete the rows.

    Parameters
    ----------
    database, table
        The database and the table that hold the rows.
    holder, lifetime
        The holder of the rows, and the time after which they expire unless they are renewed.
    waits
        Whether to wait for other writers before the rows are deleted. Otherwise the rows may be left to expire.
    take
        Inserts the rows, if they are not there yet. A thread tries this beside the body until it succeeds.
    delay
        Seconds before `take` is tried: nothing is written for a body that ends earlier.
    """
    holding, done, begun = Holding(table, holder, lifetime), threading.Event(), threading.Event()
    if take is None:
        with database.reading() as reading:
            holding.note_rows(reading)

    def renew() -> None:
        is_taken = take is None
        if take is not None and done.wait(delay):
            return
        begun.set()
        while take is not None and not is_taken and not done.is_set():
            with suppress(ArchiveError), database.writing(patience=_PATIENCE) as writing:
                if not done.is_set():
                    take(writing)
                    holding.note_rows(writing)
                is_taken = True
        while not done.wait(lifetime.total_seconds() / 4):
            with (
                suppress(ArchiveError),
                database.writing() as writing,
            ):  # a later attempt may succeed, within the lifetime
                holding.renew(writing)

    thread = threading.Thread(target=renew, name=f"renewing {holder}", daemon=True)
    thread.start()
    try:
        yield holding
    finally:
        done.set()
        thread.join()
        with suppress(ArchiveError):  # otherwise the rows expire
            if not begun.is_set():
                pass
            elif waits:
                with database.writing() as writing:
                    holding.release(writing)
            else:
                database.note(holding.release)


def forget_expired_rows(writing: Writing, table: Table, *conditions: ColumnElement[bool]) -> None:
    """Delete expired rows, and rows of processes that died on this machine, if they meet the conditions."""
    execute = writing.connection.execute
    execute(delete(table).where(table.c.expires_at <= writing.when, *conditions))
    for holder in filter(is_gone, set(writing.connection.scalars(select(table.c.holder)))):
        execute(delete(table).where(table.c.holder == holder, *conditions))
