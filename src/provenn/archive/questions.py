"""Answers to questions about catalogs, from their lineage and declared facts, without reading a row.

Labels are digests of catalogs. This module writes nothing: functions return new proofs as `ProvedStatement`, and the
caller may keep these for later questions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import combinations
from time import monotonic
from typing import Literal

from provenn.archive.comparison import Comparison, describe_regions
from provenn.archive.knowledge_cache import KnowledgeCache
from provenn.archive.proof import Proof
from provenn.archive.region_support import find_region_support
from provenn.archive.relation import RELATIONS, Relation, Summary
from provenn.archive.witnesses import Help, find_help
from provenn.catalogs.population import ONE_POPULATION, make_plural
from provenn.database.transactions import Reading
from provenn.definitions.ancestors import read_cone
from provenn.definitions.catalog_store import find_entries
from provenn.digests import CatalogDigest, is_catalog_label
from provenn.errors import ComparisonError, ContradictionError, PopulationError, UnknownCatalogError
from provenn.knowledge import proofs
from provenn.knowledge.consequences import CitedFact, TracedKnowledge, build_knowledge
from provenn.knowledge.remembered_knowledge import build_extended_knowledge
from provenn.knowledge.stored_facts import (
    Fact,
    add_constituents,
    add_defined_sets,
    find_facts_touching,
    list_catalogs,
    read_closed_cone,
)
from provenn.logic import Knowledge, Relationship, Statement, World, equal
from provenn.logic.knowledge.set_index import SetRelation
from provenn.logic.terms import term
from provenn.words.proof_chains import select_declared_facts
from provenn.words.vocabulary import SHORT, SUPPOSED, Vocabulary

__all__ = [
    "ProvedStatement",
    "UserNames",
    "check_population",
    "compare_catalogs",
    "is_proved",
    "judge_statement",
    "look_up_catalogs",
    "relate_catalogs",
    "summarize_relations",
    "translate_contradictions",
]

_COMPARED = (2, 3)

UserNames = Mapping[CatalogDigest, str]
"""The user's names of the catalogs of a question, by digest."""


@dataclass(frozen=True, slots=True)
class ProvedStatement:
    """A statement with the verdict and the facts proving the verdict.

    Parameters
    ----------
    statement, verdict
        A statement, and whether it holds or fails.
    because
        The facts that prove the verdict.
    is_new
        Whether the proof is not kept yet.
    """

    statement: Statement
    verdict: Literal["holds", "fails"]
    because: tuple[CitedFact, ...]
    is_new: bool = True


def relate_catalogs(
    reading: Reading, left: CatalogDigest, right: CatalogDigest, user_names: UserNames, *, why: bool = False
) -> tuple[Relation, list[ProvedStatement]]:
    """Return how two catalogs relate, and the new proofs; with `why`, also the closest proved statement and witnesses.

    Raises
    ------
    PopulationError
        If the catalogs belong to different populations.
    """
    comparison, proved_statements = compare_catalogs(reading, (left, right), user_names, why=why)
    return comparison.relations[0], proved_statements


def _list_defining_catalogs(because: Iterable[CitedFact]) -> list[CatalogDigest]:
    """Return the catalogs with cited facts in their definitions: a fact need not name the defining catalog."""
    return [origin.catalog for _, origin in because if origin.catalog is not None]


def compare_catalogs(
    reading: Reading, digests: Sequence[CatalogDigest], user_names: UserNames, *, why: bool = False
) -> tuple[Comparison, list[ProvedStatement]]:
    """Return the knowledge about two or three catalogs together, and the new proofs; see `relate_catalogs` for `why`.

    Raises
    ------
    ComparisonError
        If there are fewer or more catalogs.
    PopulationError
        If the catalogs belong to different populations.
    """
    if len(digests) not in _COMPARED:
        raise ComparisonError(f"two or three catalogs can be compared, not {len(digests)}")
    different = tuple(dict.fromkeys(digests))
    known = _gather_knowledge(reading, different, user_names)
    with translate_contradictions(reading, user_names):
        possible = known.knowledge.relationship(*different)
    pairs = list(combinations(different, 2)) or [(different[0], different[0])]
    summaries = [_find_first_proved(possible, *pair) for pair in pairs]
    answers = [
        None if statement is None else _explain_proved(reading, known, statement, "holds") for _, statement in summaries
    ]
    support = find_region_support(known, different, possible)
    because = [*(reason for answer in answers if answer is not None for reason in answer.because), *support]
    cited = [fact for fact, _ in because]
    vocabulary = Vocabulary.of(reading, different, user_names, cited, _list_defining_catalogs(because))
    word = vocabulary.word
    hypercubes = Relationship.from_arrays(map(word, different), possible.arrays())
    helps = [
        _help_relation(reading, known, pair, summary, user_names) if why else Help()
        for pair, (summary, _) in zip(pairs, summaries, strict=True)
    ]
    proofs_in_words = [
        ((), ()) if answer is None else vocabulary.describe_proof(reading, answer.because, answer.statement)
        for answer in answers
    ]
    relations = tuple(
        Relation(
            word(left),
            word(right),
            summary,
            hypercubes if len(pairs) == 1 else hypercubes.on(word(left), word(right)),
            None if statement is None else vocabulary.translate_statement(statement),
            reasons,
            vocabulary.describe_caveats(reading, (left, right), () if answer is None else answer.because),
            helped.closest,
            helped.witnesses,
            chain,
        )
        for (left, right), (summary, statement), answer, (reasons, chain), helped in zip(
            pairs, summaries, answers, proofs_in_words, helps, strict=True
        )
    )
    names = tuple(map(word, different))
    rests_on = select_declared_facts(vocabulary.describe_reasons(reading, support))
    comparison = Comparison(names, different, hypercubes, describe_regions(names, hypercubes), relations, rests_on)
    return comparison, [answer for answer in answers if answer is not None and answer.is_new]


