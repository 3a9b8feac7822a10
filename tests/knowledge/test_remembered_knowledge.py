"""Remembered knowledge, extended by the catalogs in question, answers as knowledge that is built anew."""

from collections.abc import Sequence
from random import Random

import pytest

import provenn
from provenn.definitions import ancestors
from provenn.errors import ContradictionError, CriterionError, DefinitionError
from provenn.knowledge import remembered_knowledge
from provenn.knowledge.consequences import TracedKnowledge, build_knowledge
from provenn.logic import disjoint, empty, subset
from provenn.targets.known import build_definition, collect_knowledge, collect_limiting_knowledge, find_touching_facts
from tests.knowledge.test_growing_knowledge import archive, grow_at_random

__all__ = ["archive"]


def build_anew(archive: provenn.Archive, catalogs: Sequence[provenn.Catalog]) -> TracedKnowledge:
    """Return the knowledge about catalogs, from all their definitions and facts at once."""
    definitions = {}
    with archive.context.database.reading() as reading:
        facts = find_touching_facts(reading, *(catalog.definition for catalog in catalogs))
        mentioned = {digest for fact in facts for digest in fact.catalogs}
        for definition in ancestors.read_cone(reading, {catalog.digest for catalog in catalogs} | mentioned):
            definitions[definition.digest] = definition
    return build_knowledge(definitions.values(), facts)


@pytest.mark.filterwarnings("ignore::provenn.errors.ProvennWarning")
@pytest.mark.parametrize("seed", range(6))
def test_extended_knowledge_answers_as_knowledge_built_anew(archive, seed, monkeypatch):
    """About random catalogs, while facts are declared and retracted; every statement built anew is known."""
    extended_count = 0

    def count_extensions(*arguments):
        nonlocal extended_count
        traced = build_extended(*arguments)
        extended_count += traced is not None
        return traced

    build_extended = remembered_knowledge.build_extended_knowledge
    monkeypatch.setattr("provenn.targets.known.build_extended_knowledge", count_extensions)
    random, made = Random(seed), [archive["stars"]]
    archive.declare("nonempty(stars)")
    for _ in range(16):
        try:
            grow_at_random(archive, random, made)
        except (ContradictionError, CriterionError, DefinitionError):
            continue
        asked = random.sample(made, min(len(made), 3))
        with archive.context.database.reading() as reading:
            collect_knowledge(reading, asked[0].definition)  # facts are remembered when they are seen again
            extended = collect_knowledge(reading, *(catalog.definition for catalog in asked))
            limiting = collect_limiting_knowledge(reading, *(catalog.definition for catalog in asked))
        fresh = build_anew(archive, asked)
        assert len(extended.origins) == len(extended.knowledge.facts)
        labels = [catalog.digest for catalog in asked]
        for question in (
            *(empty(label) for label in labels),
            *(relation(one, other) for relation in (subset, disjoint) for one in labels for other in labels),
        ):
            assert extended.knowledge.entails(question) == fresh.knowledge.entails(question), question
            assert limiting.knowledge.entails(question) == fresh.knowledge.entails(question), question
            assert bool(extended.because(question)) == bool(fresh.because(question))
        assert all(map(extended.knowledge.entails, fresh.knowledge.facts))
        assert all(map(fresh.knowledge.entails, extended.knowledge.facts))
    assert extended_count, "knowledge was really extended"


def test_facts_are_read_once_for_many_questions(archive, monkeypatch):
    """An unrelated definition between two questions changes nothing."""
    stars = archive["stars"]
    archive.declare(f"nonempty({stars.select('vmag < 3').digest!r})")
    bright, near = stars.select("vmag < 6"), stars.select("plx > 2")
    with archive.context.database.reading() as reading:
        collect_knowledge(reading, bright.definition)
        collect_knowledge(reading, bright.definition)
    stars.select("n = 7")
    monkeypatch.setattr("provenn.definitions.ancestors.read_cone", None)
    with archive.context.database.reading() as reading:
        known = collect_knowledge(reading, bright.definition, near.definition).knowledge
    assert known.entails(f"nonempty({bright.digest!r})")
    assert not known.entails(f"nonempty({near.digest!r})")


def test_facts_across_populations_are_built_anew(archive, tmp_path):
    """References relate sets of two populations, which no extension does."""
    stars = archive["stars"]
    others = archive.ingest("others", tmp_path / "stars.csv", key="hip", population="other")
    referring = stars.having(others, on="n", name="referring")
    archive.declare("nonempty(referring)")
    with archive.context.database.reading() as reading:
        facts = find_touching_facts(reading, stars.definition)
        lineage = [build_definition(stars.definition)]
        digests = {digest for fact in facts for digest in fact.catalogs}
        for _ in range(3):
            extended = remembered_knowledge.build_extended_knowledge(
                lineage, facts, lambda: ancestors.read_cone(reading, digests)
            )
            assert extended is None
        assert collect_knowledge(reading, referring.definition).knowledge.entails(
            "nonempty(" + repr(stars.digest) + ")"
        )
