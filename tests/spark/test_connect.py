"""Spark Connect: a server in a process of its own, and no Java in ours."""

import pytest

from tests.spark.connect_server import connect_server
from tests.spark.elsewhere import run_core


def test_the_core_runs_through_spark_connect(tmp_path):
    with connect_server(tmp_path) as url:
        run_core(url, "tests/spark/on_connect.py")


@pytest.mark.campaign
def test_all_catalogs_are_computed_through_spark_connect(tmp_path):
    with connect_server(tmp_path) as url:
        run_core(url, whole=True)
