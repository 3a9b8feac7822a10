"""Window functions on Spark give the values that DuckDB finds, with NULL, NaN, both zeros and equal rows."""

import math

import pyarrow as pa

from provenn.catalogs import DeriveAttributes
from provenn.catalogs.calculators import WindowCalculator
from tests.spark.frames import comparable, computed, parquet_leaf
from tests.spark.lineages import write_base
from tests.spark.oracle import Oracle

TABLE = pa.table(
    {
        "k": pa.array(range(12)),
        "x": pa.array([None, math.nan, 0.0, -0.0, 1.0, 2.0, 2.0, 4.0, -1.0, math.inf, 2.5, None]),
        "n": pa.array([1, 2, None, 4, 4, 6, 2**62, 2**62, 2**62, None, 0, -1]),
        "s": pa.array(["a", None, "b", "a", "a", "b", "", "b", None, "a", "", "a"]),
    }
)
WINDOWS = (
    "rank() OVER (PARTITION BY s ORDER BY x)",
    "dense_rank() OVER (ORDER BY x DESC NULLS FIRST)",
    "percent_rank() OVER (ORDER BY n NULLS LAST)",
    "cume_dist() OVER (PARTITION BY n % 2 ORDER BY s)",
    "row_number() OVER (PARTITION BY s ORDER BY n DESC)",
    "ntile(5) OVER (ORDER BY s)",
    "lag(x) OVER (ORDER BY s)",
    "lag(n, 2, -7) OVER (PARTITION BY s ORDER BY n)",
    "lead(s, 1, 'none') OVER (ORDER BY x)",
    "lead(n) IGNORE NULLS OVER (ORDER BY x)",
    "first_value(n) OVER (PARTITION BY s ORDER BY x DESC)",
    "last_value(n) IGNORE NULLS OVER (ORDER BY s ROWS UNBOUNDED PRECEDING)",
    "nth_value(s, 2) OVER (ORDER BY x ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
    "sum(n) OVER (PARTITION BY s)",
    "sum(n) OVER (ORDER BY s)",
    "sum(CAST(n % 10 AS int)) OVER (ORDER BY s ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING)",
    "count(*) OVER ()",
    "count(x) OVER (ORDER BY n RANGE CURRENT ROW)",
    "max(x) OVER (ORDER BY s)",
    "min(x) OVER (PARTITION BY s ORDER BY n ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
    "avg(CAST(n % 10 AS int)) OVER (PARTITION BY s)",
)


def test_window_functions_give_what_duckdb_finds(engine, tmp_path):
    stars = write_base(tmp_path, TABLE, key="k")
    derived = DeriveAttributes.of(stars, WindowCalculator.of({f"w{n}": text for n, text in enumerate(WINDOWS)}))
    (rows,) = computed([derived], parquet_leaf(engine.session))
    assert rows == comparable(Oracle({stars.digest: TABLE}).table(derived))
