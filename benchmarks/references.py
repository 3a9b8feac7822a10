"""What follows references between populations: by provenn, and by the best that was written by hand for Spark.

Run ``python -m benchmarks references``, or ``python -m benchmarks.references --quick`` for a tenth of the rows.
Detections refer to objects. Each request is answered by provenn and in several ways that somebody would write who knows
the data; all take turns on one Spark, and the best of those by hand counts. Rows are computed with all their columns
and thrown away. Planning, the checks of the files and their listing are in provenn's time. The first turns are not
counted: provenn then verifies keys and references, Java compiles, and the results are compared.
"""

from __future__ import annotations

import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import provenn
from benchmarks.measure import show, show_load, shown
from benchmarks.photometry import redshift

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

__all__ = ["REQUESTS", "Cost", "Survey", "main", "measure_request"]

DETECTIONS = 4_000_000
OBJECTS = 100_000
QUICK = 10
"""By how much the tables are smaller when it is to be quick."""

REPEATS = 7

MOST_TIMES = 1.1
"""How many times as long as by hand provenn may take; or, for short requests, so many seconds longer."""

MOST_LONGER = 0.15

_DETECTIONS = "id BIGINT, objid BIGINT, mjd DOUBLE, mag DOUBLE"
_OBJECTS = "objid BIGINT, vmag DOUBLE, g DOUBLE, r DOUBLE"
_ROWS_A_GROUP = 250_000

Frame = Callable[[], "DataFrame"]


class Survey:
    """Objects and detections: files, and an archive of them.

    Parameters
    ----------
    session
        Computes everything.
    place
        An empty folder.
    detections, objects
        How many there are.
    """

    def __init__(self, session: SparkSession, place: Path, detections: int, objects: int) -> None:
        self.place = place
        _write_tables(place, detections, objects)
        self.archive = provenn.open(place / "archive", spark=session, progress=False)
        self.objects = self.archive.ingest(
            "objects", place / "objects.parquet", key="objid", population="object", verify=True
        )
        self.detections = self.archive.ingest(
            "detections", place / "detections.parquet", key="id", population="detection", verify=True
        )
        # A definition says that detections refer to objects; targets follow what is defined.
        self.detections.lookup(self.objects, on="objid", attributes=["vmag"], name="with magnitudes")
        self.archive.calculator("redshift", redshift, inputs=["g", "r"], outputs={"redshift": "double"}, kind="arrow")

    @cached_property
    def session(self) -> SparkSession:
        """The session of the archive: what is written by hand has the same settings."""
        return self.archive.context.workshop.pipeline().engine.session

    def read_objects(self) -> DataFrame:
        """Read the objects by hand; their columns are known, so that no file is opened to look for them."""
        return self.session.read.schema(_OBJECTS).parquet(str(self.place / "objects.parquet"))

    def read_detections(self) -> DataFrame:
        """Read the detections by hand."""
        return self.session.read.schema(_DETECTIONS).parquet(str(self.place / "detections.parquet"))


