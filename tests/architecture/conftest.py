"""The Spark of all tests of a pytest process."""

from tests.spark.conftest import engine

__all__ = ["engine"]
