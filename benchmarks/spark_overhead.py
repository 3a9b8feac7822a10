"""What provenn adds to Spark: a lineage computed by provenn, and the same DataFrames written by hand.

Run ``python -m benchmarks.spark_overhead``; ``--rows`` for fewer than ten million, ``--large`` for fifty million, of
which only the rewritten lineage is computed, without joins; ``--rewritten`` for this lineage alone at any size. Both
end in the same aggregate of all columns and take turns, on one Spark. Planning, the checks of the files and their
listing are in provenn's time.

*literally*: as the definition says, with all its joins; *rewritten*: as a user gets it, against code without the joins
that provenn finds needless.
"""

from __future__ import annotations

import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

import provenn
from benchmarks.measure import Minimum, show, show_load, shown
from benchmarks.photometry import write_stars
from tests.spark.plain_plan import prepare_plain

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

    from provenn.archive import Archive, Catalog

__all__ = ["main", "measure"]

ROWS = 10_000_000
LARGE = 50_000_000
REPEATS = 5
LARGE_REPEATS = 3

MOST_JOINED = 20_000_000
"""The most rows whose lineage is computed literally, with its joins."""

# What is promised.
MOST = 5
"""How many percent longer than by hand."""

_STARS = "id BIGINT, vmag DOUBLE, plx DOUBLE, g DOUBLE, r DOUBLE, i DOUBLE"


def lineage(stars: Catalog) -> Catalog:
    """Bright stars with a colour and a distance, and near ones besides; none of them twice."""
    coloured = stars.derive(colour="g - r").select("vmag < 15")
    placed = stars.select("plx > 1").derive(distance="1000 / plx")
    bright = coloured.combine(placed).rename(vmag="v").keep("v", "plx", "colour", "distance")
    return bright.exclude(stars.select("i > 19")).select("colour < 10")


def literally_by_hand(stars: DataFrame) -> DataFrame:
    """The same, step by step."""
    coloured = stars.selectExpr("*", "g - r AS colour").where("vmag < 15")
    placed = stars.where("plx > 1").selectExpr("id", "1000 / plx AS distance")
    bright = coloured.join(placed, "id").selectExpr("id", "vmag AS v", "plx", "colour", "distance")
    return bright.join(stars.where("i > 19").select("id"), "id", "left_anti").where("colour < 10")


def rewritten_by_hand(stars: DataFrame) -> DataFrame:
    """The same, by somebody who sees that all of it is in one row."""
    chosen = stars.where("vmag < 15 AND plx > 1 AND g - r < 10 AND (i > 19) IS NOT TRUE")
    return chosen.selectExpr("id", "vmag AS v", "plx", "g - r AS colour", "1000 / plx AS distance")


def _totals(frame: DataFrame) -> Row:
    sums = (f"sum({name})" for name in ("id", "v", "plx", "colour", "distance"))
    return frame.selectExpr("count(*)", *sums).collect()[0]


def measure(
    archive: Archive, stars: Catalog, file: Path, repeats: int, *, joined: bool = True
) -> dict[str, tuple[float, float]]:
    """Return the seconds, at the median, of provenn and of what is written by hand, for each pair.

    Without `joined`, only for the rewritten lineage.

    Raises
    ------
    AssertionError
        If they give different results.
    """
    pipeline = archive.context.workshop.pipeline()
    session: SparkSession = pipeline.engine.session
    wanted = lineage(stars)

    def read() -> DataFrame:
        return session.read.schema(_STARS).parquet(str(file))

    pairs: dict[str, tuple[Callable[[], DataFrame], Callable[[], DataFrame]]] = {
        "literally": (
            lambda: prepare_plain(pipeline, wanted.definition, "a lineage").frame,
            lambda: literally_by_hand(read()),
        ),
        "rewritten": (wanted.to_spark, lambda: rewritten_by_hand(read())),
    }
    if not joined:
        del pairs["literally"]
    found = {}
    for name, ways in pairs.items():
        took: list[list[float]] = [[], []]
        for turn in range(repeats + 1):
            totals = []
            for number, way in enumerate(ways):
                start = perf_counter()
                totals.append(_totals(way()))
                if turn:  # the first is for Java to compile
                    took[number].append(perf_counter() - start)
            assert _alike(*totals), f"{name}: {totals}"
        found[name] = (median(took[0]), median(took[1]))
    return found


def _alike(one: Row, other: Row) -> bool:
    """Whether totals are equal; sums depend a little on the order of the rows."""
    return all(abs(a - b) <= 1e-9 * abs(b) for a, b in zip(one, other, strict=True))


def main(arguments: Sequence[str] = ()) -> int:
    """Measure, print a table, and return 1 if the overhead is too large."""
    parser = ArgumentParser(description="what provenn adds to Spark")
    parser.add_argument("--rows", type=int, default=ROWS, help="how many stars")
    parser.add_argument("--large", action="store_const", dest="rows", const=LARGE, help="fifty million stars")
    parser.add_argument("--rewritten", action="store_true", help="only the lineage without needless joins")
    parser.add_argument("--repeats", type=int, default=None, help="how often each is computed")
    options = parser.parse_args(list(arguments))
    joined = options.rows <= MOST_JOINED and not options.rewritten
    repeats = options.repeats or (REPEATS if joined else LARGE_REPEATS)
    show_load()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "stars.parquet"
        write_stars(file, options.rows)
        with provenn.open(Path(folder) / "archive", progress=False) as archive:
            stars = archive.ingest("stars", file, key="id", population="star", verify=True)
            found = measure(archive, stars, file, repeats, joined=joined)
    show(
        f"{shown(options.rows)} stars, the median of {repeats}: seconds, and stars a second",
        ("", "provenn", "by hand", "ratio", "provenn, stars/s", "by hand, stars/s"),
        (
            (
                *(name, shown(ours), shown(hand), f"{ours / hand:.3f} x"),
                *(shown(options.rows / seconds) for seconds in (ours, hand)),
            )
            for name, (ours, hand) in found.items()
        ),
    )
    minimums = [Minimum(name, 100 * (ours / hand - 1), MOST, "%", at_most=True) for name, (ours, hand) in found.items()]
    show("Minimums", ("what", "measured", "minimum", ""), (minimum.row() for minimum in minimums))
    show_load()
    return int(not all(minimum.reached for minimum in minimums))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
