"""The shared Spark for tests of queries."""

from tests.spark.conftest import engine

__all__ = ["engine"]
