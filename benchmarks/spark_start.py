"""Starting Spark: from nothing to the answer of a first query, with and without the class archive.

Run ``python -m benchmarks spark_start``. Every start is a fresh process, imports and Java included; the contenders take
turns, and the ratio is that of their medians, as both then saw the same machine.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

import pyspark

from benchmarks.measure import Minimum, patiently, show, show_load, shown
from provenn.spark.class_archive import choose_archive_stem, find_complete_archive
from provenn.spark.java import find_java
from provenn.spark.make_class_archive import make_archive

__all__ = ["main"]

TURNS = 5
RATIO = 1.3
"""How many times faster a start is with the class archive: promised."""


def _start(*, archive: bool, brief: bool) -> Callable[[], float]:
    """Return what starts an engine and counts to 1000; only pyspark itself is imported."""
    os.environ["PROVENN_CLASS_ARCHIVE"] = "" if archive else "off"

    def work() -> float:
        from provenn.spark.engine import Engine  # noqa: PLC0415 - counted

        start = perf_counter()
        counted = Engine("local[*]", brief=brief).session.range(1000).count()
        assert counted == 1000
        return perf_counter() - start

    return work


def _with_archive() -> Callable[[], float]:
    return _start(archive=True, brief=False)


def _without_archive() -> Callable[[], float]:
    return _start(archive=False, brief=False)


def _brief() -> Callable[[], float]:
    return _start(archive=True, brief=True)


def _by_hand() -> Callable[[], float]:
    """Return the same with pyspark alone, as its documentation has it."""
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "JAVA_HOME": str(find_java().home)}
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())  # it is chatty

    def work() -> float:
        from pyspark.sql import SparkSession  # noqa: PLC0415 - counted

        start = perf_counter()
        assert SparkSession.builder.getOrCreate().range(1000).count() == 1000
        return perf_counter() - start

    return work


def _make() -> Callable[[], bool]:
    stem = _stem()
    return lambda: make_archive(stem)


def _stem() -> Path:
    stem = choose_archive_stem(find_java(), Path(pyspark.__file__).parent)
    assert stem is not None, "there is a cache folder"
    return stem


def main() -> int:
    """Measure, print, and return 1 if a start with the archive is not as much faster as promised."""
    show_load()
    start = perf_counter()
    if find_complete_archive(_stem()) is None:
        patiently(_make)
        print(f"made the class archive in {shown(perf_counter() - start)} s")
    contenders = {
        "pyspark by hand": _by_hand,
        "provenn, without a class archive": _without_archive,
        "provenn, with it": _with_archive,
        "provenn, with it, compiled quickly": _brief,
    }
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(TURNS):
        for name, prepare in contenders.items():
            seconds[name].append(patiently(prepare))
    medians = {name: median(times) for name, times in seconds.items()}
    base = medians["provenn, without a class archive"]
    rows = [
        (name, shown(medians[name]), shown(min(times)), f"{base / medians[name]:.2f} x")
        for name, times in seconds.items()
    ]
    show("Starting Spark and answering a first query, seconds", ("start", "median", "best", "faster"), rows)
    promise = Minimum("start with the class archive", base / medians["provenn, with it"], RATIO)
    show("Promised", ("what", "figure", "bound", ""), [promise.row()])
    return 0 if promise.reached else 1


if __name__ == "__main__":
    sys.exit(main())
