"""The index of a population answers as knowledge that is built anew, for each viewer, also from a file."""

from pathlib import Path
from random import Random

import numpy as np
import pytest

import provenn
from provenn.archive import knowledge_cache
from provenn.digests import is_catalog_label
from provenn.errors import CatalogNameError, ContradictionError, DefinitionError, NotYoursError, UnknownCatalogError
from provenn.knowledge.extent_index import ExtentIndex
from provenn.knowledge.growing_knowledge import GrowingKnowledge
from provenn.knowledge.index_files import IndexFiles
from provenn.knowledge.stored_facts import read_knowledge_state
from provenn.logic.knowledge import signatures

RELATIONS = ("equal_to", "subsets_of", "supersets_of", "disjoint_from")
STEPS = 20
COMPARING = ("vmag < plx", "plx < vmag + 1", "n < vmag", "vmag - plx > 2", "n + plx >= 5", "greatest(vmag, plx) < 4")
"""Criteria that compare attributes."""


@pytest.fixture
def archive(tmp_path):
    """An archive with two base catalogs of stars."""
    for name in ("stars", "others"):
        (tmp_path / f"{name}.csv").write_text(f"hip,vmag,plx,n\n1,2.0,3.0,{len(name)}\n")
    with provenn.open(tmp_path) as opened:
        for name in ("stars", "others"):
            opened.ingest(name, tmp_path / f"{name}.csv", key="hip", population="star")
        yield opened


def change_at_random(
    person: provenn.Archive, random: Random, made: list[provenn.Catalog], *, compares: bool = False
) -> None:
    """Define a catalog, or declare or retract a fact, or name something for all."""
    one, other = (person.catalog(random.choice(made).digest) for _ in range(2))
    criteria = [
        f"{random.choice(['vmag', 'plx', 'n'])} {random.choice(['<', '<=', '>', '>=', '='])} {random.randint(0, 9)}",
        f"n BETWEEN {random.randint(0, 4)} AND {random.randint(3, 9)}",
        f"n IN ({random.randint(0, 5)}, {random.randint(0, 5)})",
        f"vmag + {random.randint(0, 2)} < {random.randint(0, 5)}",
        "plx IS NULL",
        *(COMPARING if compares else ()),
    ]
    match random.randrange(10):
        case 0 | 1 | 2 | 3:
            made.append(one.select(random.choice(criteria)))
        case 4:
            made.append(one.restrict(other))
        case 5:
            made.append(one.exclude(other))
        case 6:
            made.append(
                random.choice(
                    [
                        one.concat(other, order="first"),
                        one.sample(random.choice([0.1, 0.5])),
                        one.keep("hip", "n", "vmag", "plx"),
                    ]
                )
            )
        case 7:
            statements = ["disjoint({}, {})", "{} <= {}", "overlapping({}, {})", "empty({} - {})", "{0} == {0}"]
            visibility = random.choice(["public", "private"])
            text = random.choice(statements).format(repr(one.digest), repr(other.digest))
            person.declare(text, visibility=visibility)
        case 8:
            person.name(one, f"name{random.randint(0, 5)}", move=True, visibility="public")
        case _:
            facts = person.facts()
            if facts:
                person.retract(random.choice(facts).id)


def compare(person: provenn.Archive, index: ExtentIndex) -> ExtentIndex:
    """Compare the answers about all catalogs that a person sees with those of knowledge that is built anew."""
    with person.context.database.reading() as reading:
        fresh = GrowingKnowledge(reading, "star")
        if not index.grow(reading):
            index = ExtentIndex("star")
            assert index.grow(reading)
        assert index.is_usable
        state = read_knowledge_state(reading)
        for relation in RELATIONS:
            for digest in sorted(fresh.catalogs):
                related = index.find_related(reading, state, digest, relation)
                assert related is not None
                expected = [label for label in getattr(fresh.knowledge, relation)(digest) if label in fresh.catalogs]
                assert [other for other in related if other in fresh.catalogs] == expected, (relation, digest)
    return index


