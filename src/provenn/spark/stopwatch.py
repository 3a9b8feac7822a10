"""How long calculators run: measured where they do, in the workers of Spark, without what Spark takes to begin."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from typing import TYPE_CHECKING

from pyspark.accumulators import Accumulator, AccumulatorParam

if TYPE_CHECKING:
    from provenn.spark.engine import Engine

__all__ = ["Stopwatch"]

Span = tuple[float, float]
"""When the first call began, and when the last one ended, in seconds since 1970."""

_NEVER: Span = (inf, -inf)


class _Together(AccumulatorParam[Span]):
    """Brings together the spans of several workers."""

    def zero(self, value: Span) -> Span:  # noqa: ARG002 - as pyspark asks
        """Return the span of a worker that has not begun."""
        return _NEVER

    def addInPlace(self, value1: Span, value2: Span) -> Span:  # noqa: N802 - as pyspark calls it
        """Return the span from the first beginning to the last end."""
        return min(value1[0], value2[0]), max(value1[1], value2[1])


class Stopwatch:
    """Measures from when to when calculators run, in all workers together.

    Over Spark Connect no worker can tell; then nothing is measured.

    Parameters
    ----------
    engine
        Where they run.
    """

    def __init__(self, engine: Engine) -> None:
        self._span: Accumulator[Span] | None = None
        if not engine.remote:
            self._span = engine.session.sparkContext.accumulator(_NEVER, _Together())

    @contextmanager
    def running(self) -> Iterator[None]:
        """Measure the body, which is a call of a calculator, in a worker."""
        began = time.time()
        yield
        if self._span is not None:
            self._span.add((began, time.time()))

    @property
    def seconds(self) -> float | None:
        """The seconds from the first call to the end of the last one; None if none was measured."""
        began, ended = _NEVER if self._span is None else self._span.value
        return ended - began if ended >= began else None
