"""Random queries: the catalog that a query means has its rows, and what is proved of two of them holds for the rows."""

from collections import defaultdict
from itertools import combinations
from random import Random

import duckdb
import pytest

from provenn.errors import QueryError
from provenn.logic import disjoint, empty, subset
from tests.queries.keyed_tables import KEYED, make_keyed_tables
from tests.queries.random_queries import Queries
from tests.queries.shops import collect_knowledge

ROUNDS = [*range(4), *(pytest.param(seed, marks=pytest.mark.campaign) for seed in range(4, 200))]


@pytest.mark.parametrize("seed", ROUNDS)
def test_random_queries_mean_the_catalogs_with_their_rows(seed, tmp_path):
    random = Random(seed)
    tables = make_keyed_tables(random, tmp_path)
    translations = []
    for number in range(30):
        text = Queries(random, KEYED).make_query(random.choice((0, 1, 1, 2)))
        try:
            translation = tables.translate(text)
            rows = tables.run(text)
        except (QueryError, duckdb.BinderException):  # DuckDB refuses aliases of expressions with subqueries
            continue
        assert tables.compute(translation) == rows, (number, text)
        translations.append((text, translation))
    assert len(translations) > 10
    by_population = defaultdict(list)
    for text, translation in translations:
        by_population[translation.catalog.population].append((text, translation.catalog))
    for queries in by_population.values():
        for (text, catalog), (other_text, other) in combinations(queries[:6], 2):
            known = collect_knowledge(catalog, other)
            keys, other_keys = tables.find_keys(catalog), tables.find_keys(other)
            pair = (text, other_text)
            assert not known.entails(empty(catalog.digest)) or not keys, pair
            assert not known.entails(subset(catalog.digest, other.digest)) or keys <= other_keys, pair
            assert not known.entails(subset(other.digest, catalog.digest)) or other_keys <= keys, pair
            assert not known.entails(disjoint(catalog.digest, other.digest)) or not keys & other_keys, pair
