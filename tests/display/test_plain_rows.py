"""Plain rows look exactly as pandas writes them."""

import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from provenn.display.plain_rows import format_plain_rows, has_plain_columns

FLOATS = st.one_of(
    st.floats(width=64),
    st.floats(-1e7, 1e7),
    st.integers(-(10**7), 10**7).map(float),
    st.sampled_from([0.0, -0.0, 1e-7, 1e-6, 999999.5, 1e6, 1e16, 0.5, float("inf"), float("nan")]),
)


@st.composite
def tables(draw):
    rows = draw(st.integers(1, 5))

    def column(values, kind):
        return pa.array(draw(st.lists(values, min_size=rows, max_size=rows)), kind)

    some = st.sampled_from(["n", "x", "s", "b", "f"])
    makers = {
        "n": lambda: column(st.integers(-(2**63), 2**63 - 1), pa.int64()),
        "x": lambda: column(st.one_of(st.none(), FLOATS), pa.float64()),
        "s": lambda: column(
            st.one_of(st.none(), st.text(st.characters(min_codepoint=32, max_codepoint=126))), pa.string()
        ),
        "b": lambda: column(st.booleans(), pa.bool_()),
        "f": lambda: column(st.floats(width=32), pa.float32()),
    }
    names = draw(st.lists(some, min_size=1, max_size=4))
    return pa.Table.from_arrays([makers[name]() for name in names], [f"{name}{at}" for at, name in enumerate(names)])


@given(tables())
@example(pa.table({"x": [1.0, 2.0]}))
@example(pa.table({"x": [1e6, 0.125]}))
@example(pa.table({"x": [float("inf"), 0.125]}))
@example(pa.table({"x": [12345678.5, -0.125], "n": [1, 2]}))
def test_plain_rows_look_as_pandas_writes_them(table):
    assert format_plain_rows(table) == table.to_pandas().to_string(index=False)


def test_other_columns_are_left_to_pandas():
    for column in ([1, None], [True, None], [[1.0]]):
        assert not has_plain_columns(pa.table({"x": column}))
    assert format_plain_rows(pa.table({"s": ["two\nlines"]})) is None
    assert format_plain_rows(pa.table({"x": pa.nulls(0, pa.float64())})) is None
