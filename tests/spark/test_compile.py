"""Compiled catalogs hold what their definitions say, as DuckDB computes it from the definitions alone."""

import pytest
from hypothesis import HealthCheck, given, settings

from provenn.spark.engine import Engine
from tests.spark.frames import comparable, computed, parquet_leaf
from tests.spark.lineages import World, worlds
from tests.spark.oracle import Oracle, spark_hash, xxh64


# --- random lineages ---


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("worlds")


def check(engine: Engine, world: World) -> None:
    """Compare the deepest catalogs with DuckDB's; those between are part of them."""
    oracle = Oracle(world.tables)
    chosen = world.catalogs[-3:]
    found = computed(chosen, parquet_leaf(engine.session))
    for one, rows in zip(chosen, found, strict=True):
        assert rows == comparable(oracle.table(one)), one


@pytest.mark.parametrize(
    "examples", [pytest.param(60, id="quick"), pytest.param(3000, id="campaign", marks=pytest.mark.campaign)]
)
def test_random_lineages_have_the_rows_and_values_that_duckdb_finds(engine, folder, examples):
    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(worlds(folder))
    def check_one(world):
        check(engine, world)

    check_one()
