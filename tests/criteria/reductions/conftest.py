"""The Spark of the tests, for rules that Spark's own arithmetic must confirm."""

from tests.spark.conftest import engine  # noqa: F401 - a fixture
