"""A folder that gets a file a day: what a day costs after 10, 100 and 365 days, by provenn and by others.

Run ``python -m benchmarks growth``, or ``python -m benchmarks.growth --days 5 20 --rows 500 --daily 2`` quickly. Ten
catalogs are made from the files, with redshifts that a Python calculator fits: the fits, and nine selections of them.
The days that are measured have ``--rows`` stars, the others a few. Days that are long past are appended one by one, and
computed together; the last ``--daily`` before those that are measured are refreshed one by one, so that each leaves
what a day leaves. Each number of days has an archive of its own. Each way has stored the redshifts of all days at the
end, and they are compared:

- provenn: `Archive.refresh`, with all its descendants; and the planning of a target on the whole, by itself;
- provenn, from scratch: a new archive of the same files;
- Spark, from scratch: all files are read, computed and written again;
- by hand: a script that reads the new file, computes, and appends a file to those of the days before.

How many stars the calculator saw is counted by the calculator itself. Seconds of processors include those of Spark.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import provenn
from benchmarks.instead import counted
from benchmarks.measure import processor_time, show, show_load, shown

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["DayCost", "Growth", "main", "measure_growth"]

DAYS = (10, 100, 365)
ROWS = 5_000
FEW = 20
DAILY = 12
REPEATED = 3
"""How many days in a row are measured; the quickest counts, because others use the machine as well."""

MOST_PLANNING = 0.2
"""The most seconds that planning may take."""

MOST_GROWTH = 1.5
"""How much more a day may cost after many days than after few."""


@dataclass(frozen=True, slots=True)
class DayCost:
    """What a day cost: seconds, seconds of processors, and the stars that the calculator saw."""

    seconds: float
    processor: float
    calculated: int


class Growth:
    """A folder of days, an archive of them, and the results of the script.

    Parameters
    ----------
    session
        Spark, for all ways.
    place
        An empty folder.
    cost
        How many times the calculator does its work.
    """

    def __init__(self, session: SparkSession, place: Path, cost: int) -> None:
        self.session, self.place, self.cost = session, place, cost
        self.files, self.counts, self.written = place / "days", place / "counts", place / "by hand"
        self.files.mkdir(parents=True)
        self.written.mkdir()
        self.counts.write_text("")
        self.days = 0
        self.archive = provenn.open(place / "archive", spark=session, progress=False)

    def close(self) -> None:
        """Close the archive."""
        self.archive.close()

    def start(self, days: int) -> None:
        """Append the first days one by one, and define and store the ten catalogs on them; also by hand."""
        for _ in range(days):
            self._compute_by_hand(self.write_day(FEW))
            self.archive.ingest("stars", self.files, key="id", population="star")
        _define(self.archive, self.files, self._parameters)

    def write_day(self, rows: int) -> Path:
        """Write the file of the next day."""
        random = np.random.default_rng(self.days)
        table = {
            "id": np.arange(rows) + self.days * 1_000_000,
            **{band: random.random(rows) * 20 for band in "gr"},
        }
        path = self.files / f"{self.days:05}.parquet"
        parquet.write_table(pa.table(table), path)
        self.days += 1
        return path

    def grow(self, days: int) -> None:
        """Let days of few stars pass, until there are so many, and refresh after each."""
        while self.days < days:
            self._compute_by_hand(self.write_day(FEW))
            self.archive.refresh("stars")

    def measure(self, work: Callable[[], object]) -> DayCost:
        """Measure some work."""
        self.counts.write_text("")
        began, used = perf_counter(), processor_time()
        work()
        took, processor = perf_counter() - began, processor_time() - used
        return DayCost(took, processor, sum(map(int, self.counts.read_text().split())))

    def measure_planning(self) -> tuple[float, float]:
        """Return the seconds, and those of this process, that planning takes: a target on all days."""
        times = []
        for _ in range(REPEATED):
            with provenn.open(self.place / "archive", spark=self.session, progress=False) as archive:
                began, used = perf_counter(), process_time()
                archive.target("fits", ["redshift"]).plan()
                times.append((perf_counter() - began, process_time() - used))
        return min(times)

    def compute_by_spark(self, path: Path, to: Path, mode: str) -> None:
        """Compute redshifts of files with Spark alone, and write them."""
        self._compute(self.session.read.parquet(str(path))).write.mode(mode).parquet(str(to))

    def compute_anew(self) -> None:
        """Compute everything in a new archive."""
        place = self.place / "anew"
        with provenn.open(place, spark=self.session, progress=False) as archive:
            _define(archive, self.files, self._parameters)
        shutil.rmtree(place)

    def compare(self) -> None:
        """Compare the redshifts of the archive with those computed by hand.

        Raises
        ------
        AssertionError
            If they differ.
        """
        mine = self.archive.target("fits", ["redshift"]).to_arrow().sort_by("id")
        theirs = parquet.read_table(self.written).sort_by("id")
        assert mine["id"].equals(theirs["id"])
        assert np.allclose(mine["redshift"].to_numpy(), theirs["redshift"].to_numpy(), rtol=1e-9)

    @property
    def _parameters(self) -> dict[str, object]:
        return {"counts": str(self.counts), "cost": self.cost}

    def _compute(self, frame: DataFrame) -> DataFrame:
        counts, cost = str(self.counts), self.cost  # workers are given these, and not Spark

        def compute(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                table = pa.Table.from_batches([batch])
                made = counted(table, counts, cost)
                yield from table.select(["id"]).append_column("redshift", made["redshift"]).to_batches()

        return frame.select("id", "g", "r").mapInArrow(compute, "id BIGINT, redshift DOUBLE")

    def _compute_by_hand(self, path: Path) -> None:
        """Compute a day of few stars by hand, without Spark: it is not measured."""
        table = parquet.read_table(path)
        made = counted(table, str(self.counts), 1)
        parquet.write_table(
            pa.table({"id": table["id"], "redshift": made["redshift"]}), self.written / f"small-{path.name}"
        )


def _define(archive: provenn.Archive, files: Path, parameters: dict[str, object]) -> None:
    """Define ten catalogs on the files of days, and store the fits."""
    stars = archive.ingest("stars", files, key="id", population="star")
    outputs = {"redshift": "double"}
    fit = archive.calculator("fit", counted, inputs=["g", "r"], outputs=outputs, parameters=parameters, kind="arrow")
    fits = stars.derive(fit, name="fits")
    for number in range(1, 10):
        fits.select(f"redshift < {number / 10} AND g < {number * 2}", name=f"selected {number}")
    fits.store()


def measure_growth(growth: Growth, rows: int, repeats: int = REPEATED) -> dict[str, DayCost]:
    """Measure what the next day costs by each way: the best of some days in a row."""
    measured: dict[str, list[DayCost]] = {}
    for _ in range(repeats):
        path = growth.write_day(rows)
        by_hand = growth.measure(partial(growth.compute_by_spark, path, growth.written, "append"))
        measured.setdefault("by hand", []).append(by_hand)
        measured.setdefault("provenn", []).append(growth.measure(lambda: growth.archive.refresh("stars")))
    spark = growth.measure(lambda: growth.compute_by_spark(growth.files, growth.place / "all", "overwrite"))
    measured["Spark, from scratch"] = [spark]
    measured["provenn, from scratch"] = [growth.measure(growth.compute_anew)]
    growth.compare()
    return {way: min(costs, key=lambda cost: cost.seconds) for way, costs in measured.items()}


def main(arguments: Sequence[str] = ()) -> int:
    """Measure, and show it; return 1 if a day costs more after many days, or planning takes too long."""
    parser = ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--days", type=int, nargs="+", default=DAYS)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--daily", type=int, default=DAILY, help="how many days are refreshed one by one")
    parser.add_argument("--repeats", type=int, default=REPEATED, help="how many days in a row are measured")
    parser.add_argument("--cost", type=int, default=20, help="how many times the calculator does its work")
    asked = parser.parse_args(arguments)
    show_load()
    with tempfile.TemporaryDirectory() as folder, provenn.open(Path(folder, "warm"), progress=False) as warm:
        session = warm.context.workshop.pipeline().engine.session
        # Python's workers start, and Java compiles what it needs, before anything is measured.
        first = Growth(session, Path(folder, "first days"), 1)
        first.start(1)
        measure_growth(first, FEW)
        first.close()
        costs, planning = {}, {}
        for day in sorted(asked.days):
            growth = Growth(session, Path(folder, f"{day} days"), asked.cost)
            growth.start(max(1, day - asked.daily))
            growth.grow(day)
            costs[day], planning[day] = measure_growth(growth, asked.rows, asked.repeats), growth.measure_planning()
            growth.close()
            print(f"day {day} is measured", flush=True)
    _show(costs, planning, asked.rows)
    earliest, *others = (costs[day]["provenn"].seconds for day in sorted(costs))
    slowest = max((seconds / earliest for seconds in others), default=1.0)
    slow = [day for day, (seconds, _) in planning.items() if seconds > MOST_PLANNING]
    print(f"a day costs at most {slowest:.2f} times what it cost at first; at most {MOST_GROWTH} is promised")
    print(f"planning takes at most {1000 * max(seconds for seconds, _ in planning.values()):.0f} ms")
    return int(slowest > MOST_GROWTH or bool(slow))


def _show(costs: dict[int, dict[str, DayCost]], planning: dict[int, tuple[float, float]], rows: int) -> None:
    show(
        f"one more day of {shown(rows)} stars",
        ("day and way", "seconds", "of processors", "ratio to by hand", "stars calculated"),
        [
            (
                f"{day}: {way}",
                f"{cost.seconds:.2f}",
                f"{cost.processor:.2f}",
                f"{cost.seconds / ways['by hand'].seconds:.2f}",
                shown(cost.calculated),
            )
            for day, ways in costs.items()
            for way, cost in ways.items()
        ],
    )
    show(
        "planning a target on all days, in an archive opened anew",
        ("day", "milliseconds", "of this process"),
        [(str(day), f"{1000 * took:.0f}", f"{1000 * used:.0f}") for day, (took, used) in planning.items()],
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
