"""Proofs, kept for the next question.

A proof stays valid when catalogs and facts are added. Only a retraction can invalidate a proof: then the proofs from
the fact are deleted (`provenn.knowledge.declarations.retract_fact`). "unknown" is never kept: the next fact may
decide the question.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import func, insert, select

from provenn.database.tables import facts, proof_facts, proofs
from provenn.database.transactions import Reading, Writing
from provenn.digests import canonical_json, content_digest, is_catalog_label
from provenn.errors import CorruptArchiveError
from provenn.knowledge.consequences import CitedFact, FactOrigin
from provenn.knowledge.stored_facts import find_usable_numbers
from provenn.logic import Statement, statement
from provenn.people.visibility import filter_visible

__all__ = ["StoredProof", "is_intact_proof", "keep_proof", "recall_proof"]


@dataclass(frozen=True, slots=True)
class StoredProof:
    """A kept proof that a statement holds or fails.

    Parameters
    ----------
    statement
        The statement; its labels are digests of catalogs.
    verdict
        Whether the statement holds or fails.
    because
        The facts from which the verdict follows.
    proved_at, proved_by
        The time at which the proof was found, and the person.
    """

    statement: Statement
    verdict: Literal["holds", "fails"]
    because: tuple[CitedFact, ...]
    proved_at: datetime
    proved_by: str


def keep_proof(
    writing: Writing, question: Statement, verdict: Literal["holds", "fails"], because: Iterable[CitedFact]
) -> bool:
    """Keep the proof of a statement, unless the archive has a proof already.

    Returns
    -------
    bool
        Whether a proof is kept: False if a fact of this proof was retracted while the proof was being found.
    """
    execute, digest, reasons = writing.connection.execute, _compute_statement_digest(writing, question), tuple(because)
    used = sorted({origin.fact for _, origin in reasons if origin.fact is not None})
    holding = select(func.count()).select_from(facts).where(facts.c.id.in_(used), facts.c.retracted_at.is_(None))
    if execute(holding).scalar_one() < len(used):
        return False
    if execute(select(proofs.c.digest).where(proofs.c.digest == digest)).first() is None:
        facts_json = canonical_json([[str(fact), asdict(origin)] for fact, origin in reasons])
        row = {
            "digest": digest,
            "statement": str(question),
            "verdict": verdict,
            "facts": facts_json,
            "proved_at": writing.when,
            "proved_by": writing.who,
            "content": _compute_proof_digest(digest, verdict, facts_json),
        }
        execute(insert(proofs), row)
        if used:
            execute(insert(proof_facts), [{"proof": digest, "fact": number} for number in used])
    return True


def recall_proof(reading: Reading, question: Statement) -> StoredProof | None:
    """Return the kept proof of a statement, or None if no proof is known to the viewer.

    A viewer who does not see everything recalls only the viewer's own proofs: the choice among several possible
    proofs would reveal the knowledge of another person.

    Raises
    ------
    CorruptArchiveError
        If the proof was changed after it was written.
    """
    digest = _compute_statement_digest(reading, question)
    row = reading.connection.execute(select(proofs).where(proofs.c.digest == digest)).first()
    if row is None:
        return None
    if not is_intact_proof(row):
        raise CorruptArchiveError(f"the proof of {question} was changed after it was written")
    because = tuple((statement(text), FactOrigin(**origin)) for text, origin in json.loads(row.facts))
    used = {origin.fact for _, origin in because if origin.fact is not None}
    if used - find_usable_numbers(reading, used) or not _are_all_visible(reading, [fact for fact, _ in because]):
        return None
    return StoredProof(question, row.verdict, because, row.proved_at, row.proved_by)


def _are_all_visible(reading: Reading, facts: Iterable[Statement]) -> bool:
    digests = {label for fact in facts for label in fact.labels if is_catalog_label(label)}
    return filter_visible(reading, digests) == digests


def is_intact_proof(row: Any) -> bool:  # noqa: ANN401 - a row
    """Whether the row of a proof is unchanged since writing."""
    possible_contents = (row.statement, [row.statement, row.proved_by])
    has_own_digest = row.digest in {content_digest("statement", content) for content in possible_contents}
    return has_own_digest and _compute_proof_digest(row.digest, row.verdict, row.facts) == row.content


def _compute_statement_digest(reading: Reading, question: Statement) -> str:
    text = str(question)
    return content_digest("statement", text if reading.viewer is None else [text, reading.viewer])


def _compute_proof_digest(digest: str, verdict: str, because: str) -> str:
    return content_digest("proof", [digest, verdict, because])