@dataclass(frozen=True, slots=True)
class Request:
    """A request by provenn, and the ways to write it by hand.

    Parameters
    ----------
    ask
        Ask provenn.
    by_hand
        The ways by hand, by name.
    totals
        Expressions over all rows, by which the results are compared.
    """

    ask: Frame
    by_hand: Mapping[str, Frame]
    totals: Sequence[str]


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds at the median: of provenn, of its planning alone, and of each way by hand."""

    provenn: float
    planning: float
    by_hand: Mapping[str, float]

    @property
    def best(self) -> str:
        """The quickest way by hand."""
        return min(self.by_hand, key=lambda way: self.by_hand[way])

    @property
    def ratio(self) -> float:
        """How many times as long as the best by hand provenn took."""
        return self.provenn / self.by_hand[self.best]

    @property
    def is_reached(self) -> bool:
        """Whether provenn took at most as long as promised."""
        return self.ratio <= MOST_TIMES or self.provenn - self.by_hand[self.best] <= MOST_LONGER


# -- the requests ---------------------------------------------------------------------------------------------------


def look_up(survey: Survey) -> Request:
    """All detections with attributes of their objects."""
    from pyspark.sql import functions as sql  # noqa: PLC0415 - without pyspark, benchmarks are still listed

    catalog = survey.detections.lookup(survey.objects, on="objid", attributes=["vmag", "g"])

    def join(objects: DataFrame) -> DataFrame:
        return survey.read_detections().join(objects, "objid")

    columns = ("objid", "vmag", "g")
    return Request(
        catalog.to_spark,
        {
            "broadcast": lambda: join(sql.broadcast(survey.read_objects().select(*columns))),
            "as Spark decides": lambda: join(survey.read_objects().select(*columns)),
        },
        ["count(*)", "sum(id)", "sum(mag)", "sum(mjd)", "sum(vmag)", "sum(g)"],
    )


def select_by_partner(survey: Survey) -> Request:
    """The bright detections of bright objects."""
    from pyspark.sql import functions as sql  # noqa: PLC0415

    catalog = survey.detections.select("objid.vmag < 2 AND mag < 5")

    def join() -> DataFrame:
        bright = survey.read_objects().where("vmag < 2").select("objid")
        return survey.read_detections().where("mag < 5").join(sql.broadcast(bright), "objid", "left_semi")

    return Request(catalog.to_spark, {"broadcast": join}, ["count(*)", "sum(id)", "sum(mag)", "sum(mjd)"])


def keep_having(survey: Survey) -> Request:
    """The objects that have a bright detection."""
    from pyspark.sql import functions as sql  # noqa: PLC0415

    catalog = survey.objects.having(survey.detections.select("mag < 5"), on="objid")

    def read() -> DataFrame:
        return survey.read_detections().where("mag < 5").select("objid")

    return Request(
        catalog.to_spark,
        {
            "as Spark decides": lambda: survey.read_objects().join(read(), "objid", "left_semi"),
            "distinct": lambda: survey.read_objects().join(read().distinct(), "objid", "left_semi"),
            "distinct, broadcast": lambda: survey.read_objects().join(
                sql.broadcast(read().distinct()), "objid", "left_semi"
            ),
            "broadcast": lambda: survey.read_objects().join(sql.broadcast(read()), "objid", "left_semi"),
        },
        ["count(*)", "sum(objid)", "sum(vmag)", "sum(g)", "sum(r)"],
    )


def group(survey: Survey) -> Request:
    """Statistics of the detections of each object."""
    values = {"n": "count(*)", "mean": "avg(mag)", "scatter": "stddev(mag)", "latest": "max(mjd)"}
    catalog = survey.detections.group("objid", values, population="object")

    def aggregate() -> DataFrame:
        from pyspark.sql import functions as sql  # noqa: PLC0415

        return survey.read_detections().groupBy("objid").agg(*(sql.expr(v).alias(name) for name, v in values.items()))

    return Request(
        catalog.to_spark,
        {"groupBy": aggregate},
        ["count(*)", "sum(objid)", "sum(n)", "sum(mean)", "sum(scatter)", "sum(latest)"],
    )


def collect(survey: Survey) -> Request:
    """The light curve of each object."""
    catalog = survey.detections.group("objid", population="object", mags="collect(mag ORDER BY mjd)")
    pairs = "sort_array(collect_list(struct(mjd, id, mag)))"

    def aggregate() -> DataFrame:
        from pyspark.sql import functions as sql  # noqa: PLC0415

        return survey.read_detections().groupBy("objid").agg(sql.expr(f"{pairs}.mag").alias("mags"))

    return Request(
        catalog.to_spark,
        {"sort_array": aggregate},
        ["count(*)", "sum(objid)", "sum(size(mags))", "sum(mags[0])", "sum(mags[3])"],
    )


def keep_first(survey: Survey) -> Request:
    """The latest detection of each object."""
    from pyspark.sql import functions as sql  # noqa: PLC0415

    catalog = survey.detections.first(by="objid", order="mjd DESC")
    rank = "row_number() OVER (PARTITION BY objid ORDER BY mjd DESC, id)"

    def aggregate() -> DataFrame:
        latest = sql.expr("max_by(struct(id, mjd, mag), struct(mjd, -id))").alias("latest")
        return survey.read_detections().groupBy("objid").agg(latest).select("objid", "latest.*")

    return Request(
        catalog.to_spark,
        {
            "row_number": lambda: survey.read_detections().selectExpr("*", f"{rank} AS k").where("k = 1").drop("k"),
            "max_by": aggregate,
        },
        ["count(*)", "sum(objid)", "sum(id)", "sum(mag)", "sum(mjd)"],
    )


def request_of_partners(survey: Survey) -> Request:
    """Redshifts, which a Python function fits to objects, of the detections of a night: one fit an object."""
    from pyspark.sql import functions as sql  # noqa: PLC0415
    from pyspark.sql.pandas.functions import arrow_udf  # noqa: PLC0415
    from pyspark.sql.types import DoubleType  # noqa: PLC0415

    fit = arrow_udf(_fit_arrays, DoubleType())  # type: ignore[call-overload] # the annotations tell its kind
    night = "mjd < 0.01"

    def ask() -> DataFrame:
        target = survey.archive.target("detections", ["mag", "redshift"], where=night, keep="never")
        return target.to_spark()

    def calculate(*, distinct: bool) -> DataFrame:
        detections = survey.read_detections().where(night)
        referred = detections.select("objid")
        referred = sql.broadcast(referred.distinct() if distinct else referred)
        objects = survey.read_objects().join(referred, "objid", "left_semi")
        fits = objects.select("objid", fit("g", "r").alias("redshift"))
        return (
            detections.select("id", "objid", "mag").join(sql.broadcast(fits), "objid").select("id", "mag", "redshift")
        )

    return Request(
        ask,
        {"semi join": lambda: calculate(distinct=False), "distinct": lambda: calculate(distinct=True)},
        ["count(*)", "sum(id)", "sum(mag)", "sum(redshift)"],
    )


def _fit_arrays(g: pa.Array, r: pa.Array) -> pa.Array:
    return redshift(pa.table({"g": g, "r": r}))["redshift"].combine_chunks()


REQUESTS: Mapping[str, Callable[[Survey], Request]] = {
    "lookup": look_up,
    "selection by partner": select_by_partner,
    "semi join (having)": keep_having,
    "group": group,
    "group, collect": collect,
    "first": keep_first,
    "target through a reference": request_of_partners,
}


# -- measuring ------------------------------------------------------------------------------------------------------


def measure_request(request: Request, repeats: int) -> Cost:
    """Measure a request, after a first turn in which the results are compared.

    Raises
    ------
    AssertionError
        If the results differ.
    """
    mine = _total(request.ask(), request.totals)
    for way, frame in request.by_hand.items():
        theirs = _total(frame(), request.totals)
        assert _agree(mine, theirs), f"{way}: {theirs}, and not {mine}"
    planning: list[float] = []
    times: dict[str, list[float]] = {way: [] for way in ("", *request.by_hand)}
    for turn in range(repeats + 1):
        for way, frame in {"": request.ask, **request.by_hand}.items():
            began = perf_counter()
            made = frame()
            planned = perf_counter() - began
            made.write.format("noop").mode("overwrite").save()
            if turn:
                times[way].append(perf_counter() - began)
                if not way:
                    planning.append(planned)
    medians = {way: median(taken) for way, taken in times.items()}
    return Cost(medians.pop(""), median(planning), medians)


def _total(frame: DataFrame, totals: Iterable[str]) -> Row:
    return frame.selectExpr(*totals).collect()[0]


def _agree(mine: Row, theirs: Row) -> bool:
    """Whether totals are equal; sums of fractions depend a little on the order of the rows."""
    return all(abs(a - b) <= 1e-9 * abs(b) for a, b in zip(mine, theirs, strict=True))


def _write_tables(place: Path, detections: int, objects: int) -> None:
    """Write objects, and detections that refer to them in any order: to some of them ten times as often."""
    place.mkdir(parents=True)
    random = np.random.default_rng(19)
    keys = random.permutation(objects)
    magnitudes = {band: random.random(objects) * 20 for band in ("vmag", "g", "r")}
    parquet.write_table(pa.table({"objid": keys, **magnitudes}), place / "objects.parquet")
    weights = np.where(np.arange(objects) % 10, 1.0, 10.0)
    table = {
        "id": np.arange(detections),
        "objid": random.choice(objects, detections, p=weights / weights.sum()),
        "mjd": random.random(detections),
        "mag": random.random(detections) * 20,
    }
    parquet.write_table(pa.table(table), place / "detections.parquet", row_group_size=_ROWS_A_GROUP)


def main(arguments: Sequence[str] = ()) -> int:
    """Measure, print a table, and return 1 if a request takes longer than promised."""
    parser = ArgumentParser(prog="python -m benchmarks.references", description=__doc__)
    parser.add_argument("--detections", type=int, default=DETECTIONS)
    parser.add_argument("--objects", type=int, default=OBJECTS)
    parser.add_argument("--repeats", type=int, default=REPEATS, help="how often each way is measured")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--only", choices=REQUESTS, nargs="+", default=list(REQUESTS))
    asked = parser.parse_args(arguments)
    share = QUICK if asked.quick else 1
    show_load()
    costs = {}
    with tempfile.TemporaryDirectory() as folder, provenn.open(Path(folder, "warm"), progress=False) as warm:
        session = warm.context.workshop.pipeline().engine.session
        survey = Survey(session, Path(folder, "survey"), asked.detections // share, asked.objects // share)
        for name in asked.only:
            costs[name] = measure_request(REQUESTS[name](survey), asked.repeats)
            print(f"{name} is measured", flush=True)
        survey.archive.close()
    _show(costs, f"{shown(asked.detections // share)} detections of {shown(asked.objects // share)} objects")
    show_load()
    return int(not all(cost.is_reached for cost in costs.values()))


def _show(costs: Mapping[str, Cost], data: str) -> None:
    show(
        f"{data}: seconds at the median; at most {MOST_TIMES} times, or {MOST_LONGER} s more than, by hand",
        ("request", "provenn", "of which planning", "by hand", "the best way by hand", "ratio", ""),
        [
            (
                name,
                f"{cost.provenn:.2f}",
                f"{cost.planning:.2f}",
                f"{cost.by_hand[cost.best]:.2f}",
                cost.best,
                f"{cost.ratio:.2f}",
                "reached" if cost.is_reached else "NOT REACHED",
            )
            for name, cost in costs.items()
        ],
    )
    show(
        "all ways by hand, seconds at the median",
        ("request", "way", "seconds"),
        [(name, way, f"{seconds:.2f}") for name, cost in costs.items() for way, seconds in cost.by_hand.items()],
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
