"""One embedded Spark for all tests of a pytest process."""

from collections.abc import Iterator

import pytest

from provenn.spark.engine import Engine


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """An engine on two cores of this machine."""
    one = Engine("local[2]", brief=True)
    yield one
    one.close()
