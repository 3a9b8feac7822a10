"""The chain of digests over the audit log: each entry's digest covers the previous entry and all columns of the entry.

Changing, removing or inserting an entry breaks the chain from there on. The chain has no secret: a person with
write access to the database can recompute all later digests. Only a head noted elsewhere reveals this.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Self

from provenn.digests import content_digest
from provenn.errors import ArchiveError
from provenn.hints import Hint

__all__ = ["AUDIT_HEAD", "AuditEntry", "AuditHead", "ChainBreak", "compute_entry_digest", "find_breaks"]

AUDIT_HEAD = "audit head"
"""The key of the setting that holds the newest entry's number and digest."""

_HEAD = re.compile(r"(\d{1,18}):([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """A stored entry of the audit log; the fields are the columns of the ``audit`` table."""

    id: int
    at: datetime
    who: str
    via: str
    action: str
    subject: str
    detail: str
    previous: str
    digest: str


@dataclass(frozen=True, slots=True)
class AuditHead:
    """The number and the digest of an entry, to vouch for the entry and all entries before."""

    number: int
    digest: str

    def __str__(self) -> str:
        return f"{self.number}:{self.digest}"

    @classmethod
    def read(cls, text: str) -> Self:
        """Parse a head from its text, ``number:digest``.

        Raises
        ------
        ArchiveError
            If the text is not a head.
        """
        parts = _HEAD.fullmatch(text.strip())
        if parts is None:
            raise ArchiveError(
                f"expected the head of an audit log, got {text[:100]!r}",
                hint=Hint("archive.audit_head() returns it", command="`provenn audit --head` writes it"),
            )
        return cls(int(parts[1]), parts[2])


@dataclass(frozen=True, slots=True)
class ChainBreak:
    """A break of the chain: the number of the first affected entry, and the reason why the chain breaks there."""

    number: int
    reason: str


def compute_entry_digest(previous: str, number: int, at: datetime, *texts: str) -> str:
    """Return the digest of an entry.

    Parameters
    ----------
    previous
        The digest of the previous entry; empty for the first entry.
    number, at
        The number and the time of the entry.
    texts
        The texts of the entry: who, via, action, subject and detail.
    """
    moment = at.astimezone(UTC).isoformat(timespec="microseconds")
    return content_digest("audit", [previous, number, moment, *texts])


def find_breaks(entries: Iterable[AuditEntry], head: AuditHead | None) -> Iterator[ChainBreak]:
    """Yield the breaks of a chain, in order; the first is the earliest provably wrong entry.

    Parameters
    ----------
    entries
        All entries, by number.
    head
        The newest entry as noted in the archive's settings; None if the settings hold no head.
    """
    numbers_by_digest: dict[str, int] = {"": 0}
    last = AuditHead(0, "")
    for entry in entries:
        expected = compute_entry_digest(
            entry.previous, entry.id, entry.at, entry.who, entry.via, entry.action, entry.subject, entry.detail
        )
        if expected != entry.digest:
            yield ChainBreak(entry.id, "it was changed or inserted afterwards")
        elif entry.previous != last.digest:
            yield ChainBreak(entry.id, _describe_gap(last.number, numbers_by_digest.get(entry.previous)))
        last = AuditHead(entry.id, entry.digest)
        numbers_by_digest[entry.digest] = entry.id
    if head is not None and last.number < head.number:
        yield ChainBreak(last.number + 1, f"the newest entries, up to #{head.number}, were removed")
    elif head != last and (head is not None or last.number):
        yield ChainBreak(last.number, "it is not the newest recorded entry: entries were added or changed")


def _describe_gap(before: int, follows: int | None) -> str:
    if follows is None:
        between = f"after #{before}" if before else "at the beginning"
        return f"an entry before it, {between}, was removed or changed"
    place = f"right after #{follows}" if follows else "as the first one"
    return f"it was written {place}: the entries before it, up to #{before}, were inserted"
