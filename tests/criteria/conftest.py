"""Fixtures for criteria: the engine that evaluates them."""

from tests.spark.conftest import engine

__all__ = ["engine"]
