"""Pages that show data: what they take once the data are counted, and whether a look at them starts Spark.

Run ``python -m benchmarks.data_pages``; ``--sources 20000`` for a smaller survey. Each page is asked of a first server,
which counts and keeps; a second server, which remembers no page, is measured.
"""

from __future__ import annotations

import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from random import Random
from urllib.parse import urlencode

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import provenn
from benchmarks.measure import Minimum, show, show_load
from benchmarks.web import BARE, MILLISECONDS, PATIENCE, Pages, Server, Took, serving, times

__all__ = ["count_all", "count_java", "list_data_pages", "main", "make_survey", "measure_data_pages"]

SOURCES = 200_000
CATALOGS = 20
REQUESTS = 20


def make_survey(folder: Path, sources: int) -> None:
    """Make an archive of stars with positions, and selections of them that overlap."""
    random = np.random.default_rng(23)
    table = pa.table(
        {
            "id": np.arange(sources),
            "ra": random.uniform(0, 360, sources),
            "dec": np.degrees(np.arcsin(random.uniform(-1, 1, sources))),
            "gmag": random.normal(15, 2, sources),
            "bp_rp": random.normal(1, 0.4, sources),
            "kind": [f"kind {place % 7}" for place in range(sources)],
        }
    )
    pq.write_table(table, folder / "stars.parquet")
    with provenn.open(folder, progress=False) as archive:
        stars = archive.ingest("stars", folder / "stars.parquet", key="id", population="star")
        for number in range(CATALOGS):
            stars.select(f"gmag < {12 + number / 4}", name=f"bright_{number}")
            stars.select(f"bp_rp < {0.5 + number / 20}", name=f"blue_{number}")


def list_data_pages() -> Pages:
    """Return the kinds of pages that show data."""

    def pair(random: Random) -> str:
        number = random.randrange(CATALOGS)
        return urlencode({"a": f"bright_{number}", "b": f"blue_{number}"})

    return {
        BARE: lambda _: "/bare",
        "a catalog with its data": lambda random: f"/catalogs/bright_{random.randrange(CATALOGS)}",
        "its page of the sky": lambda random: f"/catalogs/bright_{random.randrange(CATALOGS)}/sky",
        "its map of the sky": lambda random: f"/catalogs/bright_{random.randrange(CATALOGS)}/sky.svg",
        "two compared, with numbers": lambda random: f"/compare?{pair(random)}",
        "their map of the sky": lambda random: f"/compare/sky.svg?{pair(random)}",
    }


def count_all(server: Server) -> None:
    """Ask once for each page, so that the server counts and keeps what the page shows."""
    with httpx.Client(base_url=server.address, timeout=PATIENCE) as client:
        for number in range(CATALOGS):
            compared = urlencode({"a": f"bright_{number}", "b": f"blue_{number}"})
            for path in (
                f"/catalogs/bright_{number}",
                f"/catalogs/bright_{number}/sky",
                f"/compare/sky.svg?{compared}",
            ):
                client.get(path).raise_for_status()


def count_java(server: Server) -> int:
    """Return the number of Java processes below a server (Linux): Spark is such a process."""
    waiting, found = [str(server.process)], 0
    while waiting:
        process = Path("/proc", waiting.pop())
        found += (process / "comm").read_text().strip() == "java"
        waiting += [child for task in process.glob("task/*/children") for child in task.read_text().split()]
    return found


def measure_data_pages(folder: Path, requests: int) -> tuple[dict[str, Took], int]:
    """Return what each kind of page took once counted, and the number of Java processes that the looks started."""
    with serving(folder) as server:
        count_all(server)
        started = count_java(server)
    with serving(folder) as server:
        took = times(server, list_data_pages(), requests)
        return took, started + count_java(server)


def main(arguments: Sequence[str] = ()) -> int:
    """Measure, print tables, and return 1 if a page is late, or Spark was started."""
    parser = ArgumentParser(description="what pages with data take once counted")
    parser.add_argument("--sources", type=int, default=SOURCES, help="how many stars")
    parser.add_argument("--requests", type=int, default=REQUESTS, help="how many of each kind of page")
    options = parser.parse_args(list(arguments))
    with tempfile.TemporaryDirectory() as place:
        make_survey(Path(place), options.sources)
        took, started = measure_data_pages(Path(place), options.requests)
    show(
        f"{options.sources:,} stars, {options.requests} pages of each kind, once counted",
        ("page", "median, ms", "95 %, ms", "processor, ms", "median : nothing"),
        (measured.row(kind, took[BARE]) for kind, measured in took.items()),
    )
    minimums = [
        *(Minimum(kind, took[kind].median, MILLISECONDS, "ms", at_most=True) for kind in took if kind != BARE),
        Minimum("Java processes started by looking", started, 0, "", at_most=True),
    ]
    show("Minimums", ("what", "measured", "minimum", ""), (minimum.row() for minimum in minimums))
    show_load()
    return int(not all(minimum.reached for minimum in minimums))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
