"""The work on a batch in a Python worker: call the calculator and check the outputs.

Spark ships this module to workers by import path, so the module imports only the packages of a worker.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import invalidate_caches
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from provenn.catalogs import PythonCalculator
from provenn.errors import CalculationError, CalculatorError
from provenn.spark.spark_errors import encode_error

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CalculatorCall", "pass_calculation_errors"]

_PROBED: set[str] = set()  # digests of calculators that this process has seen to work row by row
_FOLDERS: list[str] = []  # folders of the latest call; those of earlier calls would hide modules that have moved
_PROBE_ROWS = 8
_MOST_KEYS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class CalculatorCall:
    """A calculator with everything necessary to call the calculator in a worker.

    Parameters
    ----------
    calculator
        The calculator.
    key
        The names of the key columns.
    nullable
        Whether each input of the calculator can be NULL.
    outputs
        The columns that the calculator must return, in Arrow's types.
    catalog
        The catalog for which the calculator is called, as messages name it.
    folders
        The folders in which the driver looks for modules. A worker looks there too, after its own folders.
    """

    calculator: PythonCalculator
    key: tuple[str, ...]
    nullable: tuple[bool, ...]
    outputs: pa.Schema
    catalog: str
    folders: tuple[str, ...]

    def load(self) -> None:
        """Import the calculator; a worker does so once, because importing takes time."""
        _load_function(self.calculator, self.folders)

    def calculate_columns(self, columns: Sequence[pa.Array]) -> pa.Array:
        """Return the outputs for a batch, given the columns of the key and of the inputs."""
        size = len(self.key)
        keys = pa.table(list(columns[:size]), names=list(self.key))
        results = self.calculate_table(keys, pa.table(list(columns[size:]), names=list(self.calculator.inputs)))
        if not results.num_rows:
            return pa.array([], pa.struct(list(self.outputs)))
        arrays = [column.combine_chunks() for column in results.columns]
        return pa.StructArray.from_arrays(
            [array.chunk(0) if isinstance(array, pa.ChunkedArray) else array for array in arrays],
            fields=list(self.outputs),
        )

    def calculate_table(self, keys: pa.Table, inputs: pa.Table) -> pa.Table:
        """Return the outputs for a table of inputs.

        Raises
        ------
        CalculationError
            If the calculator raises, or returns other columns, types or numbers of rows than it promised. The message
            names the calculator, the catalog and keys of the batch.
        """
        inputs = inputs.rename_columns(list(self.calculator.inputs))
        if not inputs.num_rows:
            return self.outputs.empty_table()
        try:
            results = self._call_function(inputs)
            self._probe_rows(inputs, results)
        except CalculatorError as error:
            raise CalculationError(f"{self._describe_batch(keys)}: {error.message}", hint=error.hint) from error
        except Exception as error:
            raise CalculationError(f"{self._describe_batch(keys)}: {type(error).__name__}: {error}") from error
        return results

    def _call_function(self, inputs: pa.Table) -> pa.Table:
        batch = inputs if self.calculator.kind == "arrow" else self._convert_to_pandas(inputs)
        returned = _load_function(self.calculator, self.folders)(batch, **self.calculator.parameters)
        results = returned if self.calculator.kind == "arrow" else self._convert_from_pandas(returned)
        return self._check_results(results, inputs.num_rows)

    def _convert_to_pandas(self, inputs: pa.Table) -> pd.DataFrame:
        """Return a batch for pandas, whose types depend on the attributes alone and never on NULLs in the batch."""
        import pandas as pd  # noqa: PLC0415 - calculators over Arrow do without

        dtypes = {
            pa.int8(): pd.Int8Dtype(),
            pa.int16(): pd.Int16Dtype(),
            pa.int32(): pd.Int32Dtype(),
            pa.int64(): pd.Int64Dtype(),
            pa.bool_(): pd.BooleanDtype(),
        }
        columns = {}
        for name, nullable in zip(self.calculator.inputs, self.nullable, strict=True):
            column = inputs.column(name)
            columns[name] = column.to_pandas(types_mapper=dtypes.get) if nullable else column.to_pandas()
        return pd.DataFrame(columns)

    def _convert_from_pandas(self, returned: object) -> pa.Table:
        import pandas as pd  # noqa: PLC0415 - as above

        if isinstance(returned, pd.Series) and len(self.outputs) == 1:
            returned = returned.to_frame(self.outputs.names[0])
        if not isinstance(returned, pd.DataFrame):
            raise CalculatorError(
                f"it returned a {type(returned).__name__}", hint="return a pandas DataFrame with the outputs as columns"
            )
        results = returned.set_axis([str(name) for name in returned.columns], axis="columns")
        self._check_names(list(results.columns))
        # Arrow converts Python objects to the promised type, and refuses objects of any other type.
        return self._convert_outputs(
            lambda field: pa.array(
                results[field.name], field.type if results[field.name].dtype == object else None, from_pandas=True
            )
        )

    def _check_results(self, results: object, rows: int) -> pa.Table:
        if isinstance(results, pa.RecordBatch):
            results = pa.Table.from_batches([results])
        if not isinstance(results, pa.Table):
            raise CalculatorError(
                f"it returned a {type(results).__name__}", hint="return an Arrow table with the outputs as columns"
            )
        if results.num_rows != rows:
            raise CalculatorError(
                f"it returned {results.num_rows} rows for {rows} sources", hint="return one row for each row, in order"
            )
        self._check_names(results.column_names)
        return self._convert_outputs(lambda field: _cast_column(results.column(field.name), field.type))

    def _check_names(self, names: Sequence[str]) -> None:
        promised = self.outputs.names
        missing, extra = list(promised), list[str]()
        for name in names:
            (missing.remove if name in missing else extra.append)(name)
        if missing or extra:
            problem = f"it did not return {', '.join(missing)}" if missing else f"it also returned {', '.join(extra)}"
            raise CalculatorError(problem, hint=f"return exactly {', '.join(promised)}")

    def _convert_outputs(self, convert: Callable[[pa.Field], pa.Array]) -> pa.Table:
        columns = []
        for field in self.outputs:
            try:
                columns.append(convert(field))
            except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
                reason = str(error).partition("\n")[0]
                hint = "convert it, or register the calculator with another type"
                raise CalculatorError(f"{field.name} should be a {field.type}: {reason}", hint=hint) from error
        return pa.table(columns, names=self.outputs.names)

    def _probe_rows(self, inputs: pa.Table, results: pa.Table) -> None:
        """Check once in each process that the result for a source depends on the inputs of that source alone."""
        if self.calculator.scope == "catalog" or self.calculator.digest in _PROBED or inputs.num_rows < 2:
            return
        few, expected = inputs.slice(0, _PROBE_ROWS), results.slice(0, _PROBE_ROWS)
        backwards = list(reversed(range(few.num_rows)))
        half = few.num_rows // 2
        halves = [self._call_function(few.slice(0, half)), self._call_function(few.slice(half))]
        if not (
            _tables_agree(self._call_function(few.take(backwards)).take(backwards), expected)
            and _tables_agree(pa.concat_tables(halves), expected)
        ):
            raise CalculatorError(
                "the result for a source depends on the other sources in the batch",
                hint='make the result depend only on its own inputs; or register the calculator with scope="catalog"',
            )
        _PROBED.add(self.calculator.digest)

    def _describe_batch(self, keys: pa.Table) -> str:
        shown = "; ".join(
            ", ".join(f"{name}={value}" for name, value in row.items())
            for row in keys.slice(0, _MOST_KEYS_SHOWN).to_pylist()
        )
        more = " …" if keys.num_rows > _MOST_KEYS_SHOWN else ""
        batch = f"the batch of {keys.num_rows} sources that begins with {shown}{more}"
        return f"the calculator {self.calculator.function} of the catalog {self.catalog} failed on {batch}"


@contextmanager
def pass_calculation_errors() -> Iterator[None]:
    """Encode the error of a calculator, so that `translate_errors` in the driver recovers it from the traceback."""
    try:
        yield
    except CalculationError as error:
        raise RuntimeError(encode_error(error)) from error


@cache
def _load_function(calculator: PythonCalculator, folders: tuple[str, ...]) -> Callable[..., object]:
    own = [folder for folder in sys.path if folder not in _FOLDERS]
    _FOLDERS[:] = [folder for folder in folders if folder not in own]
    sys.path[:] = [*own, *_FOLDERS]
    invalidate_caches()  # a module may be younger than this process
    return calculator.load()


_NUMBERS = (types.is_integer, types.is_floating, types.is_decimal)
_TEXTS = (types.is_string, types.is_large_string, types.is_string_view)
_ACCEPTED: tuple[tuple[Callable[[pa.DataType], bool], tuple[Callable[[pa.DataType], bool], ...]], ...] = (
    (types.is_integer, _NUMBERS),
    (types.is_floating, _NUMBERS),
    (types.is_decimal, (types.is_integer, types.is_decimal)),
    (types.is_timestamp, (types.is_timestamp, types.is_date)),
    (types.is_string, _TEXTS),
    (types.is_binary, (types.is_binary, types.is_large_binary, types.is_binary_view)),
)
"""Types, and the types whose values they accept. Arrow decides which values fit: it refuses 1.5 as a bigint."""


def _cast_column(column: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray:
    if not _fits(column.type, wanted):
        raise TypeError(f"it is a {column.type}")
    return column.cast(wanted)


def _fits(actual: pa.DataType, wanted: pa.DataType) -> bool:
    if actual == wanted or types.is_null(actual):
        return True
    if types.is_dictionary(actual):
        return _fits(actual.value_type, wanted)
    if types.is_list(wanted):
        is_list = types.is_list(actual) or types.is_large_list(actual) or types.is_fixed_size_list(actual)
        return is_list and _fits(actual.value_type, wanted.value_type)
    if types.is_struct(wanted) and types.is_struct(actual):
        return [field.name for field in actual] == [field.name for field in wanted] and all(
            _fits(inner.type, wanted_inner.type) for inner, wanted_inner in zip(actual, wanted, strict=True)
        )
    return any(
        is_wanted(wanted) and any(is_accepted(actual) for is_accepted in accepted) for is_wanted, accepted in _ACCEPTED
    )


def _tables_agree(left: pa.Table, right: pa.Table) -> bool:
    return all(map(_columns_agree, left.columns, right.columns))


def _columns_agree(left: pa.ChunkedArray, right: pa.ChunkedArray) -> bool:
    if types.is_list(left.type):
        lengths = pc.list_value_length(left).equals(pc.list_value_length(right))
        return bool(lengths) and _columns_agree(pc.list_flatten(left), pc.list_flatten(right))
    if types.is_struct(left.type):
        same_fields = all(
            _columns_agree(pc.struct_field(left, number), pc.struct_field(right, number))
            for number in range(left.type.num_fields)
        )
        return bool(left.is_null().equals(right.is_null())) and same_fields
    if not types.is_floating(left.type):
        return bool(left.to_pylist() == right.to_pylist())
    import numpy as np  # noqa: PLC0415 - pyarrow has loaded it

    # Results of vectorised code may differ in the last digits, depending on where in a batch a row lies.
    same_nulls = bool(left.is_null().equals(right.is_null()))
    left_numbers, right_numbers = (np.asarray(column.to_numpy(), dtype=float) for column in (left, right))
    return same_nulls and bool(np.allclose(left_numbers, right_numbers, rtol=1e-6, atol=0, equal_nan=True))
