"""The audit log: each action with the person, time and interface, for the administrators of an archive.

A row is written in the transaction of the action itself: neither exists without the other.
Each row's digest covers the previous row (`provenn.people.audit_chain`), and the settings hold the newest row's digest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, insert, select, update

from provenn.database import settings
from provenn.database.tables import audit
from provenn.errors import ArchiveError
from provenn.people.audit_chain import AUDIT_HEAD, AuditHead, compute_entry_digest

if TYPE_CHECKING:
    from provenn.database.transactions import Reading, Writing

__all__ = ["AuditedAction", "find_recent_actions", "read_audit_head", "record_action", "record_actions"]


@dataclass(frozen=True, slots=True)
class AuditedAction:
    """An action in the audit log.

    Parameters
    ----------
    number
        The number of the action, which is never used again.
    at, who
        The time of the action, and the person.
    via
        The interface: "python", "cli" or "http".
    action
        The kind of action, in one or two words, such as "declare" or "delete name".
    subject
        The object of the action: a name, a digest, ``fact #7``.
    detail
        Further details.
    """

    number: int
    at: datetime
    who: str
    via: str
    action: str
    subject: str
    detail: str


_INSERT = insert(audit).returning(audit.c.id, sort_by_parameter_order=True)
_CHAIN = (
    update(audit).where(audit.c.id == bindparam("row")).values(previous=bindparam("before"), digest=bindparam("own"))
)


def record_action(writing: Writing, action: str, subject: str, detail: str = "") -> None:
    """Record an action inside its own transaction, with the transaction's person, time and interface.

    Writing transactions take turns, so the order of rows, and the previous row, are well defined.
    """
    record_actions(writing, action, [(subject, detail)])


def record_actions(writing: Writing, action: str, subjects: Sequence[tuple[str, str]]) -> None:
    """Record the same action on several subjects, each with details, in order; see `record_action`."""
    execute = writing.connection.execute
    common = {"at": writing.when, "who": writing.who, "via": writing.via, "action": action}
    previous = _read_previous_digest(writing)
    # Each digest covers the number of its row, and the digest before: the rows come first, then their digests.
    rows = [{**common, "subject": subject, "detail": detail, "previous": previous} for subject, detail in subjects]
    numbers = execute(_INSERT, rows).scalars().all()
    links = []
    for number, (subject, detail) in zip(numbers, subjects, strict=True):
        digest = compute_entry_digest(previous, number, writing.when, writing.who, writing.via, action, subject, detail)
        links.append({"row": number, "before": previous, "own": digest})
        previous = digest
    execute(_CHAIN, links)
    settings.change_setting(writing, AUDIT_HEAD, str(AuditHead(numbers[-1], previous)))


def _read_previous_digest(writing: Writing) -> str:
    """Return the previous digest for the next row: the noted head's, even if the row was removed.

    So the removal of a row stays detectable for ever.
    """
    noted_head = settings.read_setting(writing, AUDIT_HEAD)
    if noted_head is None:
        head = read_audit_head(writing)
        return "" if head is None else head.digest
    try:
        return AuditHead.read(noted_head).digest
    except ArchiveError:
        return "0" * 64  # a digest that no row has


def read_audit_head(reading: Reading) -> AuditHead | None:
    """Return the number and digest of the newest row, to vouch for all rows; None if the log is empty."""
    newest = select(audit.c.id, audit.c.digest).order_by(audit.c.id.desc()).limit(1)
    row = reading.connection.execute(newest).first()
    return None if row is None else AuditHead(*row)


_ACTIONS = select(*audit.c["id", "at", "who", "via", "action", "subject", "detail"])


def find_recent_actions(reading: Reading, most: int = 100, *, action: str | None = None) -> Sequence[AuditedAction]:
    """Return the latest actions, or the latest actions of a kind, newest first."""
    query = _ACTIONS.order_by(audit.c.id.desc()).limit(most)
    if action is not None:
        query = query.where(audit.c.action == action)
    return [AuditedAction(*row) for row in reading.connection.execute(query)]
