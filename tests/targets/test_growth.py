"""Versions of files that share files: answers are right, and nothing that is stored is computed again."""

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.targets.grown_skies import random_growth
from tests.targets.test_histories import KEEP, History


@pytest.mark.parametrize(
    "examples", [pytest.param(200, id="quick"), pytest.param(10000, id="campaign", marks=pytest.mark.campaign)]
)
def test_refreshed_results_are_those_from_scratch_and_no_source_is_calculated_twice(examples):
    """Random changes of files and criteria, the same catalogs on each version, and what was kept of some of them.

    At each moment some catalogs are asked for, and some as they were before: `NAME@1` answers as it did.
    """

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.randoms(use_true_random=True))
    def check_one(rng):
        check_growth(rng)

    check_one()


def check_growth(rng: Random) -> None:
    growth = random_growth(rng)
    history, earlier = History(growth.sky), []
    for tables in growth.moments:
        for table in [
            *rng.sample(tables, rng.randint(0, min(4, len(tables)))),
            *rng.sample(earlier, min(len(earlier), rng.randint(0, 1))),
        ]:
            history.ask(table.catalog, table.rows, rng.choice(KEEP))
        earlier += tables
