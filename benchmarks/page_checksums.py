"""What it costs to compare every page with its checksum: against reading the same Parquet without.

Run ``python -m benchmarks page_checksums``. A file of numbers as provenn stores it is read by Spark and by pyarrow,
with the checksums of its pages compared and without; and by Spark with a criterion that keeps a hundredth of the rows,
with and without the indices of pages, which provenn does not believe. All ways take turns.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from pyarrow import parquet
from pyspark.sql import DataFrame

from benchmarks.measure import show, show_load, shown
from provenn.spark.engine import Engine
from provenn.spark.settings import OWN_FILES

__all__ = ["main"]

ROWS, COLUMNS, TURNS = 5_000_000, 8, 7
_OFF = dict.fromkeys(OWN_FILES, "true") | {"parquet.page.verify-checksum.enabled": "false"}


def main() -> None:
    """Measure and print a table."""
    with TemporaryDirectory() as folder, Engine("local[2]") as engine:
        path = Path(folder) / "stars"
        columns = [f"rand({number}) AS column_{number}" for number in range(COLUMNS)]
        engine.session.range(0, ROWS, 1, 2).selectExpr("id", *columns).write.parquet(f"file:{path}")
        for checksum in path.glob(".*.crc"):  # as provenn stores it
            checksum.unlink()

        def spark(options: dict[str, str], where: str = "TRUE") -> DataFrame:
            return engine.session.read.options(**options).parquet(f"file:{path}").where(where)

        def run(frame: DataFrame) -> None:
            frame.write.format("noop").mode("overwrite").save()

        def arrow(*, verify: bool) -> None:
            for file in path.glob("*.parquet"):
                parquet.ParquetFile(file, page_checksum_verification=verify).read()

        some = f"id BETWEEN {ROWS // 4} AND {ROWS // 4 + ROWS // 100}"
        pairs: dict[str, tuple[Callable[[], None], Callable[[], None]]] = {
            "Spark, all rows": (lambda: run(spark(OWN_FILES)), lambda: run(spark(_OFF))),
            "Spark, 1 % of the rows": (lambda: run(spark(OWN_FILES, some)), lambda: run(spark(_OFF, some))),
            "pyarrow, all rows": (lambda: arrow(verify=True), lambda: arrow(verify=False)),
        }
        rows = []
        for name, ways in pairs.items():
            times: tuple[list[float], list[float]] = ([], [])
            for _ in range(TURNS):
                for way, taken in zip(ways, times, strict=True):
                    began = perf_counter()
                    way()
                    taken.append(perf_counter() - began)
            with_checks, without = median(times[0][1:]), median(times[1][1:])
            rows.append((name, shown(with_checks), shown(without), f"{with_checks / without:.2f}"))
    show(f"{ROWS:,} rows of {COLUMNS} doubles".replace(",", " "), ("what", "compared, s", "not, s", "ratio"), rows)
    show_load()
