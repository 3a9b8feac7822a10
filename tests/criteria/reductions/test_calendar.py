"""The calendar of reductions and facts is that of Python, and goes on beyond its years."""

from datetime import date, timedelta

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from provenn.criteria import parse_expression
from provenn.criteria.periodic_facts import read_period
from provenn.criteria.reductions.dates import split_day
from tests.criteria.reductions.facts import make_schema

EPOCH = date(1970, 1, 1)
SCHEMA = make_schema({"d": "date"})


@given(st.dates())
def test_days_are_split_as_python_splits_them(day):
    assert split_day((day - EPOCH).days) == (day.year, day.month, day.day)


@given(st.dates(max_value=date(9600, 1, 1)), st.integers(-14_000, 14_000))
def test_the_calendar_repeats_itself_every_400_years(day, cycles):
    number = (day - EPOCH).days
    year, month, day_of_month = split_day(number)
    assert split_day(number + cycles * 146_097) == (year + 400 * cycles, month, day_of_month)


FUNCTIONS = {
    "month": lambda day: day.month,
    "quarter": lambda day: (day.month + 2) // 3,
    "day": lambda day: day.day,
    "dayofyear": lambda day: day.timetuple().tm_yday,
    "weekofyear": lambda day: day.isocalendar().week,
    "dayofweek": lambda day: day.isoweekday() % 7 + 1,
    "weekday": lambda day: day.weekday(),
}


@given(st.dates(), st.sampled_from(sorted(FUNCTIONS)))
def test_functions_of_days_are_those_of_python_and_have_their_period(day, name):
    period = read_period(parse_expression(f"{name}(d)", SCHEMA).node)
    number = (day - EPOCH).days
    keys = np.array([number, number - 3 * period.length, number + 14_000 * period.length])
    assert period.compute(keys).tolist() == [FUNCTIONS[name](day)] * 3


def test_the_first_and_last_days_of_spark_have_the_functions_that_spark_says():
    """Asked of Spark 4.3: -5877641-06-23 and +5881580-07-11."""
    expected = {
        "month": [6, 7],
        "weekofyear": [26, 28],
        "dayofweek": [3, 6],
        "weekday": [1, 4],
        "dayofyear": [174, 193],
    }
    for name, values in expected.items():
        period = read_period(parse_expression(f"{name}(d)", SCHEMA).node)
        assert period.compute(np.array([-(2**31), 2**31 - 1])).tolist() == values
    assert [split_day(key)[0] for key in (-(2**31), 2**31 - 1)] == [-5_877_641, 5_881_580]


def test_a_day_of_python_is_a_day_of_spark():
    assert EPOCH + timedelta(16_071) == date(2014, 1, 1)
