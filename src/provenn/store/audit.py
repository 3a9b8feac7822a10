"""Who did what, when, and from where: what the people who look after an archive can look up.

A row is written in the transaction that does what it tells, so that neither is there without the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import insert, select

from provenn.store.database import Reading, Writing
from provenn.store.tables import audit

__all__ = ["Done", "recent", "record"]


@dataclass(frozen=True, slots=True)
class Done:
    """Something that was done.

    Parameters
    ----------
    number
        Its number, which nothing else that was done ever has.
    at, who
        When, and by whom.
    via
        From where: "python", "cli" or "http".
    action
        What was done, in one or two words, such as "declare" or "delete name".
    subject
        To what: a name, a digest, ``fact #7``.
    detail
        What else there is to say.
    """

    number: int
    at: datetime
    who: str
    via: str
    action: str
    subject: str
    detail: str


def record(writing: Writing, action: str, subject: str, detail: str = "") -> None:
    """Record what is done in a transaction, with its person, its moment and where it comes from."""
    row = {"at": writing.when, "who": writing.who, "via": writing.via}
    writing.connection.execute(insert(audit), {**row, "action": action, "subject": subject, "detail": detail})


def recent(reading: Reading, most: int = 100, *, action: str | None = None) -> Sequence[Done]:
    """Return what was done, or what of one kind was, the latest first."""
    query = select(audit).order_by(audit.c.id.desc()).limit(most)
    if action is not None:
        query = query.where(audit.c.action == action)
    return [Done(*row) for row in reading.connection.execute(query)]
