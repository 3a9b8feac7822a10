"""TPC-H as queries: the catalogs that they mean have their rows, and what is proved of their mutants holds."""

from collections import Counter
from math import isclose
from random import Random

import pytest

from provenn.errors import QueryError
from provenn.queries.comparing import compare_queries
from tests.queries.mutants import CHANGING, PRESERVING, make_mutant, strip_request
from tests.queries.shops import prove
from tests.queries.tpch_world import QUERIES, make_tpch_world

OPAQUE = {"q11", "q19", "q21"}
"""Queries with parts that are not understood; the remarks say which."""

UNDERSTOOD = {name: strip_request(text) for name, text in QUERIES.items() if name not in OPAQUE}
LEAST_PROVED = 0.9
"""How many of the mutants that mean the same, of queries that are understood, are proved equal."""


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return make_tpch_world(tmp_path_factory.mktemp("tpch"))


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_of_tpch_means_the_catalog_with_its_rows(name, world):
    translation = world.translate(QUERIES[name])
    assert bool(translation.remarks) == (name in OPAQUE)
    assert_same_rows(world.compute(translation), world.run(strip_request(QUERIES[name])))


def assert_same_rows(rows, wanted):
    """Make sure that two bags of rows are the same; Spark rounds the average of decimals to four more digits."""
    left = list(wanted.elements())
    for row in rows.elements():
        same = [other for other in left if all(map(is_same_value, row, other))]
        assert same, row
        left.remove(same[0])
    assert not left


def is_same_value(value, other):
    if isinstance(value, float) and isinstance(other, float):
        return isclose(value, other, rel_tol=1e-9, abs_tol=1e-5)
    return value == other


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.campaign) for seed in range(1, 30))])
def test_what_is_proved_of_mutants_of_tpch_holds(seed, world):
    """About 120 mutants in each round; a wrong claim is an error, a missing proof of most equal ones as well."""
    random = Random(seed)
    equal, preserved = 0, 0
    for kind in (*PRESERVING, *CHANGING):
        for name in random.sample(list(QUERIES), 12):
            text = strip_request(QUERIES[name])
            mutant = make_mutant(text, kind, random)
            if mutant is None:
                continue
            relation = check_mutant(text, mutant.text, world)
            if relation is not None and mutant.keeps_meaning and name not in OPAQUE:
                preserved += 1
                equal += relation == "equal"
    assert equal >= LEAST_PROVED * preserved > 0


def check_mutant(text, other_text, world):
    """Return what is proved of two queries, and check it with the rows that DuckDB finds; None for a bad query."""
    first = world.translate(text)
    try:
        second = world.translate(other_text)
    except QueryError:
        return None
    comparison = compare_queries(first, second, prove)
    rows, other_rows = world.run(text), world.run(other_text)
    if comparison.relation == "equal":
        assert rows == other_rows, (text, other_text)
    elif comparison.relation == "other columns":
        assert rows.total() == other_rows.total(), (text, other_text)
    elif comparison.relation in ("narrowed", "widened", "disjoint"):
        keys, other_keys = world.find_keys(first.catalog), world.find_keys(second.catalog)
        holds = {
            "narrowed": other_keys <= keys,
            "widened": keys <= other_keys,
            "disjoint": not keys & other_keys,
        }
        assert holds[comparison.relation], (comparison, text, other_text)
    return comparison.relation


def count_mutants(world, seeds):
    """Return how often each relation is proved, by the kind of mutation and whether the query is understood."""
    counts = Counter()
    for seed in seeds:
        random = Random(seed)
        for kind in (*PRESERVING, *CHANGING):
            for name in random.sample(list(QUERIES), 12):
                text = strip_request(QUERIES[name])
                mutant = make_mutant(text, kind, random)
                if mutant is not None:
                    relation = check_mutant(text, mutant.text, world)
                    counts[(kind, "opaque" if name in OPAQUE else "understood", relation)] += 1
    return counts
