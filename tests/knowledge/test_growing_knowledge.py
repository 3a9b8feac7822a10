"""Knowledge that grows with the archive answers as knowledge that is built anew."""

from random import Random

import pytest

import provenn
from provenn.digests import is_catalog_label
from provenn.errors import ContradictionError, DefinitionError
from provenn.knowledge.growing_knowledge import GrowingKnowledge
from provenn.logic import Knowledge

LOOK_UPS = (Knowledge.equal_to, Knowledge.subsets_of, Knowledge.supersets_of, Knowledge.disjoint_from)
STEPS = 14


def answer_all(knowledge: Knowledge, digests: frozenset[str]) -> dict[tuple[str, str], list[str]]:
    """Return the answers of all look-ups about some catalogs, as far as they are about catalogs."""
    return {
        (look_up.__name__, digest): [label for label in look_up(knowledge, digest) if is_catalog_label(label)]
        for look_up in LOOK_UPS
        for digest in sorted(digests)
    }


def compare(archive: provenn.Archive, growing: GrowingKnowledge) -> bool:
    """Let the knowledge grow, and compare all its answers; return whether it grew."""
    with archive.context.database.reading() as reading:
        fresh = GrowingKnowledge(reading, "star")
        if not growing.grow(reading):
            return False
        digests = fresh.catalogs
    assert growing.catalogs == digests
    assert answer_all(growing.knowledge, digests) == answer_all(fresh.knowledge, digests)
    return True


@pytest.fixture
def archive(tmp_path):
    """An archive with a base of stars."""
    (tmp_path / "stars.csv").write_text("hip,vmag,plx,n\n1,2.0,3.0,4\n")
    with provenn.open(tmp_path) as opened:
        opened.ingest("stars", tmp_path / "stars.csv", key="hip", population="star")
        yield opened


def grow_at_random(archive: provenn.Archive, random: Random, made: list[provenn.Catalog]) -> None:
    """Define a catalog, or declare or retract a fact."""
    one, other = random.choice(made), random.choice(made)
    criteria = [
        f"{random.choice(['vmag', 'plx', 'n'])} {random.choice(['<', '<=', '>', '>=', '='])} {random.randint(0, 9)}",
        f"n BETWEEN {random.randint(0, 4)} AND {random.randint(3, 9)}",
        f"n IN ({random.randint(0, 5)}, {random.randint(0, 5)})",
        "vmag < plx",
        f"vmag + {random.randint(0, 2)} < {random.randint(0, 5)}",
        "plx IS NULL",
    ]
    match random.randrange(9):
        case 0 | 1 | 2 | 3:
            made.append(one.select(random.choice(criteria)))
        case 4:
            made.append(one.restrict(other))
        case 5:
            made.append(one.exclude(other))
        case 6:
            made.append(random.choice([one.concat(other), one.sample(random.choice([0.1, 0.5])), one.keep("hip", "n")]))
        case 7:
            relation = random.choice(["disjoint({}, {})", "{} <= {}", "overlapping({}, {})"])
            archive.declare(relation.format(repr(one.digest), repr(other.digest)))
        case _:
            facts = archive.facts()
            if facts:
                archive.retract(random.choice(facts).id)


@pytest.mark.filterwarnings("ignore::provenn.errors.ProvennWarning")
@pytest.mark.parametrize("seed", range(8))
def test_growing_knowledge_answers_as_fresh_knowledge(archive, seed):
    random, made = Random(seed), [archive["stars"]]
    with archive.context.database.reading() as reading:
        growing = GrowingKnowledge(reading, "star")
    grown = 0
    for _ in range(STEPS):
        try:
            grow_at_random(archive, random, made)
        except (ContradictionError, DefinitionError):
            continue
        if random.random() < 0.7:
            if compare(archive, growing):
                grown += 1
            else:
                with archive.context.database.reading() as reading:
                    growing = GrowingKnowledge(reading, "star")
    assert grown, "growing was really tried"


def test_a_new_base_set_a_retracted_fact_and_references_are_left_to_building_anew(archive, tmp_path):
    fact = archive.declare("nonempty(stars)")
    with archive.context.database.reading() as reading:
        growing = GrowingKnowledge(reading, "star")
    assert compare(archive, growing), "nothing is new"
    archive.retract(fact.id)
    assert not compare(archive, growing)
    with archive.context.database.reading() as reading:
        growing = GrowingKnowledge(reading, "star")
    archive.ingest("others", tmp_path / "stars.csv", key="hip", population="star", rebuild=True)
    archive["stars"].having("others", on="hip", name="referred")
    assert not compare(archive, growing)


@pytest.mark.filterwarnings("ignore::provenn.errors.ProvennWarning")
def test_nothing_that_a_viewer_may_not_see_is_in_the_knowledge_that_the_viewer_asks(archive):
    """Neither at first nor after others have defined, named and declared in private."""
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
    for person in (ada, ben):
        (growing,) = [
            kept
            for (_, viewer, _), (_, kept) in person.context.knowledge._kept.items()
            if viewer == person.context.database.viewer
        ]
        with person.context.database.reading() as reading:
            fresh = GrowingKnowledge(reading, "star")
        assert growing.catalogs == fresh.catalogs
        assert {label for label in growing.knowledge.labels if is_catalog_label(label)} == {
            label for label in fresh.knowledge.labels if is_catalog_label(label)
        }
    assert hidden.digest not in growing.knowledge.labels
