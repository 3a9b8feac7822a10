"""Tallies of values, compared with DuckDB."""

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenn.look.tallying import BINS, read_numbers, tally_column

FLOATS = st.floats(allow_nan=True, allow_infinity=True, width=64)


def tally(values, kind=None):
    return tally_column("x", "double", pa.chunked_array([pa.array(values, kind, from_pandas=False)]))


def ask(values, kind, query, constants=None):
    """Answer a query about the column x of the table t with DuckDB."""
    connection = duckdb.connect()
    connection.register("t", pa.table({"x": pa.array(values, kind, from_pandas=False)}))
    return connection.execute(query, constants or {}).fetchone()


@given(st.lists(st.none() | FLOATS, max_size=60))
def test_missing_values_and_ends_are_those_of_duckdb(values):
    found = tally(values, pa.float64())
    rows, nulls, nans, infinite, low, high = ask(
        values,
        pa.float64(),
        """SELECT count(*), count(*) FILTER (x IS NULL), count(*) FILTER (isnan(x)), count(*) FILTER (isinf(x)),
           min(x) FILTER (isfinite(x)), max(x) FILTER (isfinite(x)) FROM t""",
    )
    assert (found.rows, found.nulls, found.nans, found.infinite) == (rows, nulls, nans, infinite)
    assert (found.low, found.high) == tuple("" if end is None else f"{end:.6g}" for end in (low, high))
    assert sum(found.bins) == rows - nulls - nans - infinite


@given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=200))
def test_bins_are_those_of_duckdb(values):
    low, high = min(values), max(values)
    bins = tally(values, pa.int64()).bins
    if low == high:
        assert bins == (len(values),)
        return
    query = """SELECT list(coalesce(n, 0) ORDER BY b) FROM range($bins) AS bins(b) LEFT JOIN (
        SELECT least(floor((x - $low) / ($high - $low) * $bins), $bins - 1) AS place, count(*) AS n
        FROM t GROUP BY place
    ) ON b = place"""
    numbers = [float(value) for value in values]
    expected = ask(numbers, pa.float64(), query, {"low": float(low), "high": float(high), "bins": BINS})
    assert list(bins) == expected[0]


@given(st.lists(st.none() | st.sampled_from(["star", "galaxy", "quasar", "", "a", "b", "c", "d"]), max_size=80))
def test_the_commonest_values_are_those_of_duckdb(values):
    found = tally(values, pa.string())
    query = """SELECT list((x, n) ORDER BY n DESC, x)[:5], count(*) FROM (
        SELECT x, count(*) AS n FROM t WHERE x IS NOT NULL GROUP BY x)"""
    commonest, different = ask(values, pa.string(), query)
    assert list(found.commonest) == [tuple(pair) for pair in commonest or []]
    assert (found.different, found.bins) == (different, ())


@pytest.mark.parametrize(
    ("values", "kind", "low", "high"),
    [
        ([date(2026, 1, 1), date(2026, 1, 3), None], pa.date32(), "2026-01-01", "2026-01-03"),
        ([Decimal("1.50"), Decimal("2.25")], pa.decimal128(5, 2), "1.50", "2.25"),
        ([2**62 + 1, 2**62 + 3], pa.int64(), str(2**62 + 1), ""),
    ],
)
def test_ends_are_exact_whatever_the_type(values, kind, low, high):
    found = tally(values, kind)
    assert found.low == low
    assert not high or found.high == high
    assert sum(found.bins) == len([value for value in values if value is not None])


def test_moments_and_truth_values_and_arrays_are_tallied():
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    moments = tally([begin, begin + timedelta(days=1)], pa.timestamp("us", tz="UTC"))
    assert moments.low.startswith("2026-01-01")
    assert tally([True, False, True], pa.bool_()).commonest == (("True", 2), ("False", 1))
    assert tally([[1.0], None], pa.list_(pa.float64())).nulls == 1


def test_extremely_wide_ranges_have_bins():
    assert tally([-1.7e308, 0.0, 1.7e308], pa.float64()).bins[0] == 1


def test_numbers_are_read_with_nan_for_null():
    numbers = read_numbers(pa.chunked_array([pa.array([1, None], pa.int32()), pa.array([3], pa.int32())]))
    assert (numbers[0], numbers[2]) == (1.0, 3.0)
    assert math.isnan(numbers[1])
