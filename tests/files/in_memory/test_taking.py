"""Tables of pandas, Arrow and others as Arrow."""

import datetime as dt

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

from provenn.errors import AttributeNotFoundError, BaseFilesError, KeyValuesError
from provenn.files.in_memory import check_table_key, convert_to_arrow


def test_an_index_with_a_name_is_a_column_and_others_do_not_count():
    frame = pd.DataFrame({"v": [1.5, None]}, index=pd.Index([7, 8], name="hip"))
    assert convert_to_arrow(frame).to_pydict() == {"hip": [7, 8], "v": [1.5, None]}
    assert convert_to_arrow(frame.reset_index()).to_pydict() == {"hip": [7, 8], "v": [1.5, None]}
    items = pd.MultiIndex.from_tuples([(1, 2), (3, 4)], names=["field", None])
    assert convert_to_arrow(frame.set_index(items)).to_pydict() == {"field": [1, 3], "v": [1.5, None]}


def test_categories_moments_and_missing_values_of_pandas():
    frame = pd.DataFrame(
        {
            "c": pd.Categorical(["a", None]),
            "t": pd.to_datetime(["1969-12-31T23:59:59.999999999", None], utc=True),
            "n": pd.array([1, None], "Int16"),
        }
    )
    table = convert_to_arrow(frame)
    assert [str(attribute.type) for attribute in table.schema] == ["string", "timestamp[us, tz=UTC]", "int16"]
    moment = dt.datetime(1969, 12, 31, 23, 59, 59, 999999, dt.UTC)
    assert table.to_pydict() == {"c": ["a", None], "t": [moment, None], "n": [1, None]}
    assert table.schema.metadata is None


def test_moments_that_the_clock_shows_twice_stay_two():
    """In Berlin it was 02:30 twice on that day."""
    moments = pd.to_datetime(["2024-10-27T00:30:00.123456789", "2024-10-27T01:30:00.123456789"], utc=True)
    table = convert_to_arrow(pd.DataFrame({"t": moments.tz_convert("Europe/Berlin")}))
    assert str(table["t"].type) == "timestamp[us, tz=Europe/Berlin]"
    assert [item.astimezone(dt.UTC).hour for item in table["t"].to_pylist()] == [0, 1]


def test_arrow_keeps_types_and_what_is_said_of_fields():
    values = {"unit": "mag", "ucd": "phot.mag", "PARQUET:field_id": "3"}
    field = pa.field("v", pa.float16(), nullable=False, metadata=values)
    table = pa.table([pa.chunked_array([[1.5], [2.5]], pa.float16())], schema=pa.schema([field], {"other": "notes"}))
    catalog = convert_to_arrow(table)
    assert catalog.schema.equals(
        pa.schema(
            [pa.field("v", pa.float32(), nullable=False, metadata={"unit": "mag", "ucd": "phot.mag"})],
            {"other": "notes"},
        ),
        check_metadata=True,
    )
    assert catalog["v"].num_chunks == 1


def test_whatever_hands_over_arrow_is_taken():
    assert convert_to_arrow(duckdb.sql("SELECT 1 AS id, 'a' AS s")).to_pydict() == {"id": [1], "s": ["a"]}


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ([1, 2], "expected a path or a table, got a list"),
        (None, "expected a path or a table, got a NoneType"),
        (pd.Series([1]), "expected a path or a table, got a Series"),
        (pd.DataFrame({"a": [1, "x"]}), "the column a cannot be ingested"),
        (pd.DataFrame([[1, 2]]), "expected text as the name of a column, got 0"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "two columns a"),
        (pd.DataFrame({"a": [1]}, index=pd.Index([1], name="a")), "cannot be ingested"),
        (pa.table({}), "no columns"),
        (pa.table({" ": [1]}), "a column named ' '"),
    ],
)
def test_what_is_no_table_or_a_bad_one_is_told(table, problem):
    with pytest.raises(BaseFilesError, match=problem):
        convert_to_arrow(table)


def test_a_key_that_is_not_there_or_null_is_told():
    table = pa.table({"Hip": [1, None]})
    with pytest.raises(KeyValuesError, match="1 of 2 rows have a NULL key Hip"):
        check_table_key(table, "hip")
    with pytest.raises(AttributeNotFoundError):
        check_table_key(table, ["hop"])
