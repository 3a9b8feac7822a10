"""Starting Spark: from nothing to the answer of a first query, with and without the class archive, and on a warm Spark.

Run ``python -m benchmarks spark_start``. Every start is a fresh process, imports and Java included; the contenders take
turns, and the ratio is that of their medians, as both then saw the same machine. Processor time is that of the process
and of Java; on the warm Spark also what its Java and its keeper used meanwhile.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import pyspark

from benchmarks.measure import Minimum, patiently, processor_time, show, show_load, shown
from provenn.spark.brief_environment import set_environment
from provenn.spark.class_archive import choose_archive_stem, find_complete_archive
from provenn.spark.java import find_java
from provenn.spark.make_class_archive import make_archive
from provenn.spark.warm.asking import IDLE, start_keeper, stop_keeper

__all__ = ["main"]

TURNS = 5
RATIO = 1.3
"""How many times faster a start is with the class archive: promised."""
WARM_RATIO = 4.0
"""How many times faster a first query is on a warm Spark than on a new one with the class archive: promised."""


def _start(spark: str = "local[*]", *, archive: bool = True, brief: bool = False) -> Callable[[], tuple[float, float]]:
    """Return what starts an engine and counts to 1000; only pyspark itself is imported."""
    os.environ["PROVENN_CLASS_ARCHIVE"] = "" if archive and spark != "warm" else "off"

    def work() -> tuple[float, float]:
        used, start = processor_time(), perf_counter()
        from provenn.spark.engine import Engine  # noqa: PLC0415 - counted

        engine = Engine(spark, brief=brief)
        engine.report_refusal = _refuse
        counted = engine.session.range(1000).count()
        assert counted == 1000
        return perf_counter() - start, processor_time() - used

    return work


def _refuse(reason: str) -> None:
    raise RuntimeError(f"the warm Spark is not used: {reason}")


def _with_archive() -> Callable[[], tuple[float, float]]:
    return _start()


def _without_archive() -> Callable[[], tuple[float, float]]:
    return _start(archive=False)


def _brief() -> Callable[[], tuple[float, float]]:
    return _start(brief=True)


def _warm() -> Callable[[], tuple[float, float]]:
    return _start("warm")


def _by_hand() -> Callable[[], tuple[float, float]]:
    """Return the same with pyspark alone, as its documentation has it."""
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "JAVA_HOME": str(find_java().home)}
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())  # it is chatty

    def work() -> tuple[float, float]:
        used, start = processor_time(), perf_counter()
        from pyspark.sql import SparkSession  # noqa: PLC0415 - counted

        assert SparkSession.builder.getOrCreate().range(1000).count() == 1000
        return perf_counter() - start, processor_time() - used

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
        "provenn, on a warm Spark": _warm,
    }
    figures: dict[str, list[tuple[float, float]]] = {name: [] for name in contenders}
    with TemporaryDirectory() as cache, _keep_warm(cache) as keeper:
        for _ in range(TURNS):
            for name, prepare in contenders.items():
                before = processor_time(keeper)
                with set_environment(_find_variables(cache) if prepare is _warm else {}):
                    seconds, used = patiently(prepare)
                figures[name].append((seconds, used + (processor_time(keeper) - before) * (prepare is _warm)))
    medians = {name: median(seconds for seconds, _ in turns) for name, turns in figures.items()}
    cpu = {name: median(used for _, used in turns) for name, turns in figures.items()}
    base, with_archive, warm = "provenn, without a class archive", "provenn, with it", "provenn, on a warm Spark"
    rows = [
        (name, shown(medians[name]), shown(min(turns)[0]), shown(cpu[name]), f"{medians[base] / medians[name]:.2f} x")
        for name, turns in figures.items()
    ]
    title = "Starting Spark and answering a first query, seconds"
    show(title, ("start", "median", "best", "of processors", "faster"), rows)
    promises = [
        Minimum("start with the class archive", medians[base] / medians[with_archive], RATIO),
        Minimum("start on a warm Spark, against one with it", medians[with_archive] / medians[warm], WARM_RATIO),
        Minimum("its processor time, against one with it", cpu[with_archive] / cpu[warm], WARM_RATIO),
    ]
    show("Promised", ("what", "figure", "bound", ""), [promise.row() for promise in promises])
    return 0 if all(promise.reached for promise in promises) else 1


@contextmanager
def _keep_warm(cache: str) -> Iterator[int]:
    """Keep a Spark warm in the body, apart from that of whoever measures; yield the process of its keeper."""
    with set_environment(_find_variables(cache)):
        status = start_keeper(IDLE)
    try:
        yield status.pid
    finally:
        with set_environment(_find_variables(cache)):
            stop_keeper(now=True)


def _find_variables(cache: str) -> dict[str, str]:
    """Return the variables by which processes find the warm Spark in a cache."""
    return {"XDG_CACHE_HOME": cache, "PROVENN_WARM": "", "PROVENN_CLASS_ARCHIVE": "off"}


if __name__ == "__main__":
    sys.exit(main())
