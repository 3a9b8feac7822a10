"""Texts as dates and times: nothing is read by the clock, nor by what a machine knows of time zones."""

import re

import pytest

from provenn.criteria import Attribute, parse_criterion, parse_expression, parse_type, render
from provenn.errors import CriterionError

SCHEMA = {
    name: Attribute(name, parse_type(kind))
    for name, kind in {"s": "string", "d": "date", "t": "timestamp", "n": "timestamp_ntz", "i": "int"}.items()
}
NAMES = {name: name for name in SCHEMA}


@pytest.mark.parametrize("word", ["now", "today", "tomorrow", "yesterday", "epoch", " Now ", "TODAY UTC", "\ttoday"])
@pytest.mark.parametrize(
    "form",
    [
        *("CAST('{}' AS date)", "CAST('{}' AS timestamp)", "TRY_CAST('{}' AS timestamp_ntz)", "'{}'::date"),
        *("to_date('{}')", "to_timestamp('{}')", "date('{}')", "timestamp('{}')", "DATE '{}'", "TIMESTAMP '{}'"),
        *("TIMESTAMP_NTZ '{}'", "d < '{}'", "t BETWEEN '{}' AND '2020-01-01'", "n IN ('{}')", "year('{}') = 2020"),
        *("datediff(d, '{}')", "coalesce(d, '{}')", "CASE WHEN i > 1 THEN t ELSE '{}' END", "greatest(t, '{}')"),
        "hour('{}')",
    ],
)
def test_words_for_the_clock_are_refused(form, word):
    with pytest.raises(CriterionError, match=r"clock|is not a"):
        parse_expression(form.format(word), SCHEMA)


@pytest.mark.parametrize("text", ["12:30", "12:30:00", "T12", "T12:30", " 7:5:1 ", "1:2"])
@pytest.mark.parametrize("form", ["timestamp('{}')", "CAST('{}' AS timestamp)", "t > '{}'", "TIMESTAMP '{}'"])
def test_times_without_a_day_are_refused(form, text):
    with pytest.raises(CriterionError, match=r"clock|is not a"):
        parse_expression(form.format(text), SCHEMA)


def test_the_hint_says_what_to_write():
    with pytest.raises(CriterionError, match="'now' as a timestamp depends on the clock") as caught:
        parse_criterion("t < CAST('now' AS timestamp)", SCHEMA)
    assert "TIMESTAMP '2026-01-31 12:00:00'" in caught.value.hint


def test_what_was_defined_before_is_still_read_and_is_null():
    """A stored definition that an older version took has a value that does not depend on the clock, too."""
    stored = parse_criterion("CAST('now' AS TIMESTAMP) > `t`", SCHEMA, canonical=True)
    assert stored.canonical == "CAST('now' AS TIMESTAMP) > `t`"
    assert not re.fullmatch(_pattern(render(stored, NAMES)), "now")


def _pattern(sql: str) -> str:
    """Return the pattern that a text must match to be read, for Python."""
    result = re.search(r"regexp_extract\(.*?, '(.*)', 0\)", sql)
    assert result is not None, sql
    return result[1].replace("\\\\", "\\").replace(r"\z", r"\Z")


FIXED = ["2020", "2020-01", "2020-1-1", " 2020-01-01 ", "+12020-01-01", "-0044-03-15", "\x002020-01-01\n"]
TIMES = ["2020-01-01T", "2020-01-01 1", "2020-01-01 10:00:00.123456789", "2020-01-01 10:00:00Z", "2020-01-01T1:2:3 UTC"]
TIMES += ["2020-01-01 10:00:00+1", "2020-01-01 10:00:00-01:30", "2020-01-01 10:00:00 UTC+3", "2020-01-01 10:00:00 GMT"]
BY_CLOCK = ["now", "today", " Tomorrow", "epoch", "T12:30", "12:30:00", "1:2", "", "x2020", "today 2020-01-01"]
BY_ZONE = ["2020-01-01 10:00:00 Europe/Paris", "2020-01-01 10:00:00 EST", "2020-01-01 10:00:00PST", "2020-01-01 1 GMT0"]


def test_texts_of_data_are_read_if_they_fix_their_value():
    date, time, local = (
        _pattern(render(parse_expression(f"CAST(s AS {kind})", SCHEMA), NAMES))
        for kind in ("date", "timestamp", "timestamp_ntz")
    )
    assert time == local
    for text in FIXED:
        assert re.match(date, text)
        assert re.match(time, text)
    for text in TIMES:
        assert re.match(date, text)
        assert re.match(time, text)
    for text in BY_ZONE:
        assert re.match(date, text), "what is behind the day does not matter to a date"
        assert not re.match(time, text)
    for text in BY_CLOCK:
        assert not re.match(time, text)
    for text in set(BY_CLOCK) - {"12:30:00", "1:2"}:  # these are no dates to Spark
        assert not re.match(date, text)


def test_a_text_occurs_once_in_what_spark_reads():
    """Casts within casts do not grow."""
    text = "s"
    for _ in range(6):
        text = f"string(CAST({text} AS date))"
    assert render(parse_expression(text, SCHEMA), NAMES).count("`s`") == 1
    text = "i"
    for _ in range(10):
        text = f"year(make_date({text}, 1, 1))"
    assert render(parse_expression(text, SCHEMA), NAMES).count("`i`") == 1
