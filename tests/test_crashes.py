"""kill -9 at any point: what was acknowledged is there, nothing half is seen, nothing is left for ever."""

import pytest

from tests.crashes import WORKS, Tried, tried, tried_together

QUICK = [name for name, work in WORKS.items() if not work.spark]
SLOW = [name for name, work in WORKS.items() if work.spark]
CHOSEN = ["spark write"]
"""Work with Spark that `make test` kills: of storing, `tests/spark/test_fragments.py` kills every step."""


@pytest.fixture(scope="module")
def crashes() -> dict[str, Tried]:
    """Two points of each quick piece of work: before a line of code, and from outside at any time."""
    return tried_together(QUICK, 2)


@pytest.mark.parametrize("name", QUICK)
def test_a_process_killed_at_some_points_loses_nothing_and_leaves_nothing(crashes, name):
    assert crashes[name].killed > 0
    assert crashes[name].lines > 100


@pytest.fixture(scope="module")
def crashes_with_spark() -> dict[str, Tried]:
    """A point of each piece of work with Spark; what is not killed is done with the Spark of this process."""
    return {name: tried(name, 1, seed=5) for name in CHOSEN}


@pytest.mark.parametrize("name", CHOSEN)
def test_a_process_with_spark_killed_at_a_point_loses_nothing_and_leaves_nothing(crashes_with_spark, name):
    assert crashes_with_spark[name].killed == 1


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", QUICK)
def test_a_process_killed_at_many_points_loses_nothing_and_leaves_nothing(name, seed):
    assert tried(name, 60, seed).killed > 30


@pytest.mark.campaign
@pytest.mark.parametrize("name", SLOW)
def test_a_process_with_spark_killed_at_more_points_loses_nothing_and_leaves_nothing(name):
    assert tried(name, 20).killed == 20
