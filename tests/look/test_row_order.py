"""Rows sorted without Spark come in the order of Spark: all types, NULL, NaN and both zeros, in any direction."""

from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from provenn.catalogs import Base, Files
from provenn.files.data_folder import DataFolder
from provenn.look.refusal import NeedsSpark
from provenn.look.row_order import ColumnOrder, OrderedRows
from provenn.spark.columns import collect_sorted
from provenn.spark.engine import Engine
from provenn.spark.reading import read_base
from tests.look.criteria import COLUMNS, make_table
from tests.look.test_conditions import read_rows

MANY = 12
"""How many orders are tried for each table."""


def make_order(random: Random) -> list[ColumnOrder]:
    """Return some columns, each in a direction, and the key."""
    names = random.sample(sorted(COLUMNS), random.randint(0, 3))
    return [*(ColumnOrder(name, random.random() < 0.5, random.random() < 0.5) for name in names), ColumnOrder("k")]


@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32))
def test_rows_come_in_the_order_of_spark(seed: int, engine: Engine, tmp_path_factory):
    random = Random(seed)
    path: Path = tmp_path_factory.mktemp("order") / "rows.parquet"
    parquet.write_table(make_table(random), path, row_group_size=11)
    base = Base.of(Files.at(path), key=("k",), population="row")
    frame = read_base(engine, base, DataFolder.of(path.parent))
    rows = read_rows(path, base)
    for _ in range(MANY):
        order = make_order(random)
        number, offset = random.choice([1, 3, 10, 39, 40, 100]), random.choice([0, 0, 1, 7, 40, 50])
        ordered = OrderedRows(order, number + offset)
        first = ordered.take(iter(pa.Table.from_batches([batch]) for batch in rows.to_batches(max_chunksize=9)))
        expected = collect_sorted(frame, order, number, offset)
        assert first.column("k").to_pylist()[offset:] == expected.column("k").to_pylist(), order
        assert ordered.count == rows.num_rows


@pytest.mark.parametrize("values", [[[1.0], None], [{"a": 1}, {"a": 2}]], ids=["arrays", "structs"])
def test_values_that_arrow_does_not_sort_are_left_to_spark(values):
    table = pa.table({"k": [1, 2], "values": values})
    with pytest.raises(NeedsSpark, match="does not sort"):
        OrderedRows([ColumnOrder("values"), ColumnOrder("k")], 5).take(iter([table]))


def test_no_table_is_no_row():
    assert OrderedRows([ColumnOrder("k")], 5).take(iter(())) is None


def test_all_rows_are_sorted_if_no_number_is_given():
    tables = [pa.table({"k": [3, 1]}), pa.table({"k": [2]}), pa.table({"k": pa.array([], pa.int64())})]
    assert OrderedRows([ColumnOrder("k", is_descending=True)], None).take(iter(tables)).column("k").to_pylist() == [
        3,
        2,
        1,
    ]


def test_rows_with_null_are_equal_whatever_lies_below_null():
    hidden = pa.Array.from_buffers(
        pa.float64(), 4, [pa.py_buffer(b"\x08"), pa.array([9.0, -5.0, 7.0, 1.0]).buffers()[1]]
    )
    assert hidden.to_pylist() == [None, None, None, 1.0]
    table = pa.table({"value": hidden, "k": [2, 3, 1, 0]})
    first = OrderedRows([ColumnOrder("value"), ColumnOrder("k")], 2).take(iter([table]))
    assert first.column("k").to_pylist() == [1, 2]
