"""Proofs once found, kept for the next who asks.

What was proved stays proved when catalogs and facts are added. Only a retraction can end it, and then the proofs that
used the fact are deleted (`provenn.store.declarations.retract`). "unknown" is never kept: the next fact may end it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import func, insert, select

from provenn.catalogs.digest import canonical_json, content_digest
from provenn.errors import CorruptArchiveError
from provenn.logic import Statement, statement
from provenn.store.database import Reading, Writing
from provenn.store.facts import visible
from provenn.store.knowledge import Because, Origin
from provenn.store.tables import facts, proof_facts, proofs
from provenn.store.visibility import seen

__all__ = ["Proof", "is_sound", "keep", "recall"]

_CATALOG = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Proof:
    """That a statement holds or fails, and why.

    Parameters
    ----------
    statement
        What was asked; the labels are digests of catalogs.
    verdict
        Whether it holds or fails.
    because
        The facts from which this follows.
    proved_at, proved_by
        When this was found out, and by whom.
    """

    statement: Statement
    verdict: Literal["holds", "fails"]
    because: tuple[Because, ...]
    proved_at: datetime
    proved_by: str


def keep(writing: Writing, said: Statement, verdict: Literal["holds", "fails"], because: Iterable[Because]) -> bool:
    """Keep a proof, unless there is one already.

    Returns
    -------
    bool
        Whether it is kept. It is not if a fact that it uses was retracted while it was being found.
    """
    execute, digest, reasons = writing.connection.execute, _digest(writing, said), tuple(because)
    used = sorted({origin.fact for _, origin in reasons if origin.fact is not None})
    holding = select(func.count()).select_from(facts).where(facts.c.id.in_(used), facts.c.retracted_at.is_(None))
    if execute(holding).scalar_one() < len(used):
        return False
    if execute(select(proofs.c.digest).where(proofs.c.digest == digest)).first() is None:
        written = canonical_json([[str(fact), asdict(origin)] for fact, origin in reasons])
        row = {
            "digest": digest,
            "statement": str(said),
            "verdict": verdict,
            "facts": written,
            "proved_at": writing.when,
            "proved_by": writing.who,
            "content": _content(digest, verdict, written),
        }
        execute(insert(proofs), row)
        if used:
            execute(insert(proof_facts), [{"proof": digest, "fact": number} for number in used])
    return True


def recall(reading: Reading, said: Statement) -> Proof | None:
    """Return the proof of a statement, or None if none is kept that the viewer may know.

    Who does not see everything recalls what he proved himself: which of several proofs another one found first would
    tell what that one knows.

    Raises
    ------
    CorruptArchiveError
        If it is not what was written.
    """
    row = reading.connection.execute(select(proofs).where(proofs.c.digest == _digest(reading, said))).first()
    if row is None:
        return None
    if not is_sound(row):
        raise CorruptArchiveError(f"the proof of {said} was changed after it was written")
    because = tuple((statement(text), Origin(**origin)) for text, origin in json.loads(row.facts))
    used = {origin.fact for _, origin in because if origin.fact is not None}
    if used - visible(reading, used) or not _all_seen(reading, [fact for fact, _ in because]):
        return None
    return Proof(said, row.verdict, because, row.proved_at, row.proved_by)


def _all_seen(reading: Reading, statements: Iterable[Statement]) -> bool:
    labels = {label for said in statements for label in said.labels if _CATALOG.fullmatch(label)}
    return seen(reading, labels) == labels


def is_sound(row: Any) -> bool:  # noqa: ANN401 - a row
    """Whether the row of a proof is what was written."""
    asked = (row.statement, [row.statement, row.proved_by])
    known = row.digest in {content_digest("statement", one) for one in asked}
    return known and _content(row.digest, row.verdict, row.facts) == row.content


def _digest(reading: Reading, said: Statement) -> str:
    return content_digest("statement", str(said) if reading.viewer is None else [str(said), reading.viewer])


def _content(digest: str, verdict: str, because: str) -> str:
    return content_digest("proof", [digest, verdict, because])
