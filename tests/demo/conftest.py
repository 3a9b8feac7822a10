"""One Spark for the stories."""

from tests.spark.conftest import engine

__all__ = ["engine"]
