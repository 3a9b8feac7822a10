"""A few rows of the benchmark of references: all ways agree."""

import pytest

from benchmarks.references import REQUESTS, Survey, measure_request

SOME = ("lookup", "group, collect")
"""Requests that are tried outside of campaigns, too: in one direction of a reference, and in the other."""


@pytest.fixture(scope="module")
def survey(engine, tmp_path_factory):
    made = Survey(engine.session, tmp_path_factory.mktemp("survey") / "tables", 3_000, 200)
    yield made
    made.archive.close()


@pytest.mark.parametrize(
    "name",
    # The benchmark itself compares the ways, and `tests/targets` proves what each request is named for.
    [name if name in SOME else pytest.param(name, marks=pytest.mark.campaign) for name in REQUESTS],
)
def test_all_ways_agree(survey, name):
    cost = measure_request(REQUESTS[name](survey), 1)
    assert cost.provenn >= cost.planning > 0
    assert cost.best in cost.by_hand