def _help_relation(
    reading: Reading,
    known: TracedKnowledge,
    pair: tuple[CatalogDigest, CatalogDigest],
    summary: Summary,
    user_names: UserNames,
) -> Help:
    """Return rows as witnesses of a relation: rows in a single catalog, or in both."""
    left, right = map(term, pair)
    if summary in ("equal", "disjoint"):
        return Help()
    helped = find_help(reading, known, equal(left, right), user_names, (left & right,) if summary == "unknown" else ())
    return helped if summary in ("unknown", "overlapping") else replace(helped, closest=())


def summarize_relations(
    reading: Reading, digest: CatalogDigest, others: Collection[CatalogDigest], user_names: UserNames
) -> dict[str, Summary]:
    """Return how a catalog relates to further catalogs, by digest, without reasons.

    Raises
    ------
    PopulationError
        If the catalogs belong to different populations.
    """
    knowledge = _gather_verdicts(reading, dict.fromkeys((digest, *others)), user_names)
    return {
        other: "equal"
        if other == digest
        else _find_first_proved(knowledge.relationship(digest, other), digest, other)[0]
        for other in others
    }


def _find_first_proved(possible: Relationship, left: str, right: str) -> tuple[Summary, Statement | None]:
    """Return the first proved relation of two catalogs in the order of `RELATIONS`, with the statement."""
    for summary, relation in RELATIONS.items():
        statement = relation(left, right)
        if possible.entails(statement):
            return summary, statement
    return "unknown", None


def judge_statement(
    reading: Reading,
    statement: Statement,
    user_names: UserNames,
    suppositions: Collection[Statement] = (),
    budget: float | None = None,
    *,
    why: bool = False,
) -> tuple[Proof, list[ProvedStatement]]:
    """Return whether a statement holds, and the new proofs.

    Parameters
    ----------
    reading
        The transaction.
    statement
        The statement.
    user_names
        The user's names of the catalogs.
    suppositions
        Additional facts, assumed for this question only. Proofs that use them are not kept.
    budget
        The seconds after which the search for a proof stops.
    why
        Whether to look for what helps where the statement is not proved.

    Raises
    ------
    PopulationError
        If the statement compares catalogs of different populations.
    ContradictionError
        If the suppositions contradict known facts; the conflict is in the user's names.
    """
    recalled = None if suppositions else proofs.recall_proof(reading, statement)
    if recalled is not None:
        return _describe_proof(
            reading, ProvedStatement(statement, recalled.verdict, recalled.because, is_new=False), user_names
        ), []
    digests = dict.fromkeys(digest for premise in (statement, *suppositions) for digest in list_catalogs(premise))
    known = _gather_knowledge(reading, digests, user_names, suppositions)
    start = monotonic()
    with translate_contradictions(reading, user_names):
        verdict = known.knowledge.judge(statement, budget)
    if verdict == "unknown":
        ran_out = budget is not None and monotonic() - start >= budget
        world = None if ran_out else known.knowledge.counterexample(statement)
        vocabulary = Vocabulary.of(reading, list_catalogs(statement), user_names)
        shown = world and _reduce_world(world, statement, vocabulary)
        helped = Help() if ran_out or not why else find_help(reading, known, statement, user_names)
        return Proof(
            vocabulary.translate_statement(statement),
            "unknown",
            (),
            shown,
            vocabulary.describe_caveats(reading, list_catalogs(statement)),
            helped.closest,
            helped.witnesses,
        ), []
    proved_statement = _explain_proved(reading, known, statement, "holds" if verdict == "holds" else "fails")
    return _describe_proof(reading, proved_statement, user_names), [] if suppositions else [proved_statement]


def is_proved(reading: Reading, statement: Statement) -> bool:
    """Whether a statement about catalogs of the same population is proved; no reasons are computed."""
    recalled = proofs.recall_proof(reading, statement)
    return (
        recalled.verdict == "holds"
        if recalled
        else _gather_knowledge(reading, list_catalogs(statement), {}).knowledge.entails(statement)
    )


