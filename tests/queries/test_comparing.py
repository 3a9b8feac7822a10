"""Comparisons of queries: what each relation says, and that it holds for random queries and their mutants."""

from random import Random

import pytest

from provenn.errors import QueryError
from provenn.queries.comparing import compare_queries
from tests.queries.keyed_tables import KEYED, make_keyed_tables
from tests.queries.mutants import CHANGING, PRESERVING, make_mutant
from tests.queries.random_queries import Queries
from tests.queries.shops import make_shop, prove

RELATIONS = [
    ("SELECT id, age FROM customers", "SELECT id AS x, age AS y FROM customers", "equal"),
    ("SELECT id, age FROM customers", "SELECT id, city FROM customers", "other columns"),
    ("SELECT id, age FROM customers", "SELECT age, id FROM customers", "other columns"),
    ("SELECT id, age FROM customers", "SELECT id FROM customers", "other columns"),
    ("SELECT id FROM customers", "SELECT id FROM customers WHERE age > 20", "narrowed"),
    ("SELECT id FROM customers WHERE age > 20", "SELECT id FROM customers WHERE age > 19", "widened"),
    ("SELECT id FROM customers WHERE age > 20", "SELECT id FROM customers WHERE age < 20", "disjoint"),
    ("SELECT id FROM customers", "SELECT id FROM orders", "different populations"),
    ("SELECT id FROM customers WHERE age > 20", "SELECT id FROM customers WHERE city = 'Oslo'", "unknown"),
    ("SELECT id FROM customers LIMIT 3", "SELECT id FROM customers LIMIT 3", "equal"),
    ("SELECT id FROM customers LIMIT 3", "SELECT id FROM customers LIMIT 4", "other limits"),
    ("SELECT id FROM customers LIMIT 3", "SELECT id FROM customers", "other limits"),
    ("SELECT id FROM customers LIMIT 3", "SELECT id FROM customers LIMIT 3 OFFSET 1", "other limits"),
    (
        "SELECT id FROM customers ORDER BY id LIMIT 3",
        "SELECT id FROM customers ORDER BY id DESC LIMIT 3",
        "other limits",
    ),
    ("SELECT id FROM customers LIMIT 3", "SELECT id FROM customers WHERE age > 20 LIMIT 3", "unknown"),
    ("SELECT id FROM customers ORDER BY id", "SELECT id FROM customers ORDER BY age", "equal"),
    ("SELECT id, age FROM customers WHERE age = 20", "SELECT id, 20L FROM customers WHERE age = 20", "equal"),
    ("SELECT id, age FROM customers WHERE age = 20", "SELECT id, 20 FROM customers WHERE age = 20", "other columns"),
    ("SELECT id, age FROM customers", "SELECT id, coalesce(age, 0) FROM customers", "other columns"),
]
ROUNDS = [*range(3), *(pytest.param(seed, marks=pytest.mark.campaign) for seed in range(3, 150))]


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    return make_shop(tmp_path_factory.mktemp("shop"))


@pytest.mark.parametrize(("first", "second", "relation"), RELATIONS)
def test_a_comparison_says_the_most_that_is_proved(first, second, relation, shop):
    comparison = compare_queries(shop.translate(first), shop.translate(second), prove)
    assert comparison.relation == relation
    assert comparison.is_equal == (relation == "equal") == (not comparison.reason)


@pytest.mark.parametrize("seed", ROUNDS)
def test_what_is_proved_of_random_queries_and_their_mutants_holds(seed, tmp_path):
    random = Random(seed)
    tables = make_keyed_tables(random, tmp_path)
    proved = 0
    for _ in range(25):
        text = Queries(random, KEYED).make_query(random.choice((0, 1, 1, 2)))
        kind = random.choice([*PRESERVING, *CHANGING])
        try:
            mutant = make_mutant(text, kind, random)
            if mutant is None:
                continue
            first, second = tables.translate(text), tables.translate(mutant.text)
        except QueryError:
            continue
        relation = compare_queries(first, second, prove).relation
        proved += relation not in ("unknown", "different populations")
        pair = (kind, text, mutant.text)
        if relation == "equal":
            assert tables.compute(first) == tables.compute(second), pair
        elif relation != "different populations":
            keys, other_keys = tables.find_keys(first.catalog), tables.find_keys(second.catalog)
            assert relation != "narrowed" or other_keys <= keys, pair
            assert relation != "widened" or keys <= other_keys, pair
            assert relation != "disjoint" or not keys & other_keys, pair
    assert proved
