"""Checks of the audit log: the chain of digests, and the newest entry noted by the archive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlalchemy import select

from provenn.database import settings
from provenn.database.tables import audit
from provenn.database.transactions import Reading
from provenn.errors import ArchiveError
from provenn.people.audit_chain import AUDIT_HEAD, AuditEntry, AuditHead, find_breaks
from provenn.soundness.problems import ArchiveProblem

__all__ = ["AuditLog", "find_head_problems"]

_AT_ONCE = 1000


@dataclass(slots=True)
class AuditLog:
    """The audit log of an archive.

    Parameters
    ----------
    sound
        The number of entries before the first break of the chain; `find_problems` counts them.
    """

    sound: int = 0

    def find_problems(self, reading: Reading) -> Iterator[ArchiveProblem]:
        """Check the audit log; yield the first changed, removed or inserted entry.

        Later entries are not reported: a broken chain proves nothing about entries after the break.
        """
        for chain_break in find_breaks(self._count_entries(_read_entries(reading)), _read_noted_head(reading)):
            yield ArchiveProblem(f"audit entry #{chain_break.number}", chain_break.reason)
            return

    def _count_entries(self, entries: Iterable[AuditEntry]) -> Iterator[AuditEntry]:
        """Yield entries, and count each entry when the next one is wanted: the entry did not break the chain."""
        for entry in entries:
            yield entry
            self.sound += 1


def _read_entries(reading: Reading) -> Iterator[AuditEntry]:
    """Yield the entries of the audit log, in order."""
    last = 0
    while True:
        page = select(audit).where(audit.c.id > last).order_by(audit.c.id).limit(_AT_ONCE)
        rows = reading.connection.execute(page).all()
        yield from (AuditEntry(*row) for row in rows)
        if not rows:
            return
        last = rows[-1].id


def find_head_problems(reading: Reading, noted: str) -> Iterator[ArchiveProblem]:
    """Compare the audit log with a head noted elsewhere.

    Raises
    ------
    ArchiveError
        If the text is not a head.
    """
    head = AuditHead.read(noted)
    digest = reading.connection.scalar(select(audit.c.digest).where(audit.c.id == head.number))
    if digest is None:
        yield ArchiveProblem(f"audit entry #{head.number}", "it is missing, although its digest was recorded")
    elif digest != head.digest:
        yield ArchiveProblem(
            f"audit entry #{head.number}", "it, or an earlier entry, has changed since it was recorded"
        )


def _read_noted_head(reading: Reading) -> AuditHead | None:
    """Return the head noted by the archive; for an unreadable note, a head without any entry."""
    text = settings.read_setting(reading, AUDIT_HEAD)
    try:
        return None if text is None else AuditHead.read(text)
    except ArchiveError:
        return AuditHead(0, "")  # no entry has this head
