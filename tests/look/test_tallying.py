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
    assert (found.low, found.high) == tuple("" if end is None else f"{end + 0.0:.6g}" for end in (low, high))
    assert sum(found.bins) == rows - nulls - nans - infinite


@given(st.lists(st.integers(-500, 500), min_size=2, max_size=200))
def test_bins_are_those_of_duckdb(values):
    low, high = min(values), max(values)
    bins = tally(values, pa.int64()).bins
    if low == high:
        assert bins == (len(values),)
        return
    width = -(-(high - low + 1) // BINS)  # whole numbers in a bin
    query = """SELECT list(coalesce(n, 0) ORDER BY b) FROM range(($high - $low) // $width + 1) AS bins(b) LEFT JOIN (
        SELECT (x - $low) // $width AS place, count(*) AS n FROM t GROUP BY place
    ) ON b = place"""
    expected = ask(values, pa.int64(), query, {"low": low, "high": high, "width": width})
    assert list(bins) == expected[0]
    assert tally([float(value) for value in values], pa.float64()).bins == bins, "whole numbers, whatever the type"


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=200))
def test_bins_of_numbers_with_a_fraction_are_those_of_duckdb(values):
    values = [*values, 0.5, 0.25]
    low, high = min(values), max(values)
    query = """SELECT list(coalesce(n, 0) ORDER BY b) FROM range($bins) AS bins(b) LEFT JOIN (
        SELECT least(floor((x - $low) / ($high - $low) * $bins), $bins - 1) AS place, count(*) AS n
        FROM t GROUP BY place
    ) ON b = place"""
    expected = ask(values, pa.float64(), query, {"low": low, "high": high, "bins": BINS})
    assert list(tally(values, pa.float64()).bins) == expected[0]


def test_equally_frequent_whole_numbers_have_bars_of_equal_height():
    for most in (4, 13, 24, 47, 95):
        bins = tally([*range(most + 1)], pa.int64()).bins
        assert len({*bins[:-1]}) == 1, most
        assert bins[-1] <= bins[0]


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
        ([2**62 + 2, 2**62, 2**62 + 1], pa.int64(), str(2**62), str(2**62 + 2)),
        ([Decimal(10**19 + 1), Decimal(10**19)], pa.decimal128(20, 0), str(10**19), str(10**19 + 1)),
        ([253402300800000000, 0], pa.timestamp("us"), "1970-01-01 00:00:00", "10000-01-01 00:00:00.000000"),
        ([-62135596800000001, 0], pa.timestamp("us", "UTC"), "0000-12-31 23:59:59.999999+00:00", "1970-01-01"),
        ([2**31 - 1, -(2**31)], pa.date32(), "-5877641-06-23", "5881580-07-11"),
    ],
)
def test_ends_are_exact_whatever_the_type(values, kind, low, high):
    found = tally(values, kind)
    assert found.low.startswith(low)
    assert found.high.startswith(high)
    assert found.low != found.high
    assert sum(found.bins) == len([value for value in values if value is not None])


def test_moments_and_truth_values_and_arrays_are_tallied():
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    moments = tally([begin, begin + timedelta(days=1)], pa.timestamp("us", tz="UTC"))
    assert moments.low.startswith("2026-01-01")
    assert tally([True, False, True], pa.bool_()).commonest == (("True", 2), ("False", 1))
    assert tally([[1.0], None], pa.list_(pa.float64())).nulls == 1


def test_extremely_wide_and_narrow_ranges_have_bins():
    assert tally([-1.7e308, 0.0, 1.7e308], pa.float64()).bins[0] == 1
    bins = tally([0.0, 5e-324], pa.float64()).bins
    assert (bins[0], bins[-1], sum(bins)) == (1, 1, 2)


def test_numbers_are_read_with_nan_for_null():
    numbers = read_numbers(pa.chunked_array([pa.array([1, None], pa.int32()), pa.array([3], pa.int32())]))
    assert (numbers[0], numbers[2]) == (1.0, 3.0)
    assert math.isnan(numbers[1])
