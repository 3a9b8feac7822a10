"""A look at data without Spark: CPU seconds of cold commands, against Spark, DuckDB, and pyarrow by hand.

Run ``python -m benchmarks look``. Every contender is a fresh process, imports and Java included; they take turns.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import provenn
from benchmarks.measure import show_load

__all__ = ["list_contenders", "main", "measure_cpu", "write_stars"]

ROWS = 1_000_000
TURNS = 5
RATIO = 5
"""How many times less CPU a look takes than Spark: promised."""

_DUCKDB = "import duckdb; print(duckdb.sql(\"SELECT {what} FROM 'stars.parquet' WHERE vmag < 6 AND plx > 2 {limit}\"))"
_PYARROW = (
    "import pyarrow.dataset as ds; d = ds.dataset('stars.parquet');"
    "print(d.{call}filter=(ds.field('vmag') < 6) & (ds.field('plx') > 2)))"
)


def write_stars(folder: Path) -> None:
    """Write a million stars and an archive with a selection of them; the key is verified."""
    random = np.random.default_rng(1)
    columns = {"vmag": random.normal(8, 2, ROWS), "plx": random.normal(5, 3, ROWS)}
    parquet.write_table(pa.table({"hip": np.arange(ROWS), **columns}), folder / "stars.parquet")
    with provenn.open(folder / "survey") as archive:
        stars = archive.ingest("stars", folder / "stars.parquet", key="hip", population="star")
        stars.head(1)
        for turn in range(2 * (TURNS + 1)):  # a number that was counted is known from then on
            stars.select(f"vmag < {6 + turn / 1000} AND plx > 2", name=f"bright{turn}")


def measure_cpu(folder: Path, arguments: list[str]) -> float:
    """Return the CPU seconds of a fresh Python, and of the processes that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def list_contenders(turn: int) -> dict[str, dict[str, list[str]]]:
    """Return the commands of each contender, by question."""
    command = ["-m", "provenn", "--archive", "survey"]

    def ask(verb: str, number: int, *options: str) -> list[str]:
        return [*command[:2], verb, f"bright{number}", *options, *command[2:]]

    return {
        "first 10 rows": {
            "provenn, a look": ask("head", turn),
            "provenn, Spark": ask("head", turn, "--engine", "spark"),
            "DuckDB": ["-c", _DUCKDB.format(what="*", limit="LIMIT 10")],
            "pyarrow by hand": ["-c", _PYARROW.format(call="head(10, ")],
        },
        "count": {
            "provenn, a look": ask("count", turn),
            "provenn, Spark": ask("count", TURNS + 1 + turn, "--engine", "spark"),
            "DuckDB": ["-c", _DUCKDB.format(what="count(*)", limit="")],
            "pyarrow by hand": ["-c", _PYARROW.format(call="count_rows(")],
        },
    }


def main() -> int:
    """Print the CPU seconds of all contenders; return 1 if a look takes more than was promised."""
    seconds: dict[tuple[str, str], list[float]] = {}
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_stars(folder)
        for turn in range(TURNS + 1):
            for question, contenders in list_contenders(turn).items():
                for contender, arguments in contenders.items():
                    taken = measure_cpu(folder, arguments)
                    if turn:  # the first turn compiles, and fills the file cache
                        seconds.setdefault((question, contender), []).append(taken)
    show_load()
    print(f"a selection of {ROWS:,} rows, cold process | CPU seconds, median of {TURNS} | to a look")
    is_kept = True
    for (question, contender), measured in seconds.items():
        look = median(seconds[question, "provenn, a look"])
        print(f"{question}, {contender} | {median(measured):.2f} | {median(measured) / look:.2f} x")
        is_kept &= contender != "provenn, Spark" or median(measured) > RATIO * look
    return 0 if is_kept else 1


if __name__ == "__main__":
    sys.exit(main())
