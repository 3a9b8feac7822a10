"""Python calculators on Spark: which rows they get, and what is checked of what they return.

A calculator of scope "row" sees batches of the columns it reads, a calculator of scope "catalog" all sources at once,
sorted by key, in one process. Spark is told that they are not deterministic, though they are: otherwise it would call
one again wherever its result is used twice.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sql
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import StructType

from provenn.catalogs import PythonCalculator, Schema
from provenn.spark.batches import Calculation
from provenn.spark.columns import column

__all__ = ["calculated"]

_RESULT = "\x1fresult"


def calculated(
    frame: DataFrame, schema: Schema, calculator: PythonCalculator, wanted: Sequence[str], catalog: str
) -> DataFrame:
    """Return a frame with the outputs of a calculator appended.

    Parameters
    ----------
    frame
        The data; columns as in `schema`.
    schema
        Their attributes.
    calculator
        The calculator.
    wanted
        The outputs to append, in this order.
    catalog
        What the result is called in messages.
    """
    calculator.load()  # where it is missing or has changed, that is told before anything runs
    inputs = [schema[name] for name in calculator.inputs]
    types = _output_types(calculator)
    calculation = Calculation(
        calculator,
        tuple(one.name for one in schema.key),
        tuple(one.nullable for one in inputs),
        pa.schema([pa.field(one.name, to_arrow_type(one.dataType, timezone="UTC")) for one in types.fields]),
        catalog[:12],
        tuple(filter(None, sys.path)),
    )
    run = _at_once if calculator.scope == "catalog" else _in_batches
    return run(frame, calculation, [one.name for one in inputs], types, wanted)


def _in_batches(
    frame: DataFrame, calculation: Calculation, inputs: Sequence[str], types: StructType, wanted: Sequence[str]
) -> DataFrame:
    def calculate(*columns: pa.Array) -> pa.Array:
        return calculation.of_columns(columns)

    function = sql.arrow_udf(calculate, types).asNondeterministic()
    result = function(*map(column, [*calculation.key, *inputs])).alias(_RESULT)
    outputs = (column(_RESULT).getField(name).alias(name) for name in wanted)
    return frame.select("*", result).select(*map(column, frame.columns), *outputs)


def _at_once(
    frame: DataFrame, calculation: Calculation, inputs: Sequence[str], types: StructType, wanted: Sequence[str]
) -> DataFrame:
    key, names = list(calculation.key), [*frame.columns, *wanted]
    made = StructType([*frame.schema.fields, *(types[name] for name in wanted)])

    def calculate(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        parts = list(batches)
        if not parts:
            return
        table = pa.Table.from_batches(parts).sort_by([(name, "ascending") for name in key])
        found = calculation.of_table(table.select(key), table.select(inputs))
        for name in wanted:
            table = table.append_column(name, found.column(name))
        yield from table.select(names).to_batches()

    return frame.coalesce(1).mapInArrow(calculate, made)


def _output_types(calculator: PythonCalculator) -> StructType:
    return StructType.fromDDL(", ".join(f"`{name.replace('`', '``')}` {kind}" for name, kind in calculator.outputs))
