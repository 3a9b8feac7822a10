"""What happens to one batch in a Python worker: the calculator is called, and what it returns is checked.

Spark ships this to its workers by import path, so that it imports nothing but what a worker needs.
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
from provenn.spark.failures import marked

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Calculation", "tellable"]

_PROBED: set[str] = set()  # the digests of the calculators that this process has seen to work row by row
_PROBE = 8
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Calculation:
    """A calculator as it is called in a worker.

    Parameters
    ----------
    calculator
        The calculator.
    key
        The names of the key columns.
    nullable
        Whether each of its inputs can be NULL.
    outputs
        What it must return, in Arrow's types.
    catalog
        The catalog it is called for, as messages name it.
    folders
        Where the process that asks looks for modules. A worker looks there too, after its own folders.
    """

    calculator: PythonCalculator
    key: tuple[str, ...]
    nullable: tuple[bool, ...]
    outputs: pa.Schema
    catalog: str
    folders: tuple[str, ...]

    def load(self) -> None:
        """Import the calculator, which takes its time once a worker."""
        _loaded(self.calculator, self.folders)

    def of_columns(self, columns: Sequence[pa.Array]) -> pa.Array:
        """Return the outputs for a batch, given the columns of the key and of the inputs."""
        size = len(self.key)
        keys = pa.table(list(columns[:size]), names=list(self.key))
        found = self.of_table(keys, pa.table(list(columns[size:]), names=list(self.calculator.inputs)))
        if not found.num_rows:
            return pa.array([], pa.struct(list(self.outputs)))
        arrays = [one.combine_chunks() for one in found.columns]
        return pa.StructArray.from_arrays(
            [one.chunk(0) if isinstance(one, pa.ChunkedArray) else one for one in arrays], fields=list(self.outputs)
        )

    def of_table(self, keys: pa.Table, inputs: pa.Table) -> pa.Table:
        """Return the outputs for a table of inputs.

        Raises
        ------
        CalculationError
            If the calculator raises, or returns something other than it promised. It names the calculator, the
            catalog and keys of the batch.
        """
        inputs = inputs.rename_columns(list(self.calculator.inputs))
        if not inputs.num_rows:
            return self.outputs.empty_table()
        try:
            found = self._called(inputs)
            self._probe(inputs, found)
        except CalculatorError as error:
            raise CalculationError(f"{self._place(keys)}: {error.message}", hint=error.hint) from error
        except Exception as error:
            raise CalculationError(f"{self._place(keys)}: {type(error).__name__}: {error}") from error
        return found

    def _called(self, inputs: pa.Table) -> pa.Table:
        batch = inputs if self.calculator.kind == "arrow" else self._as_pandas(inputs)
        returned = _loaded(self.calculator, self.folders)(batch, **self.calculator.parameters)
        found = returned if self.calculator.kind == "arrow" else self._from_pandas(returned)
        return self._checked(found, inputs.num_rows)

    def _as_pandas(self, inputs: pa.Table) -> pd.DataFrame:
        """Return a batch for pandas. Its types depend on the attributes alone, never on whether NULLs are in it."""
        import pandas as pd  # noqa: PLC0415 - calculators over Arrow do without

        kinds = {
            pa.int8(): pd.Int8Dtype(),
            pa.int16(): pd.Int16Dtype(),
            pa.int32(): pd.Int32Dtype(),
            pa.int64(): pd.Int64Dtype(),
            pa.bool_(): pd.BooleanDtype(),
        }
        columns = {}
        for name, can_be_null in zip(self.calculator.inputs, self.nullable, strict=True):
            one = inputs.column(name)
            columns[name] = one.to_pandas(types_mapper=kinds.get) if can_be_null else one.to_pandas()
        return pd.DataFrame(columns)

    def _from_pandas(self, returned: object) -> pa.Table:
        import pandas as pd  # noqa: PLC0415 - as above

        if isinstance(returned, pd.Series) and len(self.outputs) == 1:
            returned = returned.to_frame(self.outputs.names[0])
        if not isinstance(returned, pd.DataFrame):
            raise CalculatorError(
                f"it returned a {type(returned).__name__}", hint="return a pandas DataFrame with the outputs as columns"
            )
        found = returned.set_axis([str(name) for name in returned.columns], axis="columns")
        self._check_names(list(found.columns))
        # Python's objects are converted to the type that is wanted, and only if they are of that type.
        return self._converted(
            lambda one: pa.array(
                found[one.name], one.type if found[one.name].dtype == object else None, from_pandas=True
            )
        )

    def _checked(self, found: object, rows: int) -> pa.Table:
        if isinstance(found, pa.RecordBatch):
            found = pa.Table.from_batches([found])
        if not isinstance(found, pa.Table):
            raise CalculatorError(
                f"it returned a {type(found).__name__}", hint="return an Arrow table with the outputs as columns"
            )
        if found.num_rows != rows:
            raise CalculatorError(
                f"it returned {found.num_rows} rows for {rows} sources", hint="return one row for each row, in order"
            )
        self._check_names(found.column_names)
        return self._converted(lambda one: _as_type(found.column(one.name), one.type))

    def _check_names(self, names: Sequence[str]) -> None:
        promised = self.outputs.names
        missing, more = list(promised), list[str]()
        for name in names:
            (missing.remove if name in missing else more.append)(name)
        if missing or more:
            what = f"it did not return {', '.join(missing)}" if missing else f"it also returned {', '.join(more)}"
            raise CalculatorError(what, hint=f"return exactly {', '.join(promised)}")

    def _converted(self, convert: Callable[[pa.Field], pa.Array]) -> pa.Table:
        columns = []
        for one in self.outputs:
            try:
                columns.append(convert(one))
            except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
                first = str(error).partition("\n")[0]
                hint = "convert it; or register the calculator with another type"
                raise CalculatorError(f"{one.name} should be a {one.type}: {first}", hint=hint) from error
        return pa.table(columns, names=self.outputs.names)

    def _probe(self, inputs: pa.Table, found: pa.Table) -> None:
        """Make sure, once a process, that the result for a source depends on its own inputs alone."""
        if self.calculator.scope == "catalog" or self.calculator.digest in _PROBED or inputs.num_rows < 2:
            return
        few, expected = inputs.slice(0, _PROBE), found.slice(0, _PROBE)
        backwards = list(reversed(range(few.num_rows)))
        half = few.num_rows // 2
        parts = [self._called(few.slice(0, half)), self._called(few.slice(half))]
        if not (
            _same(self._called(few.take(backwards)).take(backwards), expected)
            and _same(pa.concat_tables(parts), expected)
        ):
            raise CalculatorError(
                "the result for a source depends on the other sources in the batch",
                hint='make it depend on its own inputs alone; or register it with scope="catalog"',
            )
        _PROBED.add(self.calculator.digest)

    def _place(self, keys: pa.Table) -> str:
        shown = "; ".join(
            ", ".join(f"{name}={value}" for name, value in row.items()) for row in keys.slice(0, _SHOWN).to_pylist()
        )
        more = " …" if keys.num_rows > _SHOWN else ""
        batch = f"the batch of {keys.num_rows} sources that begins with {shown}{more}"
        return f"the calculator {self.calculator.function} of the catalog {self.catalog} failed on {batch}"


@contextmanager
def tellable() -> Iterator[None]:
    """Let the error of a calculator pass from a worker to the process that asked, so that `told` finds it whole."""
    try:
        yield
    except CalculationError as error:
        raise RuntimeError(marked(error)) from error


@cache
def _loaded(calculator: PythonCalculator, folders: tuple[str, ...]) -> Callable[..., object]:
    sys.path += [folder for folder in folders if folder not in sys.path]
    invalidate_caches()  # a module may be younger than this process
    return calculator.load()


_NUMBERS = (types.is_integer, types.is_floating, types.is_decimal)
_TEXTS = (types.is_string, types.is_large_string, types.is_string_view)
_FITTING: tuple[tuple[Callable[[pa.DataType], bool], tuple[Callable[[pa.DataType], bool], ...]], ...] = (
    (types.is_integer, _NUMBERS),
    (types.is_floating, _NUMBERS),
    (types.is_decimal, (types.is_integer, types.is_decimal)),
    (types.is_timestamp, (types.is_timestamp, types.is_date)),
    (types.is_string, _TEXTS),
    (types.is_binary, (types.is_binary, types.is_large_binary, types.is_binary_view)),
)
"""Types, and those whose values can be taken for them. Which values can, Arrow tells: it refuses 1.5 as a bigint."""


def _as_type(column: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray:
    if not _fits(column.type, wanted):
        raise TypeError(f"it is a {column.type}")
    return column.cast(wanted)


def _fits(given: pa.DataType, wanted: pa.DataType) -> bool:
    if given == wanted or types.is_null(given):
        return True
    if types.is_dictionary(given):
        return _fits(given.value_type, wanted)
    if types.is_list(wanted):
        is_list = types.is_list(given) or types.is_large_list(given) or types.is_fixed_size_list(given)
        return is_list and _fits(given.value_type, wanted.value_type)
    if types.is_struct(wanted) and types.is_struct(given):
        return [one.name for one in given] == [one.name for one in wanted] and all(
            _fits(mine.type, other.type) for mine, other in zip(given, wanted, strict=True)
        )
    return any(is_one(wanted) and any(fits(given) for fits in fitting) for is_one, fitting in _FITTING)


def _same(one: pa.Table, other: pa.Table) -> bool:
    return all(map(_same_column, one.columns, other.columns))


def _same_column(one: pa.ChunkedArray, other: pa.ChunkedArray) -> bool:
    if types.is_list(one.type):
        lengths = pc.list_value_length(one).equals(pc.list_value_length(other))
        return bool(lengths) and _same_column(pc.list_flatten(one), pc.list_flatten(other))
    if types.is_struct(one.type):
        parts = all(
            _same_column(pc.struct_field(one, n), pc.struct_field(other, n)) for n in range(one.type.num_fields)
        )
        return bool(one.is_null().equals(other.is_null())) and parts
    if not types.is_floating(one.type):
        return bool(one.to_pylist() == other.to_pylist())
    import numpy as np  # noqa: PLC0415 - pyarrow has loaded it

    # Results of vectorised code may differ in the last digits, depending on where in a batch a row lies.
    nulls = bool(one.is_null().equals(other.is_null()))
    left, right = (np.asarray(each.to_numpy(), dtype=float) for each in (one, other))
    return nulls and bool(np.allclose(left, right, rtol=1e-6, atol=0, equal_nan=True))
