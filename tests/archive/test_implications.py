"""What a declaration newly implies for named catalogs: exactly what a look at all possible worlds shows."""

from itertools import chain, combinations

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import provenn
from provenn.archive import Declared, Notice
from provenn.errors import ContradictionError, ProvennWarning
from provenn.logic import World, statement
from tests.cli.archive_session import Session

BASES = ("a", "b", "c")
MADE = {
    "ab": lambda region: "a" in region and "b" in region,
    "a_b": lambda region: "a" in region and "b" not in region,
    "abc": lambda region: {"a", "b", "c"} <= region,
    "a_ab": lambda region: "a" in region and "b" not in region,
    "c_ab": lambda region: "c" in region and not {"a", "b"} <= region,
}
NAMES = (*BASES, *MADE)


def define(archive: provenn.Archive) -> None:
    """Three base catalogs with keys among each other's, so that footers prove nothing, and what is made from them."""
    a, b, c = (
        archive.ingest(name, pa.table({"id": range(n, 24 + n, 3), "x": [1.0] * 8}), key="id", population="star")
        for n, name in enumerate(BASES)
    )
    ab = a.restrict(b, name="ab")
    a.exclude(b, name="a_b")
    ab.restrict(c, name="abc")
    a.exclude(ab, name="a_ab")
    c.exclude(ab, name="c_ab")


@pytest.fixture
def sets(archive):
    define(archive)
    return archive


REGIONS = [frozenset(some) for some in chain.from_iterable(combinations(BASES, n) for n in (1, 2, 3))]
WORLDS = [frozenset(some) for some in chain.from_iterable(combinations(REGIONS, n) for n in range(len(REGIONS) + 1))]
"""Which regions of the base sets hold anything; something is always outside of all of them."""


def world(inhabited: frozenset) -> World:
    """A world in which the named catalogs are what they are made to be."""
    return World(
        frozenset(
            region | {name for name, is_in in MADE.items() if is_in(region)} for region in (*inhabited, frozenset())
        )
    )


ALL = [world(regions) for regions in WORLDS]


def brute_force(text: str, held: tuple[str, ...] = ()) -> tuple[set[str], set[frozenset[str]]] | None:
    """What follows newly from a statement, by trying all worlds; None if there is none in which it is true."""
    before = [
        possible_world for possible_world in ALL if all(possible_world.satisfies(statement(fact)) for fact in held)
    ]
    now = [possible_world for possible_world in before if possible_world.satisfies(statement(text))]
    if not now:
        return None
    alone = [World(frozenset(some)) for some in _free_worlds(statement(text).labels)]
    alone = [possible_world for possible_world in alone if possible_world.satisfies(statement(text))]

    def new(question: str) -> bool:
        asked = statement(question)
        by_itself = set(asked.labels) <= set(statement(text).labels) and all(
            possible_world.satisfies(asked) for possible_world in alone
        )
        return (
            all(possible_world.satisfies(asked) for possible_world in now)
            and not all(possible_world.satisfies(asked) for possible_world in before)
            and not by_itself
        )

    hollow = {
        name for name in NAMES if all(possible_world.satisfies(statement(f"empty({name})")) for possible_world in now)
    }
    emptied = {name for name in hollow if new(f"empty({name})")}
    pairs = {
        frozenset({possible_world, other})
        for possible_world, other in combinations([name for name in NAMES if name not in hollow], 2)
        if new(f"{possible_world} == {other}")
    }
    return emptied, pairs


def _free_worlds(labels):
    regions = [frozenset(some) for some in chain.from_iterable(combinations(labels, n) for n in range(len(labels) + 1))]
    return chain.from_iterable(combinations(regions, n) for n in range(len(regions) + 1))


def list_implications(declared: Declared) -> tuple[set[str], set[frozenset[str]]]:
    return set(declared.empties), {frozenset(pair) for pair in declared.equates}


def test_a_mistaken_declaration_says_what_it_empties(stars, archive):
    stars.select("plx > 10", name="near")
    stars.select("plx > 50", name="very_near")
    with pytest.warns(ProvennWarning, match="very_near cannot have any sources") as warnings:
        declared = archive.declare("disjoint(near, very_near)")
    assert warnings[0].filename == __file__
    assert (declared.empties, declared.equates, declared.complete) == (("very_near",), (), True)
    assert [notice.kind for notice in archive.notices] == ["implies"]
    assert isinstance(archive.notices[0], Notice)


