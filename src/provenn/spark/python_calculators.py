"""Python calculators on Spark: their input rows, and the checks of their outputs.

A calculator of scope "row" sees batches of the input columns. A calculator of scope "catalog" sees all sources at once,
sorted by key, in a single process. provenn declares calculators to Spark as not deterministic, although they are:
otherwise Spark would call a calculator again for every use of the result.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import DataType, StructField, StructType

from provenn.catalogs import PythonCalculator
from provenn.catalogs.calculators.allowed import check_allowed
from provenn.spark.batches import CalculatorCall, pass_calculation_errors
from provenn.spark.columns import quote_name
from provenn.spark.stopwatch import Stopwatch

__all__ = ["apply_calculator"]

_RESULT = "\x1fresult"

MeasureCall = Callable[[], AbstractContextManager[None]]
"""Makes a context that measures the call of a calculator in its body."""


def apply_calculator(
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
        The columns of the key, and their names in messages.
    inputs
        The column of each input of the calculator, and whether it can be NULL.
    outputs
        The outputs to append, and the names of their columns.
    catalog
        The name of the result in messages.
    stopwatch
        Measures how long the calculator runs; None to measure nothing.

    Raises
    ------
    CalculatorError
        If the calculator is not allowed to run, is not found or has changed.
    """
    check_allowed(calculator)
    calculator.check()  # a missing or changed calculator is reported before anything runs
    types = _build_output_struct(calculator)
    calculation = CalculatorCall(
        calculator,
        tuple(key.values()),
        tuple(nullable for _, nullable in inputs),
        pa.schema([pa.field(field.name, to_arrow_type(field.dataType, timezone="UTC")) for field in types.fields]),
        catalog[:12],
        tuple(str(Path(folder).absolute()) for folder in sys.path),  # "" is the current folder
    )
    run = _run_at_once if calculator.scope == "catalog" else _run_in_batches
    measure = nullcontext if stopwatch is None else stopwatch.measure_call
    return run(frame, calculation, [*key, *(name for name, _ in inputs)], types, outputs, measure=measure)


def _run_in_batches(
    frame: DataFrame,
    calculation: CalculatorCall,
    names: Sequence[str],
    types: StructType,
    outputs: Mapping[str, str],
    *,
    measure: MeasureCall,
) -> DataFrame:
    def calculate(*columns: pa.Array) -> pa.Array:
        with suppress(Exception):  # the call below reports the error; importing is not part of the measured time
            calculation.load()
        with pass_calculation_errors(), measure():
            return calculation.calculate_columns(columns)

    # Spark infers the kind of function from its annotations, and warns if the kind is passed explicitly.
    function = arrow_udf(calculate, types).asNondeterministic()  # type: ignore[call-overload]
    # Columns are passed by name, and the result is named in one call: each Column object takes a dozen round trips.
    result = function(*map(quote_name, names))
    results = (f"{quote_name(_RESULT)}.{quote_name(name)} AS {quote_name(new)}" for name, new in outputs.items())
    return frame.withColumn(_RESULT, result).selectExpr(f"* EXCEPT ({quote_name(_RESULT)})", *results)


def _run_at_once(
    frame: DataFrame,
    calculation: CalculatorCall,
    names: Sequence[str],
    types: StructType,
    outputs: Mapping[str, str],
    *,
    measure: MeasureCall,
) -> DataFrame:
    # Spark matches the columns of mapInArrow by name, and fails on dots, backquotes and capitals: so they are numbered.
    numbered = dict(zip(frame.columns, (f"c{number}" for number in range(len(frame.columns))), strict=True))
    size = len(calculation.key)
    key, inputs = [numbered[name] for name in names[:size]], [numbered[name] for name in names[size:]]
    struct = StructType(
        [
            StructField(f"c{number}", field.dataType, metadata=field.metadata)
            for number, field in enumerate([*frame.schema.fields, *map(types.__getitem__, outputs)])
        ]
    )

    def calculate(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        parts = list(batches)
        if not parts:
            return
        table = pa.Table.from_batches(parts).sort_by([(name, "ascending") for name in key])
        keys = table.select(key).rename_columns(list(calculation.key))
        with pass_calculation_errors(), measure():
            results = calculation.calculate_table(keys, table.select(inputs))
        for name in outputs:
            table = table.append_column(f"c{table.num_columns}", results.column(name))
        yield from table.to_batches()

    renamed = frame.toDF(*numbered.values()).coalesce(1)
    return renamed.mapInArrow(calculate, struct).toDF(*frame.columns, *outputs.values())


def _build_output_struct(calculator: PythonCalculator) -> StructType:
    return StructType([StructField(name, _parse_type(str(kind))) for name, kind in calculator.outputs])


@lru_cache(maxsize=256)
def _parse_type(text: str) -> DataType:
    """Return the type with a name; remembered, because Spark is asked for it."""
    return DataType.fromDDL(text)
