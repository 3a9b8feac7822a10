"""Every type is a discrete total order: keys count upwards as values do, and casts that keep the order are exact."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenn.criteria.domains import (
    decode_number,
    encode_double,
    encode_float,
    find_monotone_cast,
    get_domain,
    predecessor,
    round_to_float,
    successor,
)
from provenn.criteria.folding import parse_constant
from provenn.criteria.literals import parse_date, parse_timestamp, write_literal
from provenn.criteria.ranges import Ranges, build_comparison_ranges, build_point_ranges
from provenn.criteria.types import (
    BIGINT,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    decimal,
    parse_type,
)

TYPES = [TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, decimal(5, 2), decimal(38, 10), DATE, TIMESTAMP]


@given(st.floats())
def test_the_next_double_is_the_next_key(value):
    key = encode_double(value)
    assert key == encode_double(decode_number(DOUBLE, key))
    if math.isfinite(value):
        assert decode_number(DOUBLE, key + 1) == math.nextafter(value, math.inf)


def next_float(value: float, method: float) -> float:
    with np.errstate(over="ignore", under="ignore"):
        return float(np.nextafter(np.float32(value), np.float32(method)))


@given(st.floats(width=32))
def test_the_next_float_is_the_next_key(value):
    key = encode_float(value)
    assert key == encode_float(decode_number(FLOAT, key))
    if math.isfinite(value):
        assert decode_number(FLOAT, key + 1) == next_float(value, math.inf)


def test_nan_is_above_infinity_and_zero_has_one_key():
    for key, kind in ((encode_double, DOUBLE), (encode_float, FLOAT)):
        assert key(math.nan) == key(math.inf) + 1 == get_domain(kind).highest
        assert key(-math.inf) == get_domain(kind).lowest
        assert key(-0.0) == key(0.0) == 0


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=Decimal("-4e38"), max_value=Decimal("4e38")))
def test_a_number_becomes_the_nearest_float_without_a_detour(value):
    near = round_to_float(value)
    if math.isfinite(near):
        others = [next_float(near, method) for method in (-math.inf, math.inf)]
        distance = abs(Fraction(near) - Fraction(value))
        assert all(distance <= abs(Fraction(item) - Fraction(value)) for item in others if math.isfinite(item))


def test_a_float_is_not_rounded_twice():
    half_way = Decimal(1) + Decimal(2) ** -24  # the even neighbour is 1; a little more goes up, though not as a double
    assert round_to_float(half_way) == 1
    assert round_to_float(half_way + Decimal("1e-20")) == next_float(1, 2)


@given(st.sampled_from(TYPES), st.sampled_from(TYPES), st.data())
def test_casts_that_are_undone_keep_the_order(source, target, data):
    convert = find_monotone_cast(source, target)
    if convert:
        keys = st.integers(get_domain(source).lowest, get_domain(source).highest)
        first, other = sorted([data.draw(keys), data.draw(keys)])
        assert convert(first) <= convert(other)


@given(st.sampled_from([*TYPES, TIMESTAMP_NTZ]), st.data())
def test_a_constant_is_read_back_from_what_is_written(kind, data):
    key = data.draw(st.integers(get_domain(kind).lowest, get_domain(kind).highest))
    text = write_literal(kind, key)
    for part in ("CAST(", f" AS {str(kind).upper()})", f"{str(kind).upper()} ", "'"):
        text = text.replace(part, "")
    number_text = (
        text if kind in (DATE, TIMESTAMP, TIMESTAMP_NTZ) or text[-3:] in ("NaN", "ity") else text.rstrip("YSLFBD")
    )
    assert parse_constant(number_text, kind) == key


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_strings_have_a_successor(text):
    assert predecessor(successor(text)) == text
    assert text < successor(text)


@pytest.mark.parametrize(
    "text", ["2020", "2020-1-1", "2021-02-29", "20200101", "x", "2020-01-01T", "99999999-01-01", " 2020-01-01"]
)
def test_what_is_not_exactly_a_date_is_none(text):
    assert parse_date(text) is None


def test_dates_and_timestamps_count_from_1970_in_utc():
    assert parse_date("1969-12-31") == -1
    assert parse_date("0001-01-01") == -719_162
    assert parse_timestamp("1970-01-01 00:00:00.5") == 500_000
    assert parse_timestamp("1970-01-01T00:00:00Z") == 0
    assert parse_timestamp("1970-01-01T00:00Z") is None  # Spark casts it to NULL
    assert parse_timestamp("1970-01-01 00:00:00-00:30") == 1_800_000_000
    assert parse_timestamp("1970-01-01 00:00:00Z", zoned=False) is None
    assert parse_timestamp("1970-01-01 24:00:00") is None
    assert write_literal(DATE, parse_date("+10000-01-01")) == "DATE '+10000-01-01'"


def test_types_are_read_as_spark_writes_them():
    assert parse_type("Decimal( 10 , 2 )") == decimal(10, 2)
    assert [str(parse_type(text)) for text in ("long", "integer", "real", "decimal", "timestamp_ltz")] == [
        "bigint",
        "int",
        "float",
        "decimal(10,0)",
        "timestamp",
    ]
    assert not parse_type("struct<a:int>").scalar
    assert get_domain(parse_type("binary")) is None
    assert not parse_type("string collate UTF8_LCASE").scalar
    assert STRING.scalar


WHOLE = range(-128, 128)
SETS = st.lists(st.integers(-128, 127), max_size=6).map(lambda keys: build_point_ranges(keys, get_domain(TINYINT)))
OPERATORS = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    ">=": lambda a, b: a >= b,
    ">": lambda a, b: a > b,
}


def members(ranges: Ranges) -> set[int]:
    """Walk through the intervals, independently of membership."""
    return {
        n for low, high in ranges.intervals() for n in WHOLE if (low is None or low <= n) and (high is None or n < high)
    }


@given(SETS, SETS)
def test_ranges_are_sets(one, other):
    assert members(one | other) == members(one) | members(other)
    assert members(one & other) == members(one) & members(other)
    assert members(~one) == set(WHOLE) - members(one)
    assert members(one) == {n for n in WHOLE if n in one}
    assert (one == other) == (members(one) == members(other))


@given(st.sampled_from(list(OPERATORS)), st.integers(-128, 127))
def test_comparisons_are_ranges(operator, key):
    assert members(build_comparison_ranges(operator, key, get_domain(TINYINT))) == {
        n for n in WHOLE if OPERATORS[operator](n, key)
    }
