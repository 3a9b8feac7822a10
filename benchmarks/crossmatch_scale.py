"""A cross-match of thousands of millions of rows: how large its partitions would be, and how fast some millions are.

Run ``python -m benchmarks.crossmatch_scale`` for the simulation: it draws positions on a sky with a crowded disc, and
computes from the cells of `provenn.spark.crossmatch` how many rows are copied, compared and shuffled, and how evenly
they are divided among partitions. No row is matched.

``--measure 10000000`` also matches two catalogs of that size, and prints the rows for each second of a core, and the
hours that the large match would take at this rate on ``--cores``. ``--engine spark`` leaves the match to Spark, which
is the way for that many rows; otherwise it is matched without Spark, up to the size of a look. The time is that of
reading Parquet, matching, and counting; seconds of processors count, which other work on the machine changes little.
"""

from __future__ import annotations

import math
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

from benchmarks.measure import show, show_load, shown
from provenn.targets.engine_choice import EngineChoice, choose_engine

__all__ = ["Sizes", "Sky", "draw_sky", "main", "measure_rate", "simulate_sizes"]

LEFT, RIGHT = 1_200_000_000, 1_800_000_000
"""The rows of the match that LSDB measured: 46 minutes on 128 cores."""

RADIUS, PARTITIONS, CORES, SAMPLE = 1.0, 20_000, 128, 1_000_000

ROW_BYTES = 56
"""What Spark shuffles of a row without attributes: key, position, cosine, cell, and 16 bytes of its own."""

_FLAT, _SCALE, _CENTRE = 0.3, 0.08, 4.0
"""A share of sources everywhere; the others lie in a disc, half of them towards its centre."""


@dataclass(frozen=True, slots=True)
class Sky:
    """Positions in degrees, and the share of all sources that lies in a steradian around each."""

    ra: np.ndarray
    dec: np.ndarray
    density: np.ndarray


@dataclass(frozen=True, slots=True)
class Sizes:
    """What a match of some rows would handle.

    Parameters
    ----------
    copies
        Into how many cells a row of the side that is copied comes, on average.
    compared
        How many pairs of rows meet in a cell, for each row of the other side.
    crowded
        How many rows of the other side the cell of a row has: for the row with the most of the sample.
    partition, largest
        How many rows a partition has on average, and the largest one.
    shuffled
        How many bytes are shuffled, without attributes.
    """

    copies: float
    compared: float
    crowded: float
    partition: float
    largest: float
    shuffled: float


def draw_sky(random: np.random.Generator, number: int) -> Sky:
    """Draw positions on a sky with a crowded disc: a tenth of it holds about two thirds of the sources."""
    is_flat, is_central = random.uniform(size=number) < _FLAT, random.uniform(size=number) < 0.5
    latitude = random.exponential(_SCALE, number) * random.choice([-1, 1], number)
    latitude = np.where(is_flat | (np.abs(latitude) > 1), random.uniform(-1, 1, number), latitude)
    longitude = np.where(
        is_central & ~is_flat, random.vonmises(0, _CENTRE, number), random.uniform(-np.pi, np.pi, number)
    )
    disc = np.exp(-np.abs(latitude) / _SCALE) / (2 * _SCALE)
    around = 0.5 + 0.5 * np.exp(_CENTRE * np.cos(longitude)) / np.i0(_CENTRE)
    density = (_FLAT * 0.5 + (1 - _FLAT) * disc * around) / (2 * np.pi)
    across = np.sqrt(1 - latitude**2)
    directions = np.array([across * np.cos(longitude), across * np.sin(longitude), latitude])
    from provenn.sky.frames import FRAMES  # noqa: PLC0415 - as below

    x, y, z = np.array(FRAMES["galactic"]) @ directions
    return Sky(np.degrees(np.arctan2(y, x)) % 360, np.degrees(np.arcsin(np.clip(z, -1, 1))), density)


def simulate_sizes(sky: Sky, left: int, right: int, radius: float, partitions: int) -> Sizes:
    """Compute what a match would handle; the smaller side is copied.

    Parameters
    ----------
    sky
        A sample of positions, on both sides.
    left, right
        The numbers of rows.
    radius
        In arcseconds.
    partitions
        The number of partitions into which Spark shuffles both sides.
    """
    from provenn.spark.crossmatch import count_cells  # noqa: PLC0415 - it imports pyspark

    zones, cells = count_cells(radius, sky.dec)
    height = 180 / zones * 3600
    width = np.maximum(np.cos(np.radians(sky.dec)), 1e-9) * 360 / cells * 3600
    rows = (1 + 2 * radius / height) * (1 + 2 * radius / width)
    square = math.radians(1 / 3600) ** 2
    copied, other = min(left, right), max(left, right)
    nearby = copied * sky.density * height * width * square * rows
    crowd = other * sky.density * height * width * square
    shuffled = copied * float(rows.mean()) + other
    mean = shuffled / partitions
    # A cell goes to one partition as a whole, which a hash chooses: the variance is the sum of squares of the cells.
    deviation = math.sqrt(shuffled / partitions * float((1 + nearby + crowd).mean()))
    largest = mean + deviation * math.sqrt(2 * math.log(max(partitions, 2)))
    return Sizes(float(rows.mean()), float(nearby.mean()), float(crowd.max()), mean, largest, shuffled * ROW_BYTES)


