"""One Spark for all tests of a pytest process: embedded, or where PROVENN_TEST_SPARK says (see `elsewhere`)."""

import os
from collections.abc import Iterator

import pytest

from provenn.spark.engine import Engine


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """An engine on two cores of this machine, quick to start."""
    with Engine(os.environ.get("PROVENN_TEST_SPARK", "local[2]"), brief=True) as one:
        one.session.conf.set("spark.sql.shuffle.partitions", "4")  # a cluster begins with 200
        yield one
