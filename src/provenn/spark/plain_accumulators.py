"""Accumulator updates, sent from workers to the driver beside data: only plain values, never code.

pyspark unpickles the updates in the driver, and a pickle can run any code. A calculator can do anything in a worker, so
a calculator could run code in the driver, beside the password of the database. So only plain values are read here.
"""

from __future__ import annotations

import logging
from typing import Any

from pyspark import accumulators
from pyspark.serializers import CloudPickleSerializer

__all__ = ["read_plain_accumulators"]

_NUMPY = tuple(
    (f"numpy.{package}.multiarray", name) for package in ("core", "_core") for name in ("scalar", "_reconstruct")
)
_PLAIN = (("builtins", "complex"), ("collections", "Counter"), ("numpy", "dtype"), ("numpy", "ndarray"), *_NUMPY)
_NO_UPDATE = (-1, None)  # the update of an accumulator that does not exist, which pyspark ignores


class _PlainValues(CloudPickleSerializer):
    """Reads updates of accumulators with plain values, and refuses all others."""

    def __init__(self) -> None:
        super().__init__(allowed_names=_PLAIN)  # type: ignore[no-untyped-call] # of pyspark

    def loads(self, obj: bytes, encoding: str = "bytes") -> Any:  # noqa: ANN401 - as pyspark
        """Return the number of an accumulator and its update; an update without effect if the bytes are no update."""
        try:
            number, update = super().loads(obj, encoding=encoding)  # type: ignore[no-untyped-call]
        except Exception as error:  # noqa: BLE001 - whatever a worker sends
            logging.getLogger("provenn").warning("the value of an accumulator was refused: %s", error)
            return _NO_UPDATE
        return (number, update) if isinstance(number, int) else _NO_UPDATE


def read_plain_accumulators() -> None:
    """Let pyspark read only plain values from workers from now on."""
    accumulators.pickleSer = _PlainValues()  # type: ignore[assignment] # pyspark may use another class
