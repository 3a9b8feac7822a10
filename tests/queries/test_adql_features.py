"""Each feature of ADQL gives the rows that DuckDB finds for the same query in its own words."""

from pathlib import Path

import pytest

from tests.queries.adql_features import FEATURES, write_table
from tests.queries.adql_world import make_adql_world

COMPUTED = [feature for feature in FEATURES if not feature.needs_spark]
REFERENCE = Path(__file__).parents[2] / "docs/reference/adql.md"
BEGIN, END = "<!-- features: tests/queries/adql_features.py -->\n\n", "\n<!-- end of features -->"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return make_adql_world(tmp_path_factory.mktemp("sky"), seed=3)


@pytest.mark.parametrize("feature", COMPUTED, ids=[feature.name for feature in COMPUTED])
def test_each_feature_has_the_rows_of_the_reference(world, feature):
    assert world.check(feature.query, feature.reference, is_ordered=feature.is_ordered) > 0


def test_the_reference_lists_the_queries_that_are_tested():
    listed = REFERENCE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    assert listed == write_table(), "write the table anew: python -m tests.queries.adql_features"
