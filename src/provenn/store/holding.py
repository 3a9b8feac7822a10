"""What somebody holds for a while: it expires unless it is renewed, so that a process that died holds nothing for ever.

That is so for pins and for leases: tables with a holder and a moment at which what is held expires.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

from sqlalchemy import Table, delete, insert, select, update

from provenn.errors import ArchiveError
from provenn.store.database import Database, Writing
from provenn.store.processes import is_gone, new_holder

__all__ = ["forget_expired", "new_holder", "renewed"]


@contextmanager
def renewed(database: Database, table: Table, holder: str, lifetime: timedelta) -> Iterator[None]:
    """Renew what somebody holds while the body runs, and then let it go.

    A process that was asleep until others forgot what it holds, such as on a laptop, holds it again.
    """
    mine, done = table.c.holder == holder, threading.Event()

    def renew() -> None:
        held: list[dict[str, object]] = []
        while not done.wait(lifetime.total_seconds() / 4):
            with suppress(ArchiveError), database.writing() as writing:  # the next time may do, within its lifetime
                expires = {"expires_at": writing.when + lifetime}
                if writing.connection.execute(update(table).where(mine).values(expires)).rowcount:
                    there = writing.connection.execute(select(table).where(mine)).mappings()
                    held = held or [dict(row) for row in there]
                elif held:
                    writing.connection.execute(insert(table), [row | expires for row in held])

    thread = threading.Thread(target=renew, name=f"renewing {holder}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        with suppress(ArchiveError), database.writing() as writing:  # otherwise it expires
            writing.connection.execute(delete(table).where(mine))


def forget_expired(writing: Writing, table: Table) -> None:
    """Forget what has expired, and what processes held that died on this machine."""
    execute = writing.connection.execute
    execute(delete(table).where(table.c.expires_at <= writing.when))
    for holder in filter(is_gone, set(writing.connection.scalars(select(table.c.holder)))):
        execute(delete(table).where(table.c.holder == holder))
