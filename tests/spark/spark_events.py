"""Waiting for what Spark tells of its jobs, a little later than it answers."""

from provenn.spark.engine import Engine
from tests.waiting import LIMIT

__all__ = ["wait_for_events"]


def wait_for_events(engine: Engine) -> None:
    """Wait until Spark has told of all that has happened; behind Spark Connect, it does so before it answers."""
    if not engine.is_remote:
        engine.session.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(int(LIMIT * 1000))
