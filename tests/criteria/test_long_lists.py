"""Long lists of values: as cheap as they are long, one set each, and compared exactly with all else."""

import sys
from collections.abc import Callable
from itertools import combinations, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provenn.catalogs.extent import Extent, build_extent, everything, leaf, nothing
from provenn.catalogs.selection import Selection
from provenn.criteria import Attribute, abridged, atoms, listed, order_facts, parse_criterion, parse_type, render
from provenn.criteria.domains import Domain
from provenn.criteria.ranges import Ranges, build_comparison_ranges, build_point_ranges
from provenn.errors import CriterionError
from provenn.logic import Knowledge, disjoint, subset
from provenn.logic.terms import Term
from tests.criteria.proofs import SCHEMA, criterion, knowledge
from tests.strategies import terms

NAMES = {attribute.identity: name for name, attribute in SCHEMA.items()}
FORMS: dict[str, Callable[[int], str]] = {
    "in": lambda n: f"hip IN ({', '.join(str(3 * i) for i in range(n))})",
    "in doubles": lambda n: f"vmag IN ({', '.join(f'{3 * i}.5' for i in range(n))})",
    "in floats": lambda n: f"plx IN ({', '.join(f'{3 * i}.5' for i in range(n))})",
    "in strings": lambda n: "name IN ({})".format(", ".join(f"'HD {3 * i}'" for i in range(n))),
    "in with NULL": lambda n: f"n_obs IN (NULL, {', '.join(str(3 * i) for i in range(n))})",
    "not in": lambda n: f"n_obs NOT IN ({', '.join(str(3 * i) for i in range(n))})",
    "or": lambda n: " OR ".join(f"hip = {3 * i}" for i in range(n)),
    "and": lambda n: " AND ".join(f"hip <> {3 * i}" for i in range(n)),
    "between": lambda n: " OR ".join(f"hip BETWEEN {9 * i} AND {9 * i + 3}" for i in range(n)),
    "pairs": lambda n: " OR ".join(f"hip = {i} AND vmag < {i}" for i in range(n)),
    "one factor": lambda n: " OR ".join(f"dec < 0 AND vmag = {i}" for i in range(n)),
}