def _explain_proved(
    reading: Reading, known: TracedKnowledge, statement: Statement, verdict: Literal["holds", "fails"]
) -> ProvedStatement:
    """Return the facts proving a verdict, from a kept proof or from a new explanation."""
    recalled = proofs.recall_proof(reading, statement)
    if recalled is not None and recalled.verdict == verdict:
        return ProvedStatement(statement, verdict, recalled.because, is_new=False)
    return ProvedStatement(statement, verdict, known.because(statement if verdict == "holds" else ~statement))


def _describe_proof(reading: Reading, proved_statement: ProvedStatement, user_names: UserNames) -> Proof:
    """Return a proved statement as a proof in the user's names."""
    digests = list_catalogs(proved_statement.statement)
    facts = [fact for fact, _ in proved_statement.because]
    defining = _list_defining_catalogs(proved_statement.because)
    vocabulary = Vocabulary.of(reading, digests, user_names, facts, defining)
    statement = proved_statement.statement
    conclusion = statement if proved_statement.verdict == "holds" else ~statement
    reasons, chain = vocabulary.describe_proof(reading, proved_statement.because, conclusion)
    caveats = vocabulary.describe_caveats(reading, digests, proved_statement.because)
    return Proof(
        vocabulary.translate_statement(statement), proved_statement.verdict, reasons, caveats=caveats, chain=chain
    )


def _reduce_world(world: World, statement: Statement, vocabulary: Vocabulary) -> World:
    """Return a world with the user's names, reduced to the catalogs of a statement."""
    labels = statement.labels
    return World(
        frozenset(frozenset(vocabulary.word(label) for label in labels if label in region) for region in world.regions)
    )


def look_up_catalogs(
    reading: Reading,
    everything: KnowledgeCache,
    digest: CatalogDigest,
    relation: SetRelation,
) -> list[CatalogDigest]:
    """Return the digests of all other catalogs of the same population in a relation to a catalog."""
    entries_by_digest = find_entries(reading, [digest])
    if digest not in entries_by_digest:
        raise UnknownCatalogError(f"the archive holds no catalog {digest}")
    with translate_contradictions(reading, {}):
        return everything.find_related(reading, entries_by_digest[digest].population, digest, relation)


def check_population(population_by_digest: Mapping[CatalogDigest, str], user_names: UserNames) -> None:
    """Raise `PopulationError` if catalogs belong to different populations."""
    example: dict[str, str] = {}
    for digest, population in population_by_digest.items():
        example.setdefault(population, user_names.get(digest, digest[:SHORT]))
    if len(example) > 1:
        listing = ", ".join(f"{name} holds {make_plural(population)}" for population, name in example.items())
        raise PopulationError(f"cannot compare: {listing}", hint=ONE_POPULATION)


def _gather_knowledge(
    reading: Reading,
    digests: Collection[CatalogDigest],
    user_names: UserNames,
    suppositions: Collection[Statement] = (),
) -> TracedKnowledge:
    """Return all knowledge about catalogs of the same population, with the suppositions of a question."""
    definitions, facts = read_closed_cone(reading, digests)
    population = {definition.digest: definition.population for definition in definitions}
    check_population({digest: population[digest] for digest in digests}, user_names)
    supposed = (Fact(SUPPOSED, supposition, "", "declared", "", datetime.now(UTC)) for supposition in suppositions)
    return build_knowledge(definitions, (*facts, *supposed))


def _gather_verdicts(reading: Reading, digests: Collection[CatalogDigest], user_names: UserNames) -> Knowledge:
    """Return the knowledge of `_gather_knowledge`, for verdicts alone: what the facts give is built once for many.

    The statements are equivalent, but not the same, so that a proof from them may cite other facts.
    """
    lineage = add_constituents(reading, read_cone(reading, digests))
    population = {definition.digest: definition.population for definition in lineage}
    check_population({digest: population[digest] for digest in digests}, user_names)
    facts = find_facts_touching(reading, [definition.digest for definition in lineage if definition.is_base])
    mentioned = {digest for fact in facts for digest in fact.catalogs}
    extended = build_extended_knowledge(lineage, facts, lambda: read_cone(reading, mentioned)) if facts else None
    known = build_knowledge(add_defined_sets(reading, lineage, facts), facts) if extended is None else extended
    return known.knowledge


@contextmanager
def translate_contradictions(reading: Reading, user_names: UserNames) -> Iterator[None]:
    """Raise contradictions of the body again, in the user's names."""
    try:
        yield
    except ContradictionError as error:
        from provenn.logic.counting import CountConflict  # noqa: PLC0415 - most answers need no counts

        conflict = error.conflict
        counted = [count.region for count in conflict.counts] if isinstance(conflict, CountConflict) else []
        digests = {label for region in counted for label in region.labels if is_catalog_label(label)}
        vocabulary = Vocabulary.of(reading, digests, user_names, conflict.facts)
        raise ContradictionError(
            conflict.relabelled(vocabulary.word)
            if isinstance(conflict, CountConflict)
            else vocabulary.translate_explanation(conflict)
        ) from None