def test_what_is_made_from_the_catalogs_of_a_fact_is_looked_at_too(sets):
    with pytest.warns(ProvennWarning, match="ab and abc cannot have any sources; a and a_ab; a and a_b"):
        declared = sets.declare("disjoint(a, b)")
    assert list_implications(declared) == (
        {"ab", "abc"},
        {frozenset(pair) for pair in [("a", "a_ab"), ("a", "a_b"), ("c", "c_ab")]},
    )


def test_what_a_fact_says_itself_is_no_news(sets):
    with pytest.warns(ProvennWarning, match="c_ab and c have the same sources"):
        assert list_implications(sets.declare("empty(abc)")) == (set(), {frozenset({"c", "c_ab"})})
    with pytest.warns(ProvennWarning, match="cannot have any sources"):
        assert frozenset({"b", "c"}) not in list_implications(sets.declare("b == c"))[1]


def test_a_fact_that_is_there_already_implies_nothing_new(sets):
    with pytest.warns(ProvennWarning):
        sets.declare("disjoint(a, b)")
    again = sets.declare("disjoint(a, b)")
    assert (again.id, again.empties) == (1, ())


def test_not_all_are_looked_at_where_there_are_many(sets, monkeypatch):
    monkeypatch.setattr("provenn.archive.implications._MOST_NAMED", 3)
    with pytest.warns(ProvennWarning, match="not all catalogs were examined"):
        declared = sets.declare("disjoint(a, b)")
    assert not declared.complete


def test_an_import_says_what_its_facts_empty(sets, tmp_path):
    with pytest.warns(ProvennWarning):
        sets.declare("disjoint(a, b)")
    sets.export_definitions(tmp_path / "sets.provenn")
    with provenn.open(tmp_path / "other", who="bob") as other:
        with pytest.warns(ProvennWarning, match="by the imported facts, ab and abc cannot have any sources"):
            other.import_definitions(tmp_path / "sets.provenn")
        other.import_definitions(tmp_path / "sets.provenn")


def test_the_command_warns(archive, stars):
    stars.select("plx > 10", name="near")
    stars.select("plx > 50", name="very_near")
    session = Session(archive.place.removesuffix("/provenn.sqlite"))
    lines = session("declare 'disjoint(near, very_near)'").splitlines()
    assert lines == [
        "fact #1: disjoint(near, very_near)",
        "warning: by this fact, very_near cannot have any sources",
    ]
    session("retract 1")
    data = session.json("declare 'disjoint(near, very_near)'")
    assert (data["empties"], data["equates"], data["complete"]) == (["very_near"], [], True)


TERMS = st.recursive(
    st.sampled_from(NAMES),
    lambda part: st.builds(lambda left, sign, right: f"({left} {sign} {right})", part, st.sampled_from("&|-"), part),
    max_leaves=3,
)
STATEMENTS = st.one_of(
    st.builds(
        lambda left, sign, right: f"{left} {sign} {right}", TERMS, st.sampled_from(["==", "<=", "<", "!="]), TERMS
    ),
    st.builds(lambda name, term: f"{name}({term})", st.sampled_from(["empty", "nonempty"]), TERMS),
    st.builds(lambda left, right: f"disjoint({left}, {right})", TERMS, TERMS),
).filter(lambda text: len(statement(text).labels) <= 3)


@pytest.mark.filterwarnings("ignore::provenn.errors.ProvennWarning")
@pytest.mark.parametrize(
    "examples", [pytest.param(25, id="quick"), pytest.param(2000, id="campaign", marks=pytest.mark.campaign)]
)
def test_exactly_what_all_possible_worlds_show_is_told(tmp_path_factory, examples):
    folder = tmp_path_factory.mktemp("sets")
    with provenn.open(folder / "survey", who="ada") as archive:
        define(archive)

        @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
        @given(st.lists(STATEMENTS, min_size=1, max_size=3, unique=True))
        def check(texts):
            held: list[str] = []
            numbers: list[int] = []
            try:
                for text in texts:
                    expected = brute_force(text, tuple(held))
                    if expected is None:
                        with pytest.raises(ContradictionError):
                            archive.declare(text)
                        continue
                    declared = archive.declare(text)
                    numbers.append(declared.id)
                    held.append(text)
                    assert list_implications(declared) == expected, (text, held)
            finally:
                for number in dict.fromkeys(numbers):
                    archive.retract(number)

        check()
