"""The choice of the engine that reads data: a look without Spark where it gives the same answer, or Spark."""

from __future__ import annotations

import os
from typing import Literal

from provenn.errors import TargetError, did_you_mean

__all__ = ["ENGINES", "EngineChoice", "choose_engine"]

EngineChoice = Literal["auto", "look", "spark"]
"""Who reads: the quicker of a look and Spark; a look or nobody; or Spark in any case."""

ENGINES: tuple[EngineChoice, ...] = ("auto", "look", "spark")


_VARIABLE = "PROVENN_ENGINE"


def choose_engine(engine: object) -> EngineChoice:
    """Return who reads, if a caller has chosen an engine; ``PROVENN_ENGINE=spark`` forces Spark for all calls.

    A call that asks for a look alone never starts Spark, whatever the environment says.

    Raises
    ------
    TargetError
        If there is no such choice.
    """
    named = (engine, os.environ.get(_VARIABLE) or "auto")
    for name in named:
        if name not in ENGINES:
            hint = did_you_mean(str(name), ENGINES) or f"one of {', '.join(ENGINES)}"
            raise TargetError(f"there is no engine {name!r}", hint=hint)
    if engine == "look":
        return "look"
    return next((choice for choice in ("spark", "look") if choice in named), "auto")
