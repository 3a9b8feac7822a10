"""The running time of calculators, measured in the workers of Spark, without the time that Spark needs to start."""

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
"""The start of the first call and the end of the last call, in seconds since 1970."""

_NEVER: Span = (inf, -inf)


class _SpanUnion(AccumulatorParam[Span]):
    """Unites the spans of all workers."""

    def zero(self, value: Span) -> Span:  # noqa: ARG002 - as pyspark requires
        """Return the span of a worker that has not called a calculator."""
        return _NEVER

    def addInPlace(self, value1: Span, value2: Span) -> Span:  # noqa: N802 - as pyspark calls it
        """Return the span from the first start to the last end; a value of a worker that is no span is ignored."""
        if not _is_span(value2):
            return value1
        return min(value1[0], value2[0]), max(value1[1], value2[1])


def _is_span(value: object) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and all(isinstance(moment, float) for moment in value)


class Stopwatch:
    """Measures the span in which calculators run, in all workers together.

    Workers behind Spark Connect cannot report times, so nothing is measured there.

    Parameters
    ----------
    engine
        The engine that runs the calculators.
    """

    def __init__(self, engine: Engine) -> None:
        self._span: Accumulator[Span] | None = None
        if not engine.is_remote:
            self._span = engine.session.sparkContext.accumulator(_NEVER, _SpanUnion())

    @contextmanager
    def measure_call(self) -> Iterator[None]:
        """Measure the body, which calls a calculator in a worker."""
        start = time.time()
        yield
        if self._span is not None:
            self._span.add((start, time.time()))

    @property
    def seconds(self) -> float | None:
        """The seconds from the start of the first call to the end of the last call; None if none was measured."""
        start, end = _NEVER if self._span is None else self._span.value
        return end - start if end >= start else None