def calls(work: Callable[[], object]) -> int:
    """Count the calls of functions that some work takes."""
    count = 0

    def counted(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def taken(text: str) -> None:
    """Do all that is done with a criterion without reading data."""
    read = parse_criterion(text, SCHEMA)
    order_facts(read.atoms)
    render(read, NAMES)
    build_extent(read.true, leaf)
    Selection.from_json(Selection(read.canonical, read.true, read.atoms).to_json())


@pytest.mark.parametrize("length", [150, pytest.param(300, marks=pytest.mark.campaign)])
@pytest.mark.parametrize("form", FORMS)
def test_twice_as_many_values_take_twice_the_work(form, length):
    taken(FORMS[form](10))
    once, twice = (calls(lambda number=number: taken(FORMS[form](number))) for number in (length, 2 * length))
    assert twice < 2.3 * once


def test_a_long_list_is_one_set_and_its_complement_is_what_is_left():
    first, other = criterion(FORMS["not in"](1000)), criterion(f"NOT ({FORMS['not in'](1000)})")
    assert len(first.atoms) == 2  # the list, and where there is a value
    assert first.true == other.false
    assert first.atoms == other.atoms


def test_two_long_lists_are_compared_in_few_facts():
    many = criterion(f"n_obs IN ({', '.join(str(3 * i) for i in range(3000))})")
    some = criterion(f"n_obs IN ({', '.join(str(6 * i) for i in range(1500))})")
    others = criterion(f"n_obs IN ({', '.join(str(6 * i + 1) for i in range(1500))})")
    known = knowledge(many, some, others)
    assert len(known.facts) < 12
    assert known.entails(subset(some.true, many.true))
    assert known.entails(disjoint(others.true, many.true))
    assert not known.entails(subset(many.true, some.true))
    assert len(known.explain(disjoint(others.true, some.true)).facts) <= 2


def test_lists_that_were_split_into_cuts_are_the_same_sets(monkeypatch):
    """Archives hold long lists of which each value is a set of its own."""
    text = f"n_obs IN ({', '.join(str(3 * i) for i in range(300))})"
    new = criterion(text)
    monkeypatch.setattr(atoms, "LONGEST_SPLIT", sys.maxsize)
    old = criterion(text)
    assert len(old.atoms) > len(new.atoms)
    known = knowledge(old, new)
    assert known.entails(subset(old.true, new.true))
    assert known.entails(subset(new.true, old.true))


# --- every relation of small lists, by looking at all values ---

VALUES = range(-128, 128)


@st.composite
def small_criteria(draw: st.DrawFn) -> tuple[str, frozenset[int]]:
    """A criterion on a tinyint, and the values for which it is TRUE."""
    match draw(st.sampled_from(["in", "not in", "cut", "joined"])):
        case "in" | "not in" as form:
            values = draw(st.sets(st.integers(-2, 6), min_size=1))
            text = f"n {form.upper()} ({', '.join(map(str, values))})"
            return text, frozenset(values if form == "in" else set(VALUES) - values)
        case "cut":
            value = draw(st.integers(-128, 8))
            return f"n < {value}", frozenset(element for element in VALUES if element < value)
        case _:
            (item, first), (other, second) = draw(small_criteria()), draw(small_criteria())
            if draw(st.booleans()):
                return f"({item}) AND ({other})", first & second
            return f"({item}) OR ({other})", first | second


def check_small(drawn: list[tuple[str, frozenset[int]]], *, nullable: bool, complete: bool) -> None:
    schema = {"n": Attribute("t.n", parse_type("tinyint"), nullable)}
    read = [parse_criterion(text, schema) for text, _ in drawn]
    known = Knowledge(order_facts([atom for parsed in read for atom in parsed.atoms]), open_universe=False)
    values = [chosen for _, chosen in drawn]
    for number, other in permutations(range(len(drawn)), 2):
        assert known.entails(subset(read[number].true, read[other].true)) == (values[number] <= values[other])
        assert known.entails(disjoint(read[number].true, read[other].true)) == values[number].isdisjoint(values[other])
    for item, other, third in combinations(range(len(drawn)), 3):
        result = known.entails(subset(read[item].true, read[other].true | read[third].true))
        truth = values[item] <= values[other] | values[third]
        assert result == truth or (not result and not complete)


@pytest.mark.parametrize("split", [0, 2])
@given(drawn=st.lists(small_criteria(), min_size=2, max_size=4), nullable=st.booleans())
@settings(max_examples=80, deadline=None)
def test_what_follows_of_lists_is_what_their_values_say(split, drawn, nullable):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(atoms, "LONGEST_SPLIT", split)
        check_small(drawn, nullable=nullable, complete=True)


@given(
    drawn=st.lists(small_criteria().filter(lambda item: "(n" not in item[0]), min_size=2, max_size=4),
    nullable=st.booleans(),
)
@settings(max_examples=100, deadline=None)
def test_of_very_many_lists_each_two_are_compared_exactly_and_nothing_else_is_claimed(drawn, nullable):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(atoms, "LONGEST_SPLIT", 0)
        patch.setattr(listed, "_MOST_PLACES", 0)
        check_small(drawn, nullable=nullable, complete=False)


@given(st.lists(st.integers(-5, 5)), st.integers(-5, 0), st.integers(1, 5))
def test_a_set_of_values_is_the_union_of_each(keys, lowest, highest):
    within = Domain(lowest, highest)
    keys = [key for key in keys if lowest <= key <= highest]
    point_ranges = build_point_ranges(keys, within)
    assert point_ranges == Ranges.union(
        build_comparison_ranges("<=", key, within) & build_comparison_ranges(">=", key, within) for key in keys
    )
    assert {key for key in range(lowest, highest + 1) if key in point_ranges} == set(keys)


# --- extents ---


def pairwise(term: Term) -> Extent:
    return term.evaluate(leaf, nothing, everything)


@given(terms("ABCDE", leaves=12))
@settings(max_examples=200, deadline=None)
def test_extents_of_short_chains_have_the_digests_they_always_had(term):
    assert build_extent(term, leaf) == pairwise(term)


@given(st.sets(st.integers(0, 2000), min_size=210, max_size=300), st.booleans())
@settings(max_examples=10, deadline=None)
def test_extents_of_long_chains_of_intervals_have_the_digests_they_always_had(ends, nullable):
    edges = sorted(ends)
    parts = [Term((f"x < {high}",)) - Term((f"x < {low}",)) for low, high in zip(edges[::2], edges[1::2], strict=False)]
    whole = ~Term(("x IS NOT NULL",)) if nullable else parts[0]
    for part in parts:
        whole |= part
    assert build_extent(whole, leaf) == pairwise(whole)


# --- texts ---


def test_what_can_be_read_can_be_read_again(monkeypatch):
    """The canonical text is longer than what was written: identities for names, types behind numbers."""
    monkeypatch.setattr("provenn.criteria.syntax.LONGEST", 100)
    text = f"vmag IN ({','.join(map(str, range(10)))})"
    assert len(text) < 50
    assert len(criterion("vmag IN (1, 2)").canonical) < 100
    with pytest.raises(CriterionError, match="longer than 100 characters"):
        criterion(f"vmag IN ({','.join(map(str, range(20)))})")


def test_long_lists_are_abridged_for_people_and_told_apart():
    texts = [abridged(FORMS["in strings"](number)) for number in (1000, 1001)]
    assert texts[0].startswith("name IN ('HD 0', 'HD 3', 'HD 6', … 997 more, ")
    assert texts[0] != texts[1]
    odd = "x IN ('a), (', 'it\\'s, so', " + ", ".join(["CAST('NaN' AS DOUBLE)"] * 30) + ") AND y < 5"
    assert abridged(odd).startswith("x IN ('a), (', 'it\\'s, so', CAST('NaN' AS DOUBLE), … 29 more, ")
    assert abridged(odd).endswith(") AND y < 5")
    assert len(abridged(FORMS["or"](1000))) < 1100
