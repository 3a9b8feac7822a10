"""Proofs once found, kept for the next who asks.

What was proved stays proved when catalogs and facts are added. Only a retraction can end it, and then the proofs that
used the fact are deleted (`provenn.store.declarations.retract`). "unknown" is never kept: the next fact may end it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import func, insert, select

from provenn.catalogs.digest import canonical_json, content_digest
from provenn.errors import CorruptArchiveError
from provenn.logic import Statement, statement
from provenn.store.database import Reading, Writing
from provenn.store.knowledge import Origin
from provenn.store.tables import facts, proof_facts, proofs

__all__ = ["Because", "Proof", "keep", "recall"]

Because = tuple[Statement, Origin]
"""A fact that a proof uses, and where it comes from."""


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
    execute, digest, reasons = writing.connection.execute, _digest(said), tuple(because)
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
    """Return the proof of a statement, or None if none is kept.

    Raises
    ------
    CorruptArchiveError
        If it is not what was written.
    """
    row = reading.connection.execute(select(proofs).where(proofs.c.digest == _digest(said))).first()
    if row is None:
        return None
    if _content(row.digest, row.verdict, row.facts) != row.content:
        raise CorruptArchiveError(f"the proof of {said} was changed after it was written")
    because = tuple((statement(text), Origin(**origin)) for text, origin in json.loads(row.facts))
    return Proof(said, row.verdict, because, row.proved_at, row.proved_by)


def _digest(said: Statement) -> str:
    return content_digest("statement", str(said))


def _content(digest: str, verdict: str, because: str) -> str:
    return content_digest("proof", [digest, verdict, because])
