"""Rows for programs: every value is the one that was computed, and what is written is JSON."""

import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenn.cli.row_tables import rows_data, write_rows


def told(*values, dtype=object):
    """Return what a program reads of a column of values."""
    written = json.dumps(rows_data(pd.DataFrame({"x": pd.Series(values, dtype=dtype)})), allow_nan=False)
    return [row[0] for row in json.loads(written)["rows"]]


@given(st.lists(st.floats(), max_size=20))
def test_doubles_come_to_the_last_digit_and_json_has_no_word_for_some(values):
    expected = [value if np.isfinite(value) else None for value in values]
    assert told(*values, dtype="float64") == expected


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=20))
def test_whole_numbers_come_to_the_last_digit(values):
    assert told(*values, dtype="int64") == values
    assert told(*values, None, dtype="Int64") == [*values, None]


@given(st.lists(st.datetimes(), max_size=20))
def test_moments_come_to_the_microsecond(values):
    assert [datetime.fromisoformat(one) for one in told(*values, dtype="datetime64[us]")] == values


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC), "2026-01-02T03:04:05.678901+00:00"),
        (date(2026, 1, 2), "2026-01-02"),
        (timedelta(days=1, microseconds=5), "P1DT0H0M0.000005S"),
        (pd.NaT, None),
        (pd.NA, None),
        (None, None),
        (True, True),
        (np.bool_(True), True),
        (np.float32(0.5), 0.5),
        (np.int64(2**62), 2**62),
        (Decimal(12345678901234567890123456789), 12345678901234567890123456789),
        (Decimal("0.1"), 0.1),
        (b"\xff\x00", "/wA="),
        ("\N{GREEK SMALL LETTER ALPHA}", "\N{GREEK SMALL LETTER ALPHA}"),
        ([1.5, None, float("nan")], [1.5, None, None]),
        (np.array([1, 2]), [1, 2]),
        ({"a": date(2026, 1, 2), "b": [b""]}, {"a": "2026-01-02", "b": [""]}),
    ],
)
def test_whatever_a_table_holds_is_written(value, expected):
    assert told(value) == [expected]


def test_a_table_without_sources_has_its_columns():
    table = pa.table({"hip": pa.array([], pa.int64()), "at": pa.array([], pa.timestamp("us"))})
    assert rows_data(table.to_pandas()) == {"columns": ["hip", "at"], "rows": []}


def test_days_beyond_the_years_of_python_are_written(capsys):
    """They occur in files, and ended the command as an internal error."""
    table = pa.table({"id": [1, 2], "day": pa.array([2**31 - 1, 0], pa.date32())})
    write_rows(table)
    written = capsys.readouterr().out
    assert "5881580-07-11" in written
    assert "1970-01-01" in written
    assert [row[1][:10] for row in rows_data(table)["rows"]][1] == "1970-01-01"
