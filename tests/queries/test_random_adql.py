"""Random queries in ADQL have the rows that DuckDB finds for the same queries, written beside them."""

from random import Random

import pytest

from tests.queries.adql_world import make_adql_world
from tests.queries.random_adql import RandomAdql

QUERIES = 80
ROUNDS = [*range(5), *(pytest.param(seed, marks=pytest.mark.campaign) for seed in range(5, 60))]


@pytest.mark.parametrize("seed", ROUNDS)
def test_random_queries_have_the_rows_of_the_reference(seed, tmp_path):
    world = make_adql_world(tmp_path, seed, has_units=False)
    queries = RandomAdql(Random(seed))
    rows = 0
    for _ in range(QUERIES):
        pair = queries.make_pair()
        rows += world.check(pair.adql, pair.reference, is_ordered=pair.is_ordered)
    assert rows > 5 * QUERIES
