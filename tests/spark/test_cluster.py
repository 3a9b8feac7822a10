"""A real cluster: a master and two workers, as processes of their own."""

import pytest

from tests.spark.cluster import cluster
from tests.spark.elsewhere import WORKERS, run_core


def test_the_core_runs_on_a_cluster_also_when_a_worker_is_killed(tmp_path):
    with cluster(tmp_path) as running:
        lost = {"PROVENN_TEST_WORKER": str(running.workers[0])}
        run_core(running.url, "tests/spark/lost_worker.py", core=WORKERS, **lost)


@pytest.mark.campaign
def test_all_catalogs_are_computed_on_a_cluster(tmp_path):
    with cluster(tmp_path) as running:
        run_core(running.url, whole=True)
