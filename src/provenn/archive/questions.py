"""Questions about catalogs, answered from their lineage and what was declared, without reading a row.

Labels are digests of catalogs. Nothing is written here: what was proved comes back as `Found`, to be kept for the next
who asks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import combinations
from time import monotonic
from typing import Literal

from provenn.archive.comparison import Comparison, regions_of
from provenn.archive.everything import Everything
from provenn.archive.proof import Proof
from provenn.archive.relation import RELATIONS, Relation, Summary
from provenn.archive.words import SHORT, SUPPOSED, Vocabulary
from provenn.errors import ComparisonError, ContradictionError, PopulationError, UnknownCatalogError
from provenn.logic import Knowledge, Relationship, Statement, World
from provenn.store import populations, proofs
from provenn.store.catalog_store import entries
from provenn.store.database import Reading
from provenn.store.facts import Fact, closed_cone
from provenn.store.knowledge import Because, Known, knowledge_of

__all__ = ["Asked", "Found", "compare", "in_words", "judge", "look_up", "proves", "relate", "summaries"]

_COMPARED = (2, 3)

Asked = Mapping[str, str]
"""What the user calls the catalogs of a question, by digest."""


@dataclass(frozen=True, slots=True)
class Found:
    """Something that was proved.

    Parameters
    ----------
    said, verdict
        A statement, and whether it holds or fails.
    because
        The facts from which that follows.
    is_new
        Whether it is worth keeping: not if it was kept before.
    """

    said: Statement
    verdict: Literal["holds", "fails"]
    because: tuple[Because, ...]
    is_new: bool = True


def relate(reading: Reading, left: str, right: str, asked: Asked) -> tuple[Relation, list[Found]]:
    """Return how two catalogs relate, and what was proved for it.

    Raises
    ------
    PopulationError
        If they are of different populations.
    """
    comparison, found = compare(reading, (left, right), asked)
    return comparison.relations[0], found


def compare(reading: Reading, digests: Sequence[str], asked: Asked) -> tuple[Comparison, list[Found]]:
    """Return what is known of two or three catalogs together, and what was proved for it.

    Raises
    ------
    ComparisonError
        If they are fewer, or more.
    PopulationError
        If they are of different populations.
    """
    if len(digests) not in _COMPARED:
        raise ComparisonError(f"two or three catalogs can be compared, not {len(digests)}")
    different = tuple(dict.fromkeys(digests))
    known = _known(reading, different, asked)
    with in_words(reading, asked):
        possible = known.knowledge.relationship(*different)
    pairs = list(combinations(different, 2)) or [(different[0], different[0])]
    summaries = [_first_proved(possible, *pair) for pair in pairs]
    proved = [None if said is None else _proved(reading, known, said, "holds") for _, said in summaries]
    cited = [fact for one in proved if one is not None for fact, _ in one.because]
    vocabulary = Vocabulary.of(reading, different, asked, cited)
    word = vocabulary.word
    hypercubes = Relationship.from_arrays(map(word, different), possible.arrays())
    relations = tuple(
        Relation(
            word(left),
            word(right),
            summary,
            hypercubes if len(pairs) == 1 else hypercubes.on(word(left), word(right)),
            None if said is None else vocabulary.said(said),
            () if found is None else vocabulary.reasons(reading, found.because),
            vocabulary.caveats(reading, (left, right), () if found is None else found.because),
        )
        for (left, right), (summary, said), found in zip(pairs, summaries, proved, strict=True)
    )
    names = tuple(map(word, different))
    comparison = Comparison(names, different, hypercubes, regions_of(names, hypercubes), relations)
    return comparison, [one for one in proved if one is not None and one.is_new]


def summaries(reading: Reading, digest: str, others: Collection[str], asked: Asked) -> dict[str, Summary]:
    """Return how a catalog relates to each of several others, by digest, without asking why.

    Raises
    ------
    PopulationError
        If they are of different populations.
    """
    knowledge = _known(reading, dict.fromkeys((digest, *others)), asked).knowledge
    return {
        other: "equal" if other == digest else _first_proved(knowledge.relationship(digest, other), digest, other)[0]
        for other in others
    }


def _first_proved(possible: Relationship, left: str, right: str) -> tuple[Summary, Statement | None]:
    for summary, relation in RELATIONS.items():
        said = relation(left, right)
        if possible.entails(said):
            return summary, said
    return "unknown", None


def judge(
    reading: Reading, said: Statement, asked: Asked, given: Collection[Statement] = (), budget: float | None = None
) -> tuple[Proof, list[Found]]:
    """Return whether a statement holds, and what was proved for it.

    Parameters
    ----------
    reading
        The transaction.
    said
        The statement.
    asked
        What the user calls the catalogs.
    given
        Facts to hold true besides, for this question only. What is proved with them is not to be kept.
    budget
        Seconds after which to stop looking for a proof.

    Raises
    ------
    PopulationError
        If it compares catalogs of different populations.
    ContradictionError
        If what is given contradicts what is known; the conflict is in words.
    """
    recalled = None if given else proofs.recall(reading, said)
    if recalled is not None:
        return _told(reading, Found(said, recalled.verdict, recalled.because, is_new=False), asked), []
    labels = dict.fromkeys(label for one in (said, *given) for label in one.labels)
    known = _known(reading, labels, asked, given)
    start = monotonic()
    with in_words(reading, asked):
        verdict = known.knowledge.judge(said, budget)
    if verdict == "unknown":
        ran_out = budget is not None and monotonic() - start >= budget
        world = None if ran_out else known.knowledge.counterexample(said)
        vocabulary = Vocabulary.of(reading, said.labels, asked)
        shown = world and _reduced(world, said, vocabulary)
        return Proof(vocabulary.said(said), "unknown", (), shown, vocabulary.caveats(reading, said.labels)), []
    found = _proved(reading, known, said, "holds" if verdict == "holds" else "fails")
    return _told(reading, found, asked), [] if given else [found]


def proves(reading: Reading, said: Statement) -> bool:
    """Whether a statement about catalogs of one population holds, without asking why."""
    recalled = proofs.recall(reading, said)
    return recalled.verdict == "holds" if recalled else _known(reading, said.labels, {}).knowledge.entails(said)


def _proved(reading: Reading, known: Known, said: Statement, verdict: Literal["holds", "fails"]) -> Found:
    """Return the reason for something that is proved, found now or before."""
    recalled = proofs.recall(reading, said)
    if recalled is not None and recalled.verdict == verdict:
        return Found(said, verdict, recalled.because, is_new=False)
    return Found(said, verdict, known.because(said if verdict == "holds" else ~said))


def _told(reading: Reading, found: Found, asked: Asked) -> Proof:
    vocabulary = Vocabulary.of(reading, found.said.labels, asked, (fact for fact, _ in found.because))
    reasons = vocabulary.reasons(reading, found.because)
    caveats = vocabulary.caveats(reading, found.said.labels, found.because)
    return Proof(vocabulary.said(found.said), found.verdict, reasons, caveats=caveats)


def _reduced(world: World, said: Statement, vocabulary: Vocabulary) -> World:
    """Return a world in words, with the catalogs of a statement alone."""
    labels = said.labels
    return World(frozenset(frozenset(vocabulary.word(one) for one in labels if one in here) for here in world.regions))


def look_up(
    reading: Reading, everything: Everything, digest: str, relation: Callable[[Knowledge, str], Iterable[str]]
) -> list[str]:
    """Return the digests of all catalogs of its population that stand in a relation to a catalog."""
    found = entries(reading, [digest])
    if digest not in found:
        raise UnknownCatalogError(f"the archive holds no catalog {digest}")
    population = found[digest].population
    others = everything.ask(reading, population, lambda knowledge: list(relation(knowledge, digest)))
    catalogs = populations.in_population(reading, population)
    return [other for other in others if other in catalogs]


def _check_population(found: Mapping[str, str], asked: Asked) -> None:
    """Refuse to compare catalogs of different populations, given that of each, by digest."""
    example: dict[str, str] = {}
    for digest, population in found.items():
        example.setdefault(population, asked.get(digest, digest[:SHORT]))
    if len(example) > 1:
        each = ", ".join(f"{name} holds {population}" for population, name in example.items())
        raise PopulationError(
            f"catalogs of different populations cannot be compared: {each}",
            hint="only sources of one population can be the same",
        )


def _known(reading: Reading, digests: Collection[str], asked: Asked, given: Collection[Statement] = ()) -> Known:
    definitions, facts = closed_cone(reading, digests)
    population = {one.digest: one.population for one in definitions}
    _check_population({digest: population[digest] for digest in digests}, asked)
    supposed = (Fact(SUPPOSED, one, "", "declared", "", datetime.now(UTC)) for one in given)
    return knowledge_of(definitions, (*facts, *supposed))


@contextmanager
def in_words(reading: Reading, asked: Asked) -> Iterator[None]:
    """Tell a contradiction in the user's words."""
    try:
        yield
    except ContradictionError as error:
        vocabulary = Vocabulary.of(reading, (), asked, error.conflict.facts)
        raise ContradictionError(vocabulary.explained(error.conflict)) from None
