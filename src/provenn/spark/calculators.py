"""Python calculators on Spark: which rows they get, and what is checked of what they return.

A calculator of scope "row" sees batches of the columns it reads, a calculator of scope "catalog" all sources at once,
sorted by key, in one process. Spark is told that they are not deterministic, though they are: otherwise it would call
one again wherever its result is used twice.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import DataType, StructField, StructType

from provenn.catalogs import PythonCalculator
from provenn.catalogs.calculators.allowed import check_allowed
from provenn.spark.batches import Calculation, tellable
from provenn.spark.columns import column, quoted
from provenn.spark.stopwatch import Stopwatch

__all__ = ["calculated"]

_RESULT = "\x1fresult"

Measured = Callable[[], AbstractContextManager[None]]
"""Makes a context whose body is a call of a calculator."""


def calculated(
    frame: DataFrame,
    calculator: PythonCalculator,
    *,
    key: Mapping[str, str],
    inputs: Sequence[tuple[str, bool]],
    outputs: Mapping[str, str],
    catalog: str,
    stopwatch: Stopwatch | None = None,
) -> DataFrame:
    """Return a frame with outputs of a calculator appended.

    Parameters
    ----------
    frame
        The data.
    calculator
        The calculator.
    key
        The columns of the key, and what they are called in messages.
    inputs
        The column of each input of the calculator, and whether it can be NULL.
    outputs
        The outputs to append, and the columns they become.
    catalog
        What the result is called in messages.
    stopwatch
        Measures how long the calculator runs, if anybody wants to know.

    Raises
    ------
    CalculatorError
        If it is not allowed to run, is not found or has changed.
    """
    check_allowed(calculator)
    calculator.load()  # where it is missing or has changed, that is told before anything runs
    types = _output_types(calculator)
    calculation = Calculation(
        calculator,
        tuple(key.values()),
        tuple(nullable for _, nullable in inputs),
        pa.schema([pa.field(one.name, to_arrow_type(one.dataType, timezone="UTC")) for one in types.fields]),
        catalog[:12],
        tuple(str(Path(folder).absolute()) for folder in sys.path),  # "" is the current folder
    )
    run = _at_once if calculator.scope == "catalog" else _in_batches
    measured = nullcontext if stopwatch is None else stopwatch.running
    return run(frame, calculation, [*key, *(name for name, _ in inputs)], types, outputs, measured=measured)


def _in_batches(
    frame: DataFrame,
    calculation: Calculation,
    read: Sequence[str],
    types: StructType,
    outputs: Mapping[str, str],
    *,
    measured: Measured,
) -> DataFrame:
    def calculate(*columns: pa.Array) -> pa.Array:
        with suppress(Exception):  # what is wrong with it is told below; importing it is no calculating
            calculation.load()
        with tellable(), measured():
            return calculation.of_columns(columns)

    # Spark knows by the annotations what kind of function it is; to be told outright it warns of.
    function = arrow_udf(calculate, types).asNondeterministic()  # type: ignore[call-overload]
    result = function(*map(column, read)).alias(_RESULT)
    found = (f"{quoted(_RESULT)}.{quoted(name)} AS {quoted(new)}" for name, new in outputs.items())
    return frame.select("*", result).selectExpr(f"* EXCEPT ({quoted(_RESULT)})", *found)


def _at_once(
    frame: DataFrame,
    calculation: Calculation,
    read: Sequence[str],
    types: StructType,
    outputs: Mapping[str, str],
    *,
    measured: Measured,
) -> DataFrame:
    # Spark finds the columns of such a function by name, and stumbles over dots, backquotes and capitals.
    plain = dict(zip(frame.columns, (f"c{n}" for n in range(len(frame.columns))), strict=True))
    size = len(calculation.key)
    key, taken = [plain[name] for name in read[:size]], [plain[name] for name in read[size:]]
    made = StructType(
        [
            StructField(f"c{n}", one.dataType, metadata=one.metadata)
            for n, one in enumerate([*frame.schema.fields, *map(types.__getitem__, outputs)])
        ]
    )

    def calculate(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        parts = list(batches)
        if not parts:
            return
        table = pa.Table.from_batches(parts).sort_by([(name, "ascending") for name in key])
        keys = table.select(key).rename_columns(list(calculation.key))
        with tellable(), measured():
            found = calculation.of_table(keys, table.select(taken))
        for name in outputs:
            table = table.append_column(f"c{table.num_columns}", found.column(name))
        yield from table.to_batches()

    renamed = frame.toDF(*plain.values()).coalesce(1)
    return renamed.mapInArrow(calculate, made).toDF(*frame.columns, *outputs.values())


def _output_types(calculator: PythonCalculator) -> StructType:
    return StructType([StructField(name, DataType.fromDDL(str(kind))) for name, kind in calculator.outputs])
