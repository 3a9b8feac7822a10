"""No test uses a warm Spark of whoever runs the tests, and the tests leave none behind."""

import os

import pytest

from provenn.spark.warm.asking import is_switched_off


@pytest.mark.skipif(os.environ.get("PROVENN_TEST_SPARK") == "warm", reason="these use the one of their test")
def test_tests_use_no_warm_spark():
    """The configuration of all tests switches it off, and every command that tests start inherits that."""
    assert is_switched_off()
    assert os.environ["PROVENN_WARM"] == "off"
