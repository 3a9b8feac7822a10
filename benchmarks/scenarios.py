"""Requests for attributes of stars, each answered in three ways that must agree.

By provenn, as a user asks; by plain Spark, which does what the same lineage says, literally; and by hand, as somebody
would write it who knows the data, the lineage, and where earlier results lie.

`SCENARIOS` lists them. Each has an archive of its own, and all share one Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from shutil import rmtree
from typing import Any

import pyarrow as pa
from pyarrow import parquet
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.types import DoubleType

import provenn
from benchmarks.photometry import WIDE, redshift, temperature, write_stars, write_wide
from provenn.archive import Archive, Catalog, Target
from tests.spark.plain_plan import prepare_plain

__all__ = ["SCENARIOS", "Sky", "Ways", "write_tables"]

_STARS = "id BIGINT, vmag DOUBLE, plx DOUBLE, g DOUBLE, r DOUBLE, i DOUBLE"
_FITTED = "id BIGINT, vmag DOUBLE, plx DOUBLE, redshift DOUBLE"


def _of_arrays(g: pa.Array, r: pa.Array) -> pa.Array:
    return redshift(pa.table({"g": g, "r": r}))["redshift"].combine_chunks()


def _of_array(colour: pa.Array) -> pa.Array:
    return temperature(pa.table({"colour": colour}))["temperature"].combine_chunks()


_redshift = arrow_udf(_of_arrays, DoubleType())  # type: ignore[call-overload] # the annotations tell its kind
_temperature = arrow_udf(_of_array, DoubleType())  # type: ignore[call-overload]


def write_tables(folder: Path, rows: int) -> None:
    """Write the tables that the scenarios read; the wide one has fewer rows."""
    write_stars(folder / "stars.parquet", rows)
    write_wide(folder / "wide.parquet", rows // 4)
    referring = pa.array(range(0, rows, 20), pa.int64())
    parquet.write_table(
        pa.table({"detid": pa.array(range(len(referring)), pa.int64()), "starid": referring}),
        folder / "detections.parquet",
    )


class Sky:
    """An archive with a table of stars and two calculators, for one scenario.

    Parameters
    ----------
    tables
        Where the tables lie.
    place
        A folder for the archive, and for what is stored by hand.
    spark
        Computes all of it.
    """

    def __init__(self, tables: Path, place: Path, spark: SparkSession) -> None:
        self.tables = tables
        self.place = place
        self.archive: Archive = provenn.open(place / "archive", spark=spark, progress=False)
        self.stars = self.archive.ingest("stars", tables / "stars.parquet", key="id", population="star", verify=True)
        self.archive.calculator("redshift", redshift, inputs=["g", "r"], outputs={"redshift": "double"}, kind="arrow")
        self.archive.calculator(
            "temperature", temperature, inputs=["colour"], outputs={"temperature": "double"}, kind="arrow"
        )

    @cached_property
    def session(self) -> SparkSession:
        """The session of the archive: what is written by hand has the same settings."""
        return self.archive.context.workshop.pipeline().engine.session

    def fitted(self) -> Catalog:
        """All stars with redshifts, which nobody would want to compute."""
        return self.stars.derive("redshift", name="fitted")

    def ask(self, sources: Catalog, *attributes: str, where: str | None = None) -> Target:
        """Ask, and keep nothing: the next run is to do the same."""
        return self.archive.target(sources, attributes, where=where, keep="never")

    # -- by hand -------------------------------------------------------------------------------------------------

    def read(self) -> DataFrame:
        """The stars; their columns are known, so that no file is opened to look for them."""
        return self.session.read.schema(_STARS).parquet(str(self.tables / "stars.parquet"))

    def fit(self, where: str, *columns: str) -> DataFrame:
        """Some stars, with redshifts."""
        return self.read().where(where).select("id", *columns, _redshift("g", "r").alias("redshift"))

    def keep(self, frame: DataFrame, name: str) -> None:
        """Store data, by hand."""
        frame.write.mode("overwrite").parquet(str(self.place / name))

    def kept(self, name: str) -> DataFrame:
        """What was stored by hand."""
        return self.session.read.schema(_FITTED).parquet(str(self.place / name))


@dataclass(frozen=True, slots=True)
class Ways:
    """A request, and how it is answered.

    Parameters
    ----------
    asked
        Ask: one request, or several one after the other.
    by_hand
        The same, written by hand.
    sky
        Whom to ask.
    reset
        Undo what a run leaves behind.
    """

    asked: Callable[[], Iterable[Target]]
    by_hand: Callable[[], Sequence[pa.Table]]
    sky: Sky
    reset: Callable[[], None] = field(default=lambda: None)

    def provenn(self) -> list[pa.Table]:
        """Answer as a user of provenn gets it."""
        return [one.to_arrow() for one in self.asked()]

    def plainly(self) -> Callable[[], list[pa.Table]]:
        """Return what answers as plain Spark does on the same lineage."""
        catalogs: list[Any] = [one.plan().catalog for one in self.asked()]
        pipeline = self.sky.archive.context.workshop.pipeline()
        return lambda: [prepare_plain(pipeline, one, "plainly").frame.toArrow() for one in catalogs]


def _once(sky: Sky, target: Callable[[], Target], by_hand: Callable[[], DataFrame]) -> Ways:
    return Ways(lambda: [target()], lambda: [by_hand().toArrow()], sky)


# -- nothing is stored --------------------------------------------------------------------------------------------


def selection_then_combine(sky: Sky) -> Ways:
    """The example of the paper: a selection, combined with an attribute that was derived for all."""
    both = sky.stars.select("vmag < 0.2").combine(sky.fitted())
    return _once(sky, lambda: sky.ask(both, "vmag", "redshift"), lambda: sky.fit("vmag < 0.2", "vmag"))


def chain_of_derives(sky: Sky) -> Ways:
    """What is asked for is derived from what is derived from what a calculator gives."""
    bright = sky.stars.select("vmag < 0.2")
    sky.stars.derive(colour="g - r").derive("temperature").derive(heat="temperature * temperature").derive(
        glow="log10(heat) - vmag"
    )

    def by_hand() -> DataFrame:
        frame = (
            sky.read().where("vmag < 0.2").select("id", "vmag", _temperature(sql.expr("g - r")).alias("temperature"))
        )
        frame = frame.selectExpr("id", "vmag", "temperature * temperature AS heat")
        return frame.selectExpr("id", "heat", "log10(heat) - vmag AS glow")

    return _once(sky, lambda: sky.ask(bright, "heat", "glow"), by_hand)


def union_of_overlapping_selections(sky: Sky) -> Ways:
    """Stars that are bright or near, each of them once."""
    sky.fitted()
    either = sky.stars.select("vmag < 0.2").concat(sky.stars.select("plx > 49.5"))
    return _once(
        sky,
        lambda: sky.ask(either, "vmag", "plx", "redshift"),
        lambda: sky.fit("vmag < 0.2 OR plx > 49.5", "vmag", "plx"),
    )


def difference(sky: Sky) -> Ways:
    """Bright stars that are not near; also those of which it is not known."""
    sky.fitted()
    rest = sky.stars.select("vmag < 0.4").exclude(sky.stars.select("plx > 25"))
    return _once(
        sky,
        lambda: sky.ask(rest, "vmag", "plx", "redshift"),
        lambda: sky.fit("vmag < 0.4 AND (plx > 25) IS NOT TRUE", "vmag", "plx"),
    )


def diamond(sky: Sky) -> Ways:
    """Two ways from the same stars, brought together again, and a few of the result."""
    both = sky.fitted().combine(sky.stars.derive(colour="g - r").derive("temperature"))
    few = both.select("vmag < 0.2")

    def by_hand() -> DataFrame:
        frame = sky.read().where("vmag < 0.2")
        fits = _redshift("g", "r").alias("redshift"), _temperature(sql.expr("g - r")).alias("temperature")
        return frame.select("id", "vmag", *fits)

    return _once(sky, lambda: sky.ask(few, "vmag", "redshift", "temperature"), by_hand)


def wide_table_few_attributes(sky: Sky) -> Ways:
    """Two attributes of a catalog that combines all that anybody has derived from a wide table."""
    file = sky.tables / "wide.parquet"
    wide = sky.archive.ingest("wide", file, key="id", population="wide star", verify=True)
    ratios = [wide.derive({f"ratio_{n}": f"flux_{n} / flux_{n + 1}"}) for n in range(3)]
    everything = wide.derive("redshift").combine(*ratios)
    schema = "id BIGINT, vmag DOUBLE, flux_1 DOUBLE, flux_2 DOUBLE"

    def by_hand() -> DataFrame:
        frame = sky.session.read.schema(schema).parquet(str(file)).where("vmag < 0.2")
        return frame.selectExpr("id", "flux_1 / flux_2 AS ratio_1", f"vmag + {WIDE} AS shifted")

    few = everything.select("vmag < 0.2").derive(shifted=f"vmag + {WIDE}")
    return _once(sky, lambda: sky.ask(few, "ratio_1", "shifted"), by_hand)


def empty_by_proof(sky: Sky) -> Ways:
    """Bright stars that are faint."""
    sky.fitted()
    bright = sky.stars.select("vmag < 6")
    nothing = pa.schema([("id", pa.int64()), ("redshift", pa.float64())]).empty_table()
    return Ways(lambda: [sky.ask(bright, "redshift", where="vmag > 7")], lambda: [nothing], sky)


# -- something is stored ------------------------------------------------------------------------------------------


def _stored(sky: Sky, sources: Catalog, where: str) -> None:
    """Store redshifts of some stars, by provenn and by hand."""
    sky.archive.target(sources, ["vmag", "plx", "redshift"], keep="worthwhile").to_arrow()
    sky.keep(sky.fit(where, "vmag", "plx"), "stored")


def reuse_whole(sky: Sky) -> Ways:
    """Just what is asked for was computed before."""
    sky.fitted()
    bright = sky.stars.select("vmag < 0.4")
    _stored(sky, bright, "vmag < 0.4")
    return _once(
        sky, lambda: sky.ask(bright, "vmag", "redshift"), lambda: sky.kept("stored").select("id", "vmag", "redshift")
    )


def reuse_part(sky: Sky) -> Ways:
    """Half of what is asked for was computed before."""
    sky.fitted()
    _stored(sky, sky.stars.select("vmag < 0.2"), "vmag < 0.2")
    more = sky.stars.select("vmag < 0.4")

    def by_hand() -> DataFrame:
        return sky.kept("stored").drop("plx").union(sky.fit("vmag >= 0.2 AND vmag < 0.4", "vmag"))

    return _once(sky, lambda: sky.ask(more, "vmag", "redshift"), by_hand)


def narrower_criterion_than_stored(sky: Sky) -> Ways:
    """More than is asked for was computed before."""
    sky.fitted()
    _stored(sky, sky.stars.select("vmag < 0.8"), "vmag < 0.8")
    few = sky.stars.select("vmag < 0.2")
    return _once(
        sky,
        lambda: sky.ask(few, "vmag", "redshift"),
        lambda: sky.kept("stored").where("vmag < 0.2").select("id", "vmag", "redshift"),
    )


def reordered_criteria(sky: Sky) -> Ways:
    """The same stars were selected in another order."""
    sky.fitted()
    _stored(sky, sky.stars.select("vmag < 2").select("plx > 45"), "vmag < 2 AND plx > 45")
    same = sky.stars.select("plx > 45").select("vmag < 2")
    return _once(
        sky, lambda: sky.ask(same, "vmag", "redshift"), lambda: sky.kept("stored").select("id", "vmag", "redshift")
    )


def same_query_again(sky: Sky) -> Ways:
    """The same stars and values, asked for by SQL that is written otherwise."""
    sky.fitted()
    _stored(sky, sky.archive.sql("SELECT * FROM fitted WHERE vmag < 2 AND plx > 45"), "vmag < 2 AND plx > 45")
    again = sky.archive.sql("SELECT redshift, vmag, id FROM fitted WHERE plx > 45 AND NOT (vmag >= 2)")
    return _once(
        sky, lambda: sky.ask(again, "vmag", "redshift"), lambda: sky.kept("stored").select("id", "vmag", "redshift")
    )


def narrower_query(sky: Sky) -> Ways:
    """Some of the stars of a query whose result is stored."""
    sky.fitted()
    _stored(sky, sky.archive.sql("SELECT * FROM fitted WHERE vmag < 0.8"), "vmag < 0.8")
    few = sky.archive.sql("SELECT id, vmag, redshift FROM fitted WHERE vmag < 0.2")
    return _once(
        sky,
        lambda: sky.ask(few, "vmag", "redshift"),
        lambda: sky.kept("stored").where("vmag < 0.2").select("id", "vmag", "redshift"),
    )


def having_detections(sky: Sky) -> Ways:
    """Attributes of the partners that detections refer to; a semi join of a small table."""
    file = sky.tables / "detections.parquet"
    detections = sky.archive.ingest("detections", file, key="detid", population="detection", verify=True)
    seen = sky.stars.having(detections, on="starid").select("vmag < 4")

    def by_hand() -> DataFrame:
        referring = sky.session.read.schema("detid BIGINT, starid BIGINT").parquet(str(file)).select("starid")
        stars = sky.read().where("vmag < 4")
        return stars.join(sql.broadcast(referring), stars["id"] == referring["starid"], "left_semi").select(
            "id", "vmag", "plx"
        )

    return _once(sky, lambda: sky.ask(seen, "vmag", "plx"), by_hand)


def two_users_asking_overlapping_targets(sky: Sky) -> Ways:
    """One user asks for some stars, and then another one for some of these and some more. Both results are kept."""
    sky.fitted()
    first = sky.stars.select("vmag < 0.4")
    second = sky.stars.select("vmag >= 0.2 AND vmag < 0.6")
    wanted = ("vmag", "plx", "redshift")

    def asked() -> Iterator[Target]:
        return (sky.archive.target(one, wanted) for one in (first, second))

    def by_hand() -> list[pa.Table]:
        sky.keep(sky.fit("vmag < 0.4", "vmag", "plx"), "first")
        found = sky.kept("first").toArrow()
        sky.keep(sky.fit("vmag >= 0.4 AND vmag < 0.6", "vmag", "plx"), "second")
        return [found, sky.kept("first").where("vmag >= 0.2").union(sky.kept("second")).toArrow()]

    def reset() -> None:
        sky.archive.collect_garbage(limit=0)
        for name in ("first", "second"):
            rmtree(sky.place / name, ignore_errors=True)

    return Ways(asked, by_hand, sky, reset)


SCENARIOS: Mapping[str, Callable[[Sky], Ways]] = {
    made.__name__.replace("_", " "): made
    for made in (
        selection_then_combine,
        chain_of_derives,
        union_of_overlapping_selections,
        difference,
        diamond,
        reuse_whole,
        reuse_part,
        narrower_criterion_than_stored,
        reordered_criteria,
        two_users_asking_overlapping_targets,
        same_query_again,
        narrower_query,
        having_detections,
        wide_table_few_attributes,
        empty_by_proof,
    )
}
