"""Requests answered by provenn, by plain Spark on the same lineage, and by the optimum written by hand.

Run ``python -m benchmarks.targets``; ``--large`` for four million stars, ``--rows`` for as many as you like. The
scenarios are those of `benchmarks.scenarios`. The three ways take turns in one run, on one Spark, and must give the
same rows and values. Each begins at the question and ends with the answer in this process: planning, the checks of
files and fragments, and the record of the run are all in provenn's time. Processor time is that of this process, of
Java and of Python's workers: where other work goes on, it tells more than the clock.

Planning alone is measured on an archive of ten thousand catalogs, that of `benchmarks.archives`.
"""

from __future__ import annotations

import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from random import Random
from statistics import fmean, median
from time import perf_counter, process_time
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

import provenn
from benchmarks.archives import make_archive, name_of
from benchmarks.measure import Minimum, processor_time, show, show_load, shown
from benchmarks.photometry import redshift

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Measured", "agree", "main", "measure", "measure_planning"]

ROWS, LARGE = 1_000_000, 4_000_000
REPEATS = 5
CATALOGS = 10_000
QUESTIONS = 50

# What is promised.
RATIO, SLACK = 1.1, 0.150
"""How many times as long as the optimum, or how many seconds longer."""

GAIN = 5
"""How many times as fast as plain Spark, in the geometric mean."""

PLANNING = 50
"""How many milliseconds planning takes."""


@dataclass(frozen=True, slots=True)
class Took:
    """What an answer took at the median: seconds by the clock, and of processors, on which other work tells less."""

    clock: float
    processor: float


@dataclass(frozen=True, slots=True)
class Measured:
    """What the three ways took, how many jobs Spark ran for provenn's answer, and how many stars it has."""

    name: str
    provenn: Took
    plain: Took
    optimum: Took
    jobs: int
    rows: int

    @property
    def near(self) -> bool:
        """Whether provenn is near the optimum."""
        return self.provenn.clock <= max(self.optimum.clock * RATIO, self.optimum.clock + SLACK)

    @property
    def gain(self) -> float:
        """How many times as fast as plain Spark."""
        return self.plain.clock / self.provenn.clock

    def row(self) -> tuple[str, ...]:
        """The row of a table."""
        ours, plain, optimum = ((one.clock, one.processor) for one in (self.provenn, self.plain, self.optimum))
        clock, processor = ([f"{one:.2f}" for one in times] for times in zip(ours, plain, optimum, strict=True))
        ratio = f"{ours[0] / optimum[0]:.2f} x" if optimum[0] > 0.001 else "–"
        later = f"{(ours[0] - optimum[0]) * 1e3:.0f}"
        verdict = "" if self.near else "NOT NEAR"
        gain = f"{shown(self.gain)} x"
        return (self.name, shown(self.rows), *clock, ratio, later, gain, *processor, str(self.jobs), verdict)


_HEADER = (
    *("scenario", "stars", "provenn", "plain", "by hand", "ratio", "later, ms", "gain"),
    *("provenn", "plain", "by hand", "jobs", ""),
)


def measure(name: str, repeats: int, spark: SparkSession, tables: Path) -> Measured:
    """Answer the request of a scenario in three ways, in turn.

    Raises
    ------
    AssertionError
        If the answers differ.
    """
    from benchmarks.scenarios import SCENARIOS, Sky  # noqa: PLC0415 - it imports Spark

    with tempfile.TemporaryDirectory(dir=tables) as place:
        sky = Sky(tables, Path(place), spark)
        with sky.archive:
            ways = SCENARIOS[name](sky)
            tracker = sky.session.sparkContext.statusTracker()
            ran: list[Callable[[], list[pa.Table]]] = [ways.provenn, ways.plainly(), lambda: list(ways.by_hand())]
            took: list[list[Took]] = [[], [], []]
            jobs = 0
            for turn in range(repeats + 1):
                answers = []
                for number, way in enumerate(ran):
                    ways.reset()
                    before = len(tracker.getJobIdsForGroup())
                    used, start = processor_time(), perf_counter()
                    answers.append(way())
                    if turn:  # at first, Java compiles, and Python's workers start
                        took[number].append(Took(perf_counter() - start, processor_time() - used))
                    if number == 0:
                        jobs = len(tracker.getJobIdsForGroup()) - before
                assert agree(*answers), f"{name}: the answers differ"
    ours, plain, optimum = map(_median, took)
    return Measured(name, ours, plain, optimum, jobs, sum(one.num_rows for one in answers[0]))


