"""Small questions to the TAP service: milliseconds until the answer, read without Spark and computed by Spark.

Run ``python -m benchmarks tap``. Each contender is a process of `provenn serve`; ``PROVENN_ENGINE=spark`` forces Spark.
The first question to a new server, imports and Java included, is measured apart from the later ones, in which both
servers take turns. All questions ask for rows that were not asked for before.
"""

# ruff: noqa: S608 - queries are made of numbers

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from subprocess import PIPE, Popen
from tempfile import TemporaryDirectory
from time import perf_counter

import httpx
import numpy as np
import pyarrow as pa
from pyarrow import parquet

import provenn
from benchmarks.measure import show_load

__all__ = ["main"]

ROWS = 1_000_000
TURNS = 7
SECONDS = 300.0
COLD, WARM = 5.0, 1.0
"""How many times faster the first and the later answers are without Spark, at the least: promised."""

Question = Callable[[int], str]

QUESTIONS: dict[str, Question] = {
    "TOP 10": lambda turn: f"SELECT TOP 10 * FROM stars WHERE vmag < {8 + turn / 100}",
    "a cone of 0.5 degrees": lambda turn: (
        f"SELECT * FROM stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE({20 + 3 * turn}, 10, 0.5))"
    ),
    "TOP 10 in order": lambda turn: f"SELECT TOP 10 hip, vmag FROM stars WHERE plx > {turn / 100} ORDER BY vmag",
    "a scan": lambda turn: f"SELECT hip, vmag FROM stars WHERE vmag < {1 + turn / 100} AND plx > 2",
    "a count": lambda turn: f"SELECT COUNT(*) AS n FROM stars WHERE vmag < {5 + turn / 100}",
}
METADATA: dict[str, Question] = {
    "TAP_SCHEMA": lambda _: "SELECT column_name, unit FROM TAP_SCHEMA.columns WHERE table_name = 'stars'",
    "a known count": lambda _: "SELECT COUNT(*) AS n FROM stars",
}


def _make_archive(folder: Path) -> None:
    """Write a million stars and an archive of them; their keys are verified, as in any archive in use."""
    random = np.random.default_rng(1)
    columns = {
        "ra": random.uniform(0, 360, ROWS),
        "dec": np.degrees(np.arcsin(random.uniform(-1, 1, ROWS))),
        "vmag": random.normal(8, 2, ROWS),
        "plx": random.normal(5, 3, ROWS),
    }
    parquet.write_table(pa.table({"hip": np.arange(ROWS), **columns}), folder / "stars.parquet")
    with provenn.open(folder / "survey") as archive:
        archive.ingest("stars", folder / "stars.parquet", key="hip", population="star").head(1)


@contextmanager
def _serve(folder: Path, engine: str) -> Iterator[str]:
    """Serve the archive in a process of its own; yield its TAP address."""
    command = [sys.executable, "-m", "provenn", "serve", "--port", "0", "--json", "--seconds", str(SECONDS)]
    environment = {**os.environ, "PROVENN_ENGINE": engine}
    process = Popen([*command, "--archive", "survey"], cwd=folder, env=environment, stdout=PIPE, text=True)
    with process, process.stdout as out:  # type: ignore[union-attr] # there is one, it was asked for
        try:
            yield str(json.loads(out.readline())["tap"])
        finally:
            process.terminate()


def _ask(client: httpx.Client, address: str, query: str) -> tuple[float, int]:
    """Return the milliseconds until an answer is complete, and the number of its rows."""
    began = perf_counter()
    answer = client.get(f"{address}/sync", params={"LANG": "ADQL", "QUERY": query, "RESPONSEFORMAT": "json"})
    taken = 1000 * (perf_counter() - began)
    return taken, len(answer.raise_for_status().json()["rows"])


def _measure_first(client: httpx.Client, folder: Path, question: Question) -> dict[str, float]:
    """Return the milliseconds of the first question to new servers, by engine."""
    first = {}
    for number, engine in enumerate(("auto", "spark")):
        with _serve(folder, engine) as address:
            first[engine], _ = _ask(client, address, question(number))
    return first


def main() -> int:
    """Print the milliseconds of all questions; return 1 if an answer without Spark is slower than promised."""
    is_kept = True
    with TemporaryDirectory() as name, httpx.Client(timeout=SECONDS) as client, ExitStack() as stack:
        folder = Path(name)
        _make_archive(folder)
        first = {label: _measure_first(client, folder, question) for label, question in QUESTIONS.items()}
        servers = {engine: stack.enter_context(_serve(folder, engine)) for engine in ("auto", "spark")}
        show_load()
        print(f"{ROWS:,} stars, ms | first answer | Spark | later answers, median of {TURNS} | Spark")
        for label, question in {**METADATA, **QUESTIONS}.items():
            later: dict[str, list[float]] = {"auto": [], "spark": []}
            for turn in range(1, TURNS + 2):
                for number, (engine, address) in enumerate(servers.items()):
                    taken, rows = _ask(client, address, question(2 * turn + number))
                    if rows == 0:
                        raise RuntimeError(f"{label} has no rows")
                    if turn > 1:  # the first turn starts Spark
                        later[engine].append(taken)
            cold, warm = first.get(label), {engine: median(taken) for engine, taken in later.items()}
            shown = f"{cold['auto']:,.0f} | {cold['spark']:,.0f}" if cold else "– | –"
            print(f"{label} | {shown} | {warm['auto']:,.0f} | {warm['spark']:,.0f}")
            is_kept &= cold is None or (cold["spark"] > COLD * cold["auto"] and warm["spark"] > WARM * warm["auto"])
    return 0 if is_kept else 1


if __name__ == "__main__":
    sys.exit(main())
