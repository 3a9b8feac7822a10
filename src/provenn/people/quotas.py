"""Quotas: how much of an archive a person may use, and how much the person uses.

A quota holds for one person, or for everybody without a personal quota. Without a quota there is no limit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Final, Literal, get_args

from sqlalchemy import delete, func, insert, select, update

from provenn.database.tables import downloads, fragments, quotas
from provenn.errors import QuotaError, did_you_mean
from provenn.hints import Hint
from provenn.people import audit_log

if TYPE_CHECKING:
    from provenn.database.transactions import Reading, Writing

__all__ = [
    "EVERYONE",
    "KINDS",
    "Quota",
    "QuotaKind",
    "add_download",
    "change_quota",
    "check_stored_quota",
    "count_downloaded_bytes",
    "count_stored_bytes",
    "find_limits",
    "list_quotas",
]

QuotaKind = Literal["stored", "downloads", "jobs", "questions"]

KINDS: Final[Mapping[QuotaKind, str]] = {
    "stored": "bytes of stored fragments",
    "downloads": "bytes downloaded from the server per day",
    "jobs": "jobs running at the same time",
    "questions": "requests to the server per minute",
}
"""The kinds of quotas, each with a description."""

EVERYONE: Final = "*"
"""The name under which a quota holds for everybody without a personal quota."""

_MOST: Final = 2**62
_LONGEST: Final = 200


@dataclass(frozen=True, slots=True)
class Quota:
    """A limit on how much a person may use.

    Parameters
    ----------
    who
        The person; `EVERYONE` for everybody without a personal quota of this kind.
    kind, amount
        The kind of quota, and the largest amount.
    set_at, set_by
        The time at which the quota was set, and the person that set it.
    """

    who: str
    kind: QuotaKind
    amount: int
    set_at: datetime
    set_by: str


def change_quota(writing: Writing, who: str, kind: str, amount: int | None) -> None:
    """Set a quota, or remove the quota if the amount is None.

    Raises
    ------
    QuotaError
        If the person's name is unfit, the kind does not exist, or the amount is out of range.
    """
    if kind not in get_args(QuotaKind):
        hint = did_you_mean(kind, get_args(QuotaKind)) or f"there are {', '.join(get_args(QuotaKind))}"
        raise QuotaError(f"unknown quota {kind!r}", hint=hint)
    if not who.strip() or who != who.strip() or not who.isprintable() or len(who) > _LONGEST:
        raise QuotaError(f"{who[:_LONGEST]!r} cannot name a person", hint=f"use up to {_LONGEST} printable characters")
    if amount is not None and not 0 <= amount <= _MOST:
        raise QuotaError(f"expected a quota of 0 or more, got {amount}", hint="use a number from 0, or none")
    writing.connection.execute(delete(quotas).where(quotas.c.who == who, quotas.c.kind == kind))
    if amount is not None:
        row = {"who": who, "kind": kind, "amount": amount, "set_at": writing.when, "set_by": writing.who}
        writing.connection.execute(insert(quotas), row)
    audit_log.record_action(writing, "set quota", who, f"{kind}: {'none' if amount is None else amount}")


def list_quotas(reading: Reading) -> Sequence[Quota]:
    """Return all quotas, sorted by person and kind."""
    return [Quota(*row) for row in reading.connection.execute(select(quotas).order_by(quotas.c.who, quotas.c.kind))]


def find_limits(reading: Reading, who: str) -> dict[QuotaKind, int]:
    """Return the limits for a person, by kind; a personal quota precedes the quota of `EVERYONE`."""
    query = select(quotas.c.who, quotas.c.kind, quotas.c.amount).where(quotas.c.who.in_((who, EVERYONE)))
    rows = sorted(reading.connection.execute(query).all(), key=lambda row: row.who == who)
    return {row.kind: row.amount for row in rows}


def count_stored_bytes(reading: Reading, who: str) -> int:
    """Return the size in bytes of a person's fragments, including dropped fragments not removed yet."""
    is_kept = (fragments.c.stored_by == who) & fragments.c.removed_at.is_(None)
    return int(reading.connection.scalar(select(func.coalesce(func.sum(fragments.c.size), 0)).where(is_kept)) or 0)


def check_stored_quota(reading: Reading, size: int = 1) -> None:
    """Check that the asking person's quota allows to keep `size` more bytes.

    Raises
    ------
    QuotaError
        If the quota would be exceeded.
    """
    limit = find_limits(reading, reading.who).get("stored")
    if limit is None:
        return
    used = count_stored_bytes(reading, reading.who)
    if used + size > limit:
        raise QuotaError(
            f"{reading.who} may store {limit:,} bytes in this archive and stores {used:,}: {size:,} more exceed "
            "the quota",
            hint=Hint(
                "delete fragments that you do not need, archive.collect_garbage(limit=…); or ask the owner for more",
                command="delete fragments that you do not need, `provenn gc`; or ask the owner for more",
                page="see your quotas; the owner of the archive can raise them",
                target="/quota",
            ),
        )


def count_downloaded_bytes(reading: Reading, who: str, day: date) -> int:
    """Return the number of bytes downloaded by a person on a day."""
    query = select(downloads.c.bytes).where(downloads.c.who == who, downloads.c.day == day.isoformat())
    return int(reading.connection.scalar(query) or 0)


def add_download(writing: Writing, who: str, day: date, size: int) -> None:
    """Add bytes to a person's downloads of a day, and forget the person's downloads of other days."""
    is_today = (downloads.c.who == who) & (downloads.c.day == day.isoformat())
    writing.connection.execute(delete(downloads).where(downloads.c.who == who, downloads.c.day != day.isoformat()))
    result = writing.connection.execute(update(downloads).where(is_today).values(bytes=downloads.c.bytes + size))
    if not result.rowcount:
        writing.connection.execute(insert(downloads), {"who": who, "day": day.isoformat(), "bytes": size})
