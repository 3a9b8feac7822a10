"""What files state of themselves holds for the rows as Spark reads them, for every type and several writers."""

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
from pyarrow import parquet

from provenn.catalogs import Base, Files, cone, verbs
from provenn.criteria import parse_criterion, render
from provenn.files.data_folder import DataFolder
from provenn.knowledge.consequences import build_knowledge
from provenn.spark.engine import Engine
from provenn.spark.reading import read_base
from provenn.targets.known import build_definition

COLUMNS = {
    "id": pa.array([1, 2, 3], pa.int64()),
    "tiny": pa.array([-128, None, 127], pa.int8()),
    "u8": pa.array([0, 200, 255], pa.uint8()),
    "u16": pa.array([1, 40_000, 65_535], pa.uint16()),
    "u32": pa.array([1, 2**31 + 3, 2**32 - 1], pa.uint32()),
    "u64": pa.array([7, 2**63 + 5, 2**64 - 1], pa.uint64()),
    "single": pa.array([-0.0, float("nan"), 1.5], pa.float32()),
    "number": pa.array([0.0, float("nan"), float("-inf")], pa.float64()),
    "small": pa.array([Decimal("-1.25"), Decimal("3.50"), None], pa.decimal128(5, 2)),
    "large": pa.array([Decimal("-1.25"), Decimal("3.50"), Decimal("1e20")], pa.decimal128(30, 2)),
    "text": pa.array(["é" * 30, "Vega", "😀"]),
    "good": pa.array([True, False, True]),
    "all": pa.array([True, True, True]),
    "day": pa.array([date(1582, 10, 15), date(2026, 11, 16), date(9999, 12, 31)]),
    "old": pa.array([date(1500, 1, 1), date(1900, 1, 1), None]),
    "local": pa.array([datetime(2026, 1, 1, 12), None, datetime(2026, 1, 2)], pa.timestamp("ms")),  # noqa: DTZ001 - no zone
    "zoned": pa.array(
        [datetime(1900, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC), None], pa.timestamp("us", "UTC")
    ),
    "seconds": pa.array([0, 10**9, 2 * 10**9], pa.timestamp("s", "Asia/Tokyo")),
    "none": pa.array([None, None, None], pa.int32()),
}
WITHOUT_DUCKDB = ("seconds",)


def count_violations(engine: Engine, base: Base, folder: Path) -> tuple[int, int]:
    """Return how many facts the files of a base state about its columns, and how many rows contradict one."""
    selections = [
        verbs.select(base, f"`{attribute.name}` IS NOT NULL" if attribute.nullable else f"`{attribute.name}` = 1")
        for attribute in base.schema.attributes
    ]
    known = build_knowledge(build_definition(catalog) for catalog in cone(*selections))
    rows = read_base(engine, base, DataFolder.of(folder / "data"))
    names = {attribute.identity: attribute.name for attribute in base.schema.attributes}
    attributes = dict(base.schema.by_identity)

    def write(label: str) -> str:
        if label == base.digest:
            return "true"
        return f"coalesce({render(parse_criterion(label, attributes, canonical=True), names)}, false)"

    conditions = [
        write_term(claim.region, write)
        for fact, origin in zip(known.knowledge.facts, known.origins, strict=True)
        if origin.kind in ("footers", "folders")
        for claim in fact.claims()
    ]
    either = " OR ".join(f"({condition})" for condition in conditions)
    return len(conditions), rows.filter(either).count()


def write_term(term, write) -> str:
    """Return a set as a condition in SQL."""

    class Text(str):
        __slots__ = ()

        def __and__(self, other: str) -> "Text":
            return Text(f"({self} AND {other})")

        def __or__(self, other: str) -> "Text":
            return Text(f"({self} OR {other})")

        def __xor__(self, other: str) -> "Text":
            return Text(f"({self} <> {other})")

    return term.evaluate(lambda label: Text(write(label)), Text("false"), Text("true"))


def test_facts_of_footers_and_folders_hold_for_the_rows_that_spark_reads(engine, tmp_path):
    """Written by Arrow in row groups of one row, by Polars, by DuckDB and by Spark itself."""
    table = pa.table(COLUMNS)
    places = {name: tmp_path / name / "part=1.50" / "night=7" for name in ("arrow", "old", "polars", "duckdb")}
    for place in places.values():
        place.mkdir(parents=True)
    parquet.write_table(table, places["arrow"] / "a.parquet", row_group_size=1)
    parquet.write_table(table, places["old"] / "a.parquet", version="1.0", use_deprecated_int96_timestamps=True)
    pl.from_arrow(table).write_parquet(places["polars"] / "a.parquet")
    with duckdb.connect() as database:
        copied = database.from_arrow(table.drop_columns(list(WITHOUT_DUCKDB)))
        copied.write_parquet(str(places["duckdb"] / "a.parquet"))
        del copied
    plain = table.select(["id", "tiny", "number", "small", "text", "good", "day", "zoned"])
    engine.session.createDataFrame(plain.to_pandas(date_as_object=True)).write.parquet(str(tmp_path / "spark"))
    for name in (*places, "spark"):
        base = Base.of(Files.at(tmp_path / name), key="id", population="row")
        facts, violations = count_violations(engine, base, tmp_path)
        assert facts >= 6, name
        assert violations == 0, name
