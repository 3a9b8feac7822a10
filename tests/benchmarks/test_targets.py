"""The scenarios of the benchmark of targets: three ways that agree, and provenn does what the scenario is named for."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from benchmarks.scenarios import SCENARIOS, Sky, write_tables
from benchmarks.targets import agree
from provenn.spark.engine import Engine

REUSED = {"reuse whole": 0, "reuse part": 1, "narrower criterion than stored": 0, "reordered criteria": 0}
"""How many calculations are left where something is stored."""

SOME = ("reuse part", "empty by proof", "two users asking overlapping targets")
"""Scenarios that are tried outside of campaigns, too: of what is stored, what is proved, and of several people."""


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    write_tables(folder, 2000)
    return folder


@pytest.fixture
def sky(engine: Engine, tables: Path, tmp_path: Path) -> Iterator[Sky]:
    item = Sky(tables, tmp_path, engine.session)
    with item.archive:
        yield item


@pytest.mark.parametrize(
    "name",
    # The benchmark itself compares the ways, and `tests/targets` proves what each scenario is named for.
    [name if name in SOME else pytest.param(name, marks=pytest.mark.campaign) for name in SCENARIOS],
)
def test_three_ways_agree_and_nothing_is_computed_that_is_stored(sky, name):
    methods = SCENARIOS[name](sky)
    plan = next(iter(methods.asked())).plan()
    if name in REUSED:
        assert plan.fragments
        assert len(plan.calculations) == REUSED[name]
    tracker = sky.session.sparkContext.statusTracker()
    before = len(tracker.getJobIdsForGroup())
    result = methods.provenn()
    jobs = len(tracker.getJobIdsForGroup()) - before
    assert (jobs == 0) == plan.empty == (name == "empty by proof")
    assert plan.empty or all(table.num_rows for table in result)
    assert agree(result, methods.plainly()(), list(methods.by_hand()))


def test_answers_agree_only_if_columns_rows_and_values_do():
    item = pa.table({"id": [1, 2], "x": [0.5, None]})
    assert agree([item], [item.take([1, 0])])
    assert not agree([item], [pa.table({"id": [1, 2], "x": [0.6, None]})])
    assert not agree([item], [item.slice(1)])
    assert not agree([item], [item.rename_columns(["id", "y"])])
    assert not agree([item], [])
