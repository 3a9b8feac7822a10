"""Ingesting Parquet and verifying its key, against reading the same files with Spark by hand.

``python -m benchmarks.spark_ingest [MILLIONS]``. Both run in one process, in turns, so that the ratio means something
on a busy machine: the median of the ratios of neighbours.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from benchmarks.measure import Minimum, show, show_load, shown
from provenn.catalogs import Base, Files
from provenn.files.data_folder import DataFolder
from provenn.spark.engine import Engine
from provenn.spark.keys import verify_key

__all__ = ["main"]

_RUNS = 5
_FILES = 4
_PROMISED = {"row number, shuffled": 1.5, "row number": 1.5, "random 64 bits": 6}
"""Keys, and how much longer than reading all columns it may take to ingest the files and to verify them."""


def main(millions: float = 10) -> int:
    """Measure; say whether verifying is limited by reading."""
    rows = int(millions * 1e6)
    with TemporaryDirectory() as folder:
        place = Path(folder)
        size = _written(place / "sky", rows)
        engine = Engine()
        try:
            figures = [(key, *_measured(engine, place, key, rows)) for key in _PROMISED]
        finally:
            engine.close()
    show_load()
    show(
        f"{rows:,} rows, {_FILES} files, {shown(size / 1e6)} MB; seconds",
        ["key", "read all columns", "read the key", "ingest and verify", "rows/s verified", "verify : read all"],
        [
            (key, shown(every), shown(alone), shown(verified), shown(rows / verified), f"{shown(ratio)} x")
            for key, every, alone, verified, ratio in figures
        ],
    )
    promised = [Minimum(f"{key}: verify : read all", ratio, _PROMISED[key], at_most=True) for key, *_, ratio in figures]
    show("promised", ["what", "figure", "bound", ""], [one.row() for one in promised])
    return 0 if all(one.reached for one in promised) else 1


def _written(place: Path, rows: int) -> int:
    """Write a catalog with three keys and ten attributes; return its bytes."""
    place.mkdir()
    draw = np.random.default_rng(1)
    shuffled = draw.permutation(rows)
    for number, part in enumerate(np.array_split(np.arange(rows), _FILES)):
        columns: dict[str, Any] = {
            "row number": part,
            "row number, shuffled": shuffled[part],
            "random 64 bits": draw.integers(0, 2**62, len(part)),
        }
        columns |= {f"x{place}": draw.normal(size=len(part)) for place in range(10)}
        parquet.write_table(pa.table(columns), place / f"{number}.parquet", row_group_size=1 << 20)
    return sum(one.stat().st_size for one in place.iterdir())


def _measured(engine: Engine, place: Path, key: str, rows: int) -> tuple[float, float, float, float]:
    read = engine.session.read

    def every() -> None:
        read.parquet(f"file://{place}/sky").write.format("noop").mode("overwrite").save()

    def alone() -> None:
        read.parquet(f"file://{place}/sky").select(f"`{key}`").write.format("noop").mode("overwrite").save()

    def verified() -> None:
        base = Base.of(Files.at(place / "sky"), key=key, population=key)
        assert verify_key(engine, base, DataFolder.of(place / "data")) == rows

    times = [[_seconds(work) for work in (every, alone, verified)] for _ in range(_RUNS + 1)][1:]  # the first warms up
    ratio = median(one[2] / one[0] for one in times)
    return (*(min(column) for column in zip(*times, strict=True)), ratio)


def _seconds(work: Callable[[], None]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


if __name__ == "__main__":
    sys.exit(main(*map(float, sys.argv[1:])))