@pytest.mark.filterwarnings("ignore::provenn.errors.ProvennWarning")
@pytest.mark.parametrize("compares", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_the_index_answers_as_fresh_knowledge_for_each_viewer(archive, tmp_path, seed, compares, monkeypatch):
    """Whatever is defined, declared and retracted, by whom and for whom, also after the index was stored and loaded."""
    monkeypatch.setattr(signatures, "_FEW", Random(seed).choice([0, 32]))
    people = [archive, archive.as_seen_by("ada"), archive.as_seen_by("ben")]
    random, made = Random(seed), [archive["stars"], archive["others"]]
    index, files = ExtentIndex("star"), IndexFiles(tmp_path / "indices", "epoch")
    changes = 0
    for step in range(STEPS):
        person = random.choice(people)
        try:
            change_at_random(person, random, made, compares=compares)
        except (ContradictionError, DefinitionError, UnknownCatalogError, NotYoursError, CatalogNameError):
            continue
        changes += 1
        if step % 3 == 0:
            files.save(index)
            loaded = files.load("star")
            assert loaded is not None or not index.state.catalogs
            index = loaded or index
        if random.random() < 0.5:
            index = compare(random.choice(people), index)
    for person in people:
        index = compare(person, index)
    assert changes >= STEPS // 3


@pytest.mark.filterwarnings("ignore::provenn.errors.ProvennWarning")
def test_nothing_that_a_viewer_may_not_see_is_in_an_answer_or_influences_it(archive, monkeypatch):
    """The index is shared; catalogs and facts of others neither appear nor prove anything."""
    monkeypatch.setattr(knowledge_cache, "_LEAST_INDEXED", 0)
    archive["stars"].select("vmag < 6", name="bright")
    archive["stars"].select("plx > 3", name="near")
    ada, ben = (archive.as_seen_by(who) for who in ("ada", "ben"))
    assert ada.apart_from("bright") == ben.apart_from("bright") == []
    ada.declare("disjoint(bright, near)", visibility="private")
    hidden = ada["bright"].select("vmag < 5")
    ada.name(hidden, "hidden", visibility="private")
    shared = ben["bright"].select("vmag < 4")
    ben.name(shared, "shared", visibility="public")
    assert {catalog.name for catalog in ada.apart_from("near")} == {"bright", "hidden", "shared"}
    assert ben.apart_from("near") == []
    assert {catalog.name for catalog in ada.inside("bright")} == {"hidden", "shared"}
    assert {catalog.name for catalog in ben.inside("bright")} == {"shared"}
    assert hidden.digest in archive.context.knowledge._indices["star"].labels, "the index was asked"


def test_a_population_without_an_index_is_answered_from_knowledge(archive, monkeypatch):
    monkeypatch.setattr(knowledge_cache, "_LEAST_INDEXED", 0)
    archive["stars"].first(by="n", order="vmag", name="a")
    archive["a"].select("n < 5", name="b")
    assert [catalog.name for catalog in archive.inside("a")] == ["b"]
    assert not archive.context.knowledge._indices["star"].is_usable


def test_objects_with_values_decide_questions_about_criteria_that_compare_attributes(archive, monkeypatch):
    """The index knows what follows from values, and most questions need no reasoner: rows of values refute."""
    monkeypatch.setattr(knowledge_cache, "_LEAST_INDEXED", 0)
    archive["stars"].select("vmag < plx", name="a")
    archive["a"].select("plx < 5", name="b")
    archive["stars"].select("vmag < 5", name="c")
    archive["stars"].select("plx < vmag", name="d")
    assert [catalog.name for catalog in archive.covering("b")] == ["a", "c", "stars"]
    assert [catalog.name for catalog in archive.apart_from("d")] == ["a", "b"]
    index = archive.context.knowledge._indices["star"]
    assert index.is_usable
    assert index.sets.reasoner.find_certain_objects().bit_count() > 100


def test_facts_that_leave_a_choice_or_contradict_are_left_to_knowledge(archive):
    bright = archive["stars"].select("vmag < 6", name="bright")
    index = ExtentIndex("star")
    archive.declare("bright < stars or empty(others)")
    with archive.context.database.reading() as reading:
        index.grow(reading)
        assert index.find_related(reading, 0, bright.digest, "subsets_of") is None


@pytest.mark.parametrize("damage", ["byte", "cut", "empty", "other archive", "other population", "others write"])
def test_a_damaged_or_foreign_file_is_no_index(archive, tmp_path, damage):
    archive["stars"].select("vmag < 6")
    index, files = ExtentIndex("star"), IndexFiles(tmp_path / "indices", "epoch")
    with archive.context.database.reading() as reading:
        index.grow(reading)
    files.save(index)
    (path,) = Path(tmp_path / "indices").iterdir()
    assert path.stat().st_mode & 0o077 == 0, "others cannot read it"
    assert files.load("star") is not None
    content = path.read_bytes()
    if damage == "byte":
        for place in np.linspace(0, len(content) - 1, 40).astype(int).tolist():
            path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
            assert files.load("star") is None
    elif damage in ("cut", "empty"):
        for length in (0,) if damage == "empty" else (1, 10, len(content) // 2, len(content) - 1):
            path.write_bytes(content[:length])
            assert files.load("star") is None
    elif damage == "other archive":
        foreign = IndexFiles(tmp_path / "indices", "another")
        path.rename(foreign._find_path("star"))
        assert foreign.load("star") is None
    elif damage == "others write":
        path.chmod(0o620)
        assert files.load("star") is None
    else:
        path.rename(files._find_path("galaxy"))
        assert files.load("galaxy") is None


def test_an_index_that_knows_more_than_the_archive_is_built_anew(archive, tmp_path):
    """As after an older copy of the database took its place."""
    index, files = ExtentIndex("star"), IndexFiles(tmp_path / "indices", "epoch")
    with archive.context.database.reading() as reading:
        before = reading
        archive["stars"].select("vmag < 6")
        with archive.context.database.reading() as later:
            index.grow(later)
        files.save(index)
        loaded = files.load("star")
        assert loaded is not None
        assert not loaded.grow(before)
        assert index.grow(before), "a transaction that began earlier in this process"


def test_a_fresh_process_answers_from_the_file(archive, tmp_path, monkeypatch):
    """The file is used, and grows by what is new."""
    monkeypatch.setattr(knowledge_cache, "_LEAST_INDEXED", 0)
    monkeypatch.setattr(knowledge_cache, "_LEAST_STORED", 0)
    archive["stars"].select("vmag < 6", name="bright")
    assert [catalog.name for catalog in archive.inside("stars")] == ["bright"]
    archive["bright"].select("vmag < 4", name="brighter")
    built = []
    monkeypatch.setattr(ExtentIndex, "_relate_criteria", _counting(ExtentIndex._relate_criteria, built))
    with provenn.open(tmp_path) as again:
        assert [catalog.name for catalog in again.inside("stars")] == ["bright", "brighter"]
        (index,) = again.context.knowledge._indices.values()
        assert index.state.catalogs == 4
    with provenn.open(tmp_path) as again:
        assert [catalog.name for catalog in again.covering("brighter")] == ["bright", "stars"]
    assert len(built) == 1, "only the new criterion was related"


def _counting(function, calls):
    def count(*arguments):
        calls.append(arguments)
        return function(*arguments)

    return count


def test_labels_that_are_no_catalogs_are_in_no_answer(archive):
    archive["stars"].select("vmag < 6")
    index = ExtentIndex("star")
    with archive.context.database.reading() as reading:
        index.grow(reading)
        related = index.find_related(reading, 0, archive["stars"].digest, "subsets_of")
    assert related
    assert all(map(is_catalog_label, related))
