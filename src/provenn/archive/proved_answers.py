"""Answers to the questions of a user about catalogs; proofs for an answer are kept for later questions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from provenn.archive import questions
from provenn.archive.comparison import Comparison
from provenn.archive.context import Context
from provenn.archive.proof import Proof
from provenn.archive.references import CatalogReference, find_digest, map_user_names
from provenn.archive.relation import Relation, Summary
from provenn.database.transactions import Reading, Writing
from provenn.definitions import catalog_store
from provenn.digests import CatalogDigest
from provenn.knowledge import proofs
from provenn.logic import Statement
from provenn.logic.knowledge.set_index import SetRelation
from provenn.words.vocabulary import parse_statement, resolve_statements, sort_by_name

__all__ = [
    "ask_comparison",
    "ask_proof",
    "ask_relation",
    "find_related",
    "find_same_extent",
    "summarize_relations",
]


def ask_relation(context: Context, left: CatalogReference, right: CatalogReference, *, why: bool = False) -> Relation:
    """Return how two catalogs relate; see `Archive.relate`."""
    with context.database.reading() as reading:
        digests = find_digest(reading, left), find_digest(reading, right)
        user_names = map_user_names(digests, (left, right))
        relation, proved = questions.relate_catalogs(reading, *digests, user_names, why=why)
    _keep_proofs(context, proved)
    return relation


def ask_comparison(context: Context, which: Sequence[CatalogReference], *, why: bool = False) -> Comparison:
    """Return all knowledge about two or three catalogs together; see `Archive.compare`."""
    from provenn.archive.region_counts import count_regions  # noqa: PLC0415 - other answers do not count

    with context.database.reading() as reading:
        digests = [find_digest(reading, reference) for reference in which]
        comparison, proved = questions.compare_catalogs(reading, digests, map_user_names(digests, which), why=why)
        comparison = count_regions(reading, comparison)
    _keep_proofs(context, proved)
    return comparison


def summarize_relations(
    reading: Reading, references: Sequence[CatalogReference]
) -> list[tuple[CatalogDigest, Summary]]:
    """Return how the first catalog relates to the rest: the digest of another catalog, and the summary."""
    digests = [find_digest(reading, reference) for reference in references]
    summaries = questions.summarize_relations(reading, digests[0], digests[1:], map_user_names(digests, references))
    return [(digest, summaries[digest]) for digest in digests[1:]]


def ask_proof(
    context: Context,
    question: str | Statement,
    suppositions: Collection[str | Statement] = (),
    budget: float | None = None,
    *,
    why: bool = False,
) -> Proof:
    """Return whether a statement about catalogs holds; see `Archive.prove`."""
    with context.database.reading() as reading:
        (statement, *supposed), user_names = resolve_statements(reading, [question, *suppositions])
        proof, proved = questions.judge_statement(reading, statement, user_names, supposed, budget, why=why)
    _keep_proofs(context, proved)
    return replace(proof, statement=parse_statement(question))


def _keep_proofs(context: Context, proved: Collection[questions.ProvedStatement]) -> None:
    """Keep proved statements, where the database can be written: the answer does not depend on keeping."""

    def keep(writing: Writing) -> None:
        for answer in proved:
            proofs.keep_proof(writing, answer.statement, answer.verdict, answer.because)

    if not proved or context.database.read_only:
        return
    if context.later is not None:
        context.later(context.database, keep)
    else:
        context.database.note(keep)


def find_related(context: Context, which: CatalogReference, relation: SetRelation) -> list[CatalogDigest]:
    """Return the digests of the catalogs in a relation to a catalog, sorted by name."""
    with context.database.reading() as reading:
        digest = find_digest(reading, which)
        return sort_by_name(reading, questions.look_up_catalogs(reading, context.knowledge, digest, relation))


def find_same_extent(reading: Reading, which: CatalogReference) -> list[CatalogDigest]:
    """Return the digests of the catalogs with the same sources by construction, sorted by name."""
    return sort_by_name(reading, catalog_store.find_same_extent(reading, find_digest(reading, which)))
