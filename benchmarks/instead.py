"""Five people ask one after the other for redshifts of stars that overlap: provenn, and what they would use instead.

Run ``python -m benchmarks.instead``. The stars are those of `benchmarks.photometry`, and so is the calculator, which
takes about four microseconds a star, here ``--cost`` times: a fit of templates takes far more. Every way gives the same
rows and values, begins with the files, and remembers between the requests what it remembers by itself:

- provenn: `Archive.target`, as it is by default;
- Spark, a script: each person reads, selects, and computes what is asked for;
- Spark, cached: one session for all; each result is cached, which Spark uses again where it is the same expression;
- DuckDB and pandas, a script: selected by SQL, computed by the same function.

How many stars the calculator saw is counted by the calculator itself.
"""

from __future__ import annotations

import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import duckdb
import pandas as pd
import pyarrow as pa

import provenn
from benchmarks.measure import show, show_load, shown
from benchmarks.photometry import redshift, write_stars

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Task", "compare", "main"]

ROWS = 1_000_000
REQUESTS = (
    "vmag < 8",
    "vmag < 6 AND plx > 10",
    "NOT vmag >= 8 AND plx IS NOT NULL",
    "vmag < 9",
    "vmag < 5 OR (plx > 45 AND vmag < 9)",
)
"""What the five want: at first much; then two parts of it, one in other words; then more; then parts of that."""

Answer = Callable[[str], pd.DataFrame]


@dataclass(frozen=True, slots=True)
class Answered:
    """What a way took for each request, in seconds, how many stars the calculator saw, and what it gave."""

    seconds: tuple[float, ...]
    calculated: tuple[int, ...]
    answers: tuple[pd.DataFrame, ...]

    @property
    def different(self) -> int:
        """How many different stars are in the answers."""
        return len(pd.concat(self.answers)["id"].unique())


def counted(batch: pa.Table, counts: str, cost: int) -> pa.Table:
    """Fit a redshift to two magnitudes, `cost` times, and note how many."""
    with open(counts, "a") as file:  # noqa: PTH123 - workers append, each in one write
        file.write(f"{batch.num_rows}\n")
    for _ in range(cost - 1):
        redshift(batch)
    return redshift(batch)


@dataclass(frozen=True, slots=True)
class Task:
    """Who computes, from which file, where else to write, how many times the calculator does its work."""

    spark: SparkSession
    stars: Path
    place: Path
    cost: int

    @property
    def counts(self) -> Path:
        """Where the calculator notes how many stars it saw."""
        return self.place / "counts"


def _fitted(table: pa.Table, counts: Path, cost: int) -> pa.Table:
    made = counted(table, str(counts), cost)
    return table.select(["id"]).append_column("redshift", made["redshift"])


def _answered(answer: Answer, counts: Path) -> Answered:
    seconds, calculated, answers = [], [], []
    for where in REQUESTS:
        counts.write_text("")
        start = perf_counter()
        got = answer(where)
        seconds.append(perf_counter() - start)
        calculated.append(sum(map(int, counts.read_text().split())))
        answers.append(got.sort_values("id", ignore_index=True))
    return Answered(tuple(seconds), tuple(calculated), tuple(answers))


# --- the ways ---


def _by_provenn(task: Task) -> Answer:
    archive = provenn.open(task.place / "archive", spark=task.spark, progress=False)
    archive.ingest("stars", task.stars, key="id", population="star")
    archive.calculator(
        "redshift",
        counted,
        inputs=["g", "r"],
        outputs={"redshift": "double"},
        parameters={"counts": str(task.counts), "cost": task.cost},
        kind="arrow",
    )
    return lambda where: archive.target("stars", ["id", "redshift"], where=where).to_pandas()


def _computed(task: Task, frame: DataFrame) -> DataFrame:
    counts, cost = task.counts, task.cost  # workers are given these, and not Spark

    def compute(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from _fitted(pa.Table.from_batches([batch]), counts, cost).to_batches()

    return frame.select("id", "g", "r").mapInArrow(compute, "id BIGINT, redshift DOUBLE")


def _by_script(task: Task) -> Answer:
    return lambda where: _computed(task, task.spark.read.parquet(str(task.stars)).where(where)).toPandas()


def _cached(task: Task) -> Answer:
    frame = task.spark.read.parquet(str(task.stars))
    return lambda where: _computed(task, frame.where(where)).cache().toPandas()


def _by_duckdb(task: Task) -> Answer:
    def answer(where: str) -> pd.DataFrame:
        table = duckdb.read_parquet(str(task.stars)).filter(where).select("id", "g", "r").to_arrow_table()
        return _fitted(table, task.counts, task.cost).to_pandas()

    return answer


WAYS = {
    "provenn": _by_provenn,
    "Spark, a script": _by_script,
    "Spark, cached": _cached,
    "DuckDB and pandas, a script": _by_duckdb,
}


def compare(task: Task) -> dict[str, Answered]:
    """Let every way answer all requests.

    Raises
    ------
    AssertionError
        If the answers differ.
    """
    answered = {name: _answered(way(task), task.counts) for name, way in WAYS.items()}
    for name, other in answered.items():
        for mine, theirs in zip(answered["provenn"].answers, other.answers, strict=True):
            pd.testing.assert_frame_equal(mine, theirs, rtol=1e-9, obj=name)
    return answered


def main(arguments: Sequence[str] = ()) -> int:
    """Measure, and show it; return 1 if provenn computes a star twice."""
    parser = ArgumentParser(prog="python -m benchmarks.instead", description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--cost", type=int, default=10, help="how many times the calculator does its work")
    asked = parser.parse_args(arguments)
    show_load()
    with tempfile.TemporaryDirectory() as folder, provenn.open(Path(folder, "warm"), progress=False) as archive:
        stars = Path(folder, "stars.parquet")
        write_stars(stars, asked.rows)
        archive.ingest("stars", stars, key="id", population="star", verify=True)  # so that Spark runs
        session = archive.context.workshop.pipeline().engine.session
        for way in (_by_script, _by_provenn):  # and Python's workers too, and Java has compiled what it needs
            (Path(folder) / way.__name__).mkdir()
            way(Task(session, stars, Path(folder) / way.__name__, 1))("vmag < 1")
        answered = compare(Task(session, stars, Path(folder), asked.cost))
    ours = answered["provenn"]
    show(
        f"five requests for redshifts of {shown(asked.rows)} stars: seconds",
        ("way", *(f"{number}." for number in range(1, 6)), "all", "ratio to provenn"),
        [
            (name, *(f"{one:.2f}" for one in other.seconds), f"{sum(other.seconds):.1f}", _ratio(other, ours))
            for name, other in answered.items()
        ],
    )
    show(
        f"stars that the calculator saw; {shown(ours.different)} different ones are in the answers",
        ("way", *(f"{number}." for number in range(1, 6)), "all"),
        [(name, *map(shown, other.calculated), shown(sum(other.calculated))) for name, other in answered.items()],
    )
    return int(sum(ours.calculated) > ours.different * 1.01)  # a new calculator is tried on a few stars first


def _ratio(other: Answered, ours: Answered) -> str:
    return f"{sum(other.seconds) / sum(ours.seconds):.1f} x"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
