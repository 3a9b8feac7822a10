"""A cross-match by provenn, by STILTS and by astropy, in turns in one run: the nearest neighbour within a radius.

Run ``python -m benchmarks.crossmatch``; ``--rows`` for fewer than a million stars. They are matched with 118 218
others, as many as Hipparcos has; three in ten lie near one of these. All three must find as many.

provenn reads Parquet, counts the pairs, and writes them to a folder of Parquet with all attributes of both sides; Spark
is started and warm, and the key of the files verified, before. STILTS (``tmatch2 matcher=sky find=best1``) is a
command: it starts its Java every time, which is also measured by itself, reads FITS and writes FITS. astropy
(``match_to_catalog_sky``) gets arrays that are in memory, and gives the numbers of the rows.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import provenn
from benchmarks.measure import Minimum, processor_time, show, show_load, shown

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Took", "count_pairs", "main", "measure", "write_sides", "write_skies"]

T = TypeVar("T")

ROWS, OTHERS = 1_000_000, 118_218
RADII = (1.0, 2.0, 5.0)
REPEATS = 3
WARM, FIRST = 1, 4
"""How many turns come before, and matches before all: Java compiles what Spark does, and files are not in memory."""

# What is promised.
FASTER = 1.0
"""How many times as fast as STILTS it is at least, with all that it writes; and as astropy, which only counts."""

Took = dict[str, tuple[float, float]]
"""Seconds by the clock and of processors, on which other work tells less; by way."""


def write_skies(folder: Path, rows: int, others: int) -> None:
    """Write both catalogs, as Parquet and as FITS."""
    from astropy.table import Table  # noqa: PLC0415 - it takes a while

    random = np.random.default_rng(8)
    right = _anywhere(random, others)
    left = _anywhere(random, rows)
    near = rows * 3 // 10
    whom = random.integers(0, others, near)
    left[1][:near] = np.clip(right[1][whom] + random.normal(0, 1.5 / 3600, near), -90, 90)
    left[0][:near] = (right[0][whom] + random.normal(0, 1.5 / 3600, near) / np.cos(np.radians(left[1][:near]))) % 360
    order = random.permutation(rows)
    for name, (ra, dec), number in (("left", [one[order] for one in left], rows), ("right", right, others)):
        columns = {"id": np.arange(number), "ra": ra, "dec": dec, "vmag": random.normal(9, 2, number)}
        columns |= {one: random.normal(0, 20, number) for one in ("plx", "pmra", "pmdec")}
        parquet.write_table(pa.table(columns), folder / f"{name}.parquet")
        Table(columns).write(folder / f"{name}.fits", overwrite=True)


def write_sides(folder: Path, rows: int, others: int) -> None:
    """Write both catalogs as Parquet alone, a million rows at a time: a third of the left side lies near the right."""
    random = np.random.default_rng(9)
    for name, number in (("right", others), ("left", rows)):
        (folder / name).mkdir()
        for file, first in enumerate(range(0, number, 1_000_000)):
            size = min(1_000_000, number - first)
            ra, dec = _anywhere(random, size)
            if name == "left":
                right = parquet.read_table(folder / "right" / f"{file % -(-others // 1_000_000)}.parquet")
                near = min(size // 3, len(right))
                dec[:near] = np.clip(right["dec"].to_numpy()[:near] + random.normal(0, 0.3 / 3600, near), -90, 90)
                ra[:near] = right["ra"].to_numpy()[:near]
            columns = {"id": np.arange(first, first + size), "ra": ra, "dec": dec, "vmag": random.normal(9, 2, size)}
            parquet.write_table(pa.table(columns), folder / name / f"{file}.parquet")


def count_pairs(folder: Path, radius: float, spark: SparkSession | str | None) -> tuple[tuple[float, float], int]:
    """Match both catalogs of `write_sides`, and count the pairs; return the seconds, and the number of pairs."""
    with (
        tempfile.TemporaryDirectory(dir=folder) as place,
        provenn.open(Path(place) / "archive", spark=spark, progress=False) as archive,
    ):
        left, right = (archive.ingest(name, folder / name, key="id", population="star") for name in ("left", "right"))
        left.restrict(right).count()  # verifies the keys
        return _timed(left.crossmatch(right, radius).count)


def _anywhere(random: np.random.Generator, number: int) -> tuple[np.ndarray, np.ndarray]:
    return random.uniform(0, 360, number), np.degrees(np.arcsin(random.uniform(-1, 1, number)))


def measure(folder: Path, radius: float, repeats: int, spark: SparkSession | str | None) -> tuple[Took, int]:
    """Match within a radius in every way, in turns; return the medians, and how many pairs there are.

    Raises
    ------
    AssertionError
        If the ways do not find the same number of pairs.
    """
    took: dict[str, list[tuple[float, float]]] = {}
    found: set[int] = set()
    for turn in range(repeats + WARM):
        for way in (_provenn, _stilts, _astropy):
            seconds, pairs = way(folder, radius, spark)
            found.add(pairs)
            for name, each in seconds.items():
                took.setdefault(name, []).extend([each] * (turn >= WARM))
    assert len(found) == 1, f"not as many pairs everywhere: {sorted(found)}"
    medians = {
        name: (median(clock for clock, _ in several), median(used for _, used in several))
        for name, several in took.items()
        if several
    }
    return medians, found.pop()


def _provenn(folder: Path, radius: float, spark: SparkSession | str | None) -> tuple[Took, int]:
    with (
        tempfile.TemporaryDirectory(dir=folder) as place,
        provenn.open(Path(place) / "archive", spark=spark, progress=False) as archive,
    ):
        left, right = (
            archive.ingest(name, folder / f"{name}.parquet", key="id", population="star") for name in ("left", "right")
        )
        left.restrict(right).count()  # verifies the keys
        pairs = left.crossmatch(right, radius)
        counted, rows = _timed(pairs.count)
        whole, _ = _timed(lambda: pairs.write(Path(place) / "pairs", format="parquet"))
        return {"provenn, to Parquet": whole, "provenn, count": counted}, rows


def _timed(work: Callable[[], T]) -> tuple[tuple[float, float], T]:
    used, start = processor_time(), perf_counter()
    result = work()
    return (perf_counter() - start, processor_time() - used), result


def _stilts(folder: Path, radius: float, spark: object) -> tuple[Took, int]:  # noqa: ARG001 - as the others
    from astropy.io import fits  # noqa: PLC0415 - it takes a while

    out = folder / "stilts.fits"
    match = ["tmatch2", "matcher=sky", f"params={radius}", "find=best1", "progress=none", "values1=ra dec"]
    match += ["values2=ra dec", f"in1={folder / 'left.fits'}", f"in2={folder / 'right.fits'}", f"out={out}"]
    seconds = {"STILTS, FITS to FITS": _run(match), "STILTS, start alone": _run(["-version"])}
    return seconds, int(fits.getheader(out, 1)["NAXIS2"])


def _run(arguments: Sequence[str]) -> tuple[float, float]:
    return _timed(lambda: subprocess.run(["stilts", *arguments], check=True, capture_output=True))[0]


def _astropy(folder: Path, radius: float, spark: object) -> tuple[Took, int]:  # noqa: ARG001 - as the others
    from astropy import units  # noqa: PLC0415 - it takes a while
    from astropy.coordinates import SkyCoord  # noqa: PLC0415

    tables = [parquet.read_table(folder / f"{name}.parquet", columns=["ra", "dec"]) for name in ("left", "right")]
    columns = [(one["ra"].to_numpy(), one["dec"].to_numpy()) for one in tables]

    def match() -> int:
        left, right = (SkyCoord(ra * units.deg, dec * units.deg) for ra, dec in columns)
        _, apart, _ = left.match_to_catalog_sky(right)
        return int(np.count_nonzero(apart.arcsec <= radius))

    took, pairs = _timed(match)
    return {"astropy, in memory": took}, pairs


def main(arguments: Sequence[str] = ()) -> int:
    """Measure; return 1 if somebody else was faster."""
    parser = ArgumentParser(prog="python -m benchmarks.crossmatch", description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help="how many stars; default: %(default)s")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="default: %(default)s")
    given = parser.parse_args(arguments)
    if shutil.which("stilts") is None:
        print("STILTS is not installed: apt-get install stilts")
        return 0
    from provenn.spark.engine import Engine  # noqa: PLC0415 - starting it is not measured

    found: dict[float, tuple[Took, int]] = {}
    with tempfile.TemporaryDirectory() as place, Engine() as engine:
        write_skies(Path(place), given.rows, min(OTHERS, given.rows))
        for _ in range(FIRST):
            _provenn(Path(place), RADII[-1], engine.session)
        for radius in RADII:
            found[radius] = measure(Path(place), radius, given.repeats, engine.session)
    ways = list(found[RADII[0]][0])
    rows = [(way, *(shown(found[radius][0][way][at]) for at in (0, 1) for radius in RADII)) for way in ways]
    rows.append(("pairs", *(shown(found[radius][1]) for radius in RADII), *[""] * len(RADII)))
    title = f"{shown(given.rows)} stars matched with {shown(min(OTHERS, given.rows))}"
    show(
        f"{title}: seconds, the median of {given.repeats}",
        ("way", *(f"{radius:g} arcsec{what}" for what in ("", ", processor") for radius in RADII)),
        rows,
    )
    minimums = [
        Minimum(f"{whom} : {ours}, {radius:g} arcsec", took[whom][0] / took[ours][0], FASTER)
        for whom, ours in (("STILTS, FITS to FITS", "provenn, to Parquet"), ("astropy, in memory", "provenn, count"))
        for radius, (took, _) in found.items()
    ]
    show("Minimums", ("what", "measured", "minimum", ""), (minimum.row() for minimum in minimums))
    show_load()
    return int(not all(minimum.reached for minimum in minimums))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
