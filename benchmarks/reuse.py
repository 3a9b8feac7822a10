"""Reading stored values against computing them again: 235 000 stars of a million, by a criterion on another column.

Run ``python -m benchmarks.reuse``. Redshifts are stored for stars by their magnitude, at about four microseconds each.
Requests select some of them, by an attribute that the fragment lacks, or that it keeps because an earlier request
selected by it. All ways take turns on one Spark, which is warm, and must give the same stars and values.
"""

from __future__ import annotations

import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

import pyarrow as pa

from benchmarks.measure import Minimum, processor_time, show, show_load, shown
from benchmarks.targets import agree

if TYPE_CHECKING:
    from benchmarks.scenarios import Sky

__all__ = ["QUESTIONS", "list_ways", "main", "store_redshifts"]

ROWS = 1_000_000
REPEATS = 5
RATIO, SLACK = 1.1, 0.150
"""How many times as long as the faster of reading and computing again, or how many seconds longer: promised."""

STORED = "vmag < 4.7"
QUESTIONS = {
    "most, by another column": ("lacking", "plx > 5"),
    "few, by another column": ("lacking", "plx > 49.9"),
    "most, by a kept column": ("kept", "plx > 5"),
    "few, by a kept column": ("kept", "plx > 49.9"),
}
"""The requests: whether the fragment has the column of the criterion, and the criterion."""

_COLUMNS = {"lacking": (), "kept": ("plx",)}
_STORED_BY = {"lacking": STORED, "kept": f"{STORED} AND plx > 0.5"}
"""By which criterion redshifts are stored: a fragment keeps the columns of its criterion."""


def store_redshifts(sky: Sky, column: str) -> None:
    """Store redshifts of the stars, by provenn and by hand, with or without the column of the criterion."""
    sky.fitted()
    sky.archive.target(sky.stars.select(_STORED_BY[column]), ["redshift"]).to_arrow()
    sky.keep(sky.fit(_STORED_BY[column], *_COLUMNS[column]), column)


def list_ways(sky: Sky, question: str) -> Mapping[str, Callable[[], pa.Table]]:
    """Return the ways to answer a question."""
    from pyspark.sql import functions as sql  # noqa: PLC0415 - Spark is slow to import

    column, where = QUESTIONS[question]
    target = sky.archive.target(sky.stars.select(STORED), ["redshift"], where=where, keep="never")
    types = ", ".join(["id BIGINT", *(f"{name} DOUBLE" for name in _COLUMNS[column]), "redshift DOUBLE"])
    kept = sky.session.read.schema(types).parquet(str(sky.place / column))
    chosen = sky.read().where(f"{STORED} AND {where}").select("id")
    read = kept.where(where).select("id", "redshift") if column == "kept" else sql.broadcast(kept).join(chosen, "id")
    return {
        "provenn": target.to_arrow,
        "provenn, Spark": lambda: target.to_arrow(engine="spark"),
        "read by hand": read.toArrow,
        "computed again by hand": lambda: sky.fit(f"{STORED} AND {where}").toArrow(),
    }


def _measure(ways: Mapping[str, Callable[[], pa.Table]], repeats: int) -> dict[str, tuple[float, float]]:
    """Return the median seconds of each way, by the clock and of processors."""
    took: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for turn in range(repeats + 2):
        answers = []
        for name, way in ways.items():
            used, start = processor_time(), perf_counter()
            answers.append([way()])
            if turn > 1:  # at first, Java compiles
                took[name].append((perf_counter() - start, processor_time() - used))
        assert agree(*answers), "the answers differ"
    return {
        name: (median(clock for clock, _ in times), median(processor for _, processor in times))
        for name, times in took.items()
    }


def main(arguments: Sequence[str] = ()) -> int:
    """Measure, print a table, and return 1 if a promise is not kept."""
    from benchmarks.scenarios import Sky, write_tables  # noqa: PLC0415 - it imports Spark
    from provenn.spark.engine import Engine  # noqa: PLC0415

    parser = ArgumentParser(description="reading stored values against computing them again")
    parser.add_argument("--rows", type=int, default=ROWS, help="how many stars")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="how often each is answered")
    options = parser.parse_args(list(arguments))
    show_load()
    rows, minimums = [], []
    with tempfile.TemporaryDirectory() as folder, Engine() as engine:
        tables = Path(folder)
        write_tables(tables, options.rows)
        for column in _COLUMNS:
            sky = Sky(tables, tables / column, engine.session)
            with sky.archive:
                store_redshifts(sky, column)
                for question in (name for name, (kind, _) in QUESTIONS.items() if kind == column):
                    took = _measure(list_ways(sky, question), options.repeats)
                    rows.append((question, *(f"{clock:.2f} ({used:.2f})" for clock, used in took.values())))
                    ours, _, *by_hand = (clock for clock, _ in took.values())
                    bound = max(min(by_hand) * RATIO, min(by_hand) + SLACK)
                    minimums.append(Minimum(question, ours, bound, "s", at_most=True))
    title = f"{shown(options.rows)} stars, the median of {options.repeats}: seconds by the clock (of processors)"
    show(title, ("stars", "provenn", "provenn, Spark", "read by hand", "computed again by hand"), rows)
    show("Minimums", ("what", "measured", "minimum", ""), (minimum.row() for minimum in minimums))
    show_load()
    return int(not all(minimum.reached for minimum in minimums))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