def _median(took: Sequence[Took]) -> Took:
    return Took(median(one.clock for one in took), median(one.processor for one in took))


def agree(*answers: Sequence[pa.Table]) -> bool:
    """Whether answers have the same columns, rows and values; the last digits of results of calculators may differ."""
    first, *others = ([one.sort_by("id") for one in several] for several in answers)
    return all(len(first) == len(other) and all(map(_same, first, other)) for other in others)


def _same(one: pa.Table, other: pa.Table) -> bool:
    if one.column_names != other.column_names or one.num_rows != other.num_rows:
        return False
    pairs = ([each.to_numpy() for each in pair] for pair in zip(one.columns, other.columns, strict=True))
    return all(np.allclose(left, right, rtol=1e-9, atol=0, equal_nan=True) for left, right in pairs)


def measure_planning(size: int, questions: int = QUESTIONS) -> tuple[list[float], list[float]]:
    """Return how many seconds requests take to plan in a large archive that is open, by the clock and of a processor.

    Each asks for two attributes of some sources, and for one that only a calculator gives.
    """
    random = Random(3)
    clock, processor = list[float](), list[float]()
    with tempfile.TemporaryDirectory() as folder:
        make_archive(Path(folder) / "provenn.sqlite", size)
        with provenn.open(folder) as archive:
            outputs = {"redshift": "double"}
            archive.calculator("redshift", redshift, inputs=["mag_u", "mag_v"], outputs=outputs, kind="arrow")
            for _ in range(questions):
                sources = archive[name_of(10 * random.randrange(size // 10))]
                wanted = [*random.sample(sources.attributes[1:], 2), "redshift"]
                where = f"mag_b < {random.randrange(100, 200) / 10}"
                start, used = perf_counter(), process_time()
                archive.target(sources, wanted, where=where).plan()
                clock.append(perf_counter() - start)
                processor.append(process_time() - used)
    return clock, processor


@contextmanager
def _tables(rows: int) -> Iterator[Path]:
    from benchmarks.scenarios import write_tables  # noqa: PLC0415 - it imports Spark

    with tempfile.TemporaryDirectory() as folder:
        write_tables(Path(folder), rows)
        yield Path(folder)


def main(arguments: Sequence[str] = ()) -> int:
    """Measure, print tables, and return 1 if a promise is not kept."""
    from benchmarks.scenarios import SCENARIOS  # noqa: PLC0415 - it imports Spark
    from provenn.spark.engine import Engine  # noqa: PLC0415

    parser = ArgumentParser(description="requests answered by provenn, by plain Spark, and by hand")
    parser.add_argument("--rows", type=int, default=ROWS, help="how many stars")
    parser.add_argument("--large", action="store_const", dest="rows", const=LARGE, help="four million stars")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="how often each is answered")
    parser.add_argument("--only", default="", help="scenarios whose name has this in it")
    options = parser.parse_args(list(arguments))
    show_load()
    names = [name for name in SCENARIOS if options.only in name]
    with _tables(options.rows) as tables, Engine() as engine:
        found = [measure(name, options.repeats, engine.session, tables) for name in names]
    title = f"{shown(options.rows)} stars, the median of {options.repeats}: seconds by the clock, then of processors"
    show(title, _HEADER, (one.row() for one in found))
    clock, processor = measure_planning(CATALOGS)
    rows = (("by the clock", clock), ("of a processor", processor))
    show(
        f"Planning among {shown(CATALOGS)} catalogs, ms",
        ("", "median", "worst"),
        ((what, shown(median(took) * 1e3), shown(max(took) * 1e3)) for what, took in rows),
    )
    gain = exp(fmean(log(one.gain) for one in found))
    minimums = [
        Minimum("scenarios near the optimum", sum(one.near for one in found), len(found), ""),
        Minimum("gain over plain Spark, geometric mean", gain, GAIN),
        Minimum(f"planning among {shown(CATALOGS)} catalogs", median(clock) * 1e3, PLANNING, "ms", at_most=True),
    ]
    minimums += [Minimum("jobs where proof suffices", one.jobs, 0, "", at_most=True) for one in found if not one.rows]
    show("Minimums", ("what", "measured", "minimum", ""), (minimum.row() for minimum in minimums))
    show_load()
    return int(not all(minimum.reached for minimum in minimums))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
