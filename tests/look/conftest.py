"""The Spark with which a look is compared."""

from tests.spark.conftest import engine

__all__ = ["engine"]