def measure_rate(
    rows: int, radius: float, repeats: int, place: Path, engine: EngineChoice = "auto"
) -> tuple[float, float, int]:
    """Match two catalogs of some rows; return seconds by the clock and of processors, and the number of pairs.

    The sides are written to a folder, if it has none. Each match has a radius of its own, so no answer is remembered.
    """
    import provenn  # noqa: PLC0415 - the simulation does without
    from benchmarks.crossmatch import write_sides  # noqa: PLC0415 - it imports pyarrow
    from benchmarks.measure import processor_time  # noqa: PLC0415

    if not (place / "left").exists():
        write_sides(place, rows, rows)
    took = []
    with (
        tempfile.TemporaryDirectory(dir=place) as temporary,
        provenn.open(Path(temporary) / "archive", progress=False) as archive,
    ):
        left, right = (archive.ingest(name, place / name, key="id", population="star") for name in ("left", "right"))
        for side in (left, right):
            side.restrict(side.select("vmag < 0")).count()  # verifies the keys
        for turn in range(repeats):
            used, start = processor_time(), perf_counter()
            pairs = left.crossmatch(right, radius + turn / 1000).count(engine=engine)
            took.append((perf_counter() - start, processor_time() - used))
    return median(clock for clock, _ in took), median(used for _, used in took), pairs


def main(arguments: Sequence[str] = ()) -> int:
    """Simulate and, if asked, measure; return 0."""
    parser = ArgumentParser(prog="python -m benchmarks.crossmatch_scale", description=__doc__)
    parser.add_argument("--left", type=int, default=LEFT, help="rows of the left side; default: %(default)s")
    parser.add_argument("--right", type=int, default=RIGHT, help="rows of the right side; default: %(default)s")
    parser.add_argument("--partitions", type=int, default=PARTITIONS, help="default: %(default)s")
    parser.add_argument("--cores", type=int, default=CORES, help="default: %(default)s")
    parser.add_argument("--measure", type=int, action="append", default=[], metavar="ROWS", help="may be repeated")
    parser.add_argument("--repeats", type=int, default=2, help="default: %(default)s")
    parser.add_argument("--engine", default="auto", help="auto, look or spark; default: %(default)s")
    parser.add_argument("--place", type=Path, help="a folder that keeps both sides for the next run of this size")
    options = parser.parse_args(arguments)
    sky = draw_sky(np.random.default_rng(1), SAMPLE)
    lines = []
    for radius in (0.1, RADIUS, 10.0):
        sizes = simulate_sizes(sky, options.left, options.right, radius, options.partitions)
        numbers = (f"{sizes.copies:.2f}", f"{sizes.compared:.2g}", shown(round(sizes.crowded)))
        partition = (shown(round(sizes.partition)), f"{100 * (sizes.largest / sizes.partition - 1):.1f} %")
        lines.append((f"{radius:g} arcsec", *numbers, *partition, f"{sizes.shuffled / 1e9:,.0f} GB"))
    show(
        f"{shown(options.left)} rows with {shown(options.right)}, in {shown(options.partitions)} partitions",
        ("radius", "copies of a row", "compared a row", "most in a cell", "rows a partition", "largest", "shuffled"),
        lines,
    )
    for rows in options.measure:
        with tempfile.TemporaryDirectory() as temporary:
            clock, used, pairs = measure_rate(
                rows, RADIUS, options.repeats, options.place or Path(temporary), choose_engine(options.engine)
            )
        rate = 2 * rows / used
        hours = (options.left + options.right) / rate / options.cores / 3600
        show(
            f"{shown(rows)} rows with as many, within {RADIUS:g} arcsec ({options.engine}): median, {options.repeats}",
            ("seconds", "processor", "pairs", "rows a second of a core", f"hours for all on {options.cores} cores"),
            [(shown(clock), shown(used), shown(pairs), shown(round(rate)), f"{hours:.2f}")],
        )
    if options.measure:
        show_load()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
