"""Columns that Parquet files store in another form than a base has, rebuilt while Spark reads them.

Rebuilding copies no data. But Spark cannot push criteria on these columns down to the files, because the stored values
are not yet the values of the column.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as sql

from provenn.criteria import Type
from provenn.files.columns import FileColumn, build_metadata
from provenn.files.parquet_columns import StoredColumn
from provenn.files.type_names import restore_type
from provenn.spark.columns import quote_name

__all__ = ["find_stored_type", "rebuild_column"]


def find_stored_type(stored: StoredColumn, kind: Type) -> Type:
    """Return the type in which Spark reads a stored column, for a column of type `kind`."""
    if stored.zipped:
        return restore_type(stored.zipped)
    if stored.nanoseconds:
        return restore_type("bigint")
    return restore_type("binary") if stored.text else kind


def rebuild_column(file_column: FileColumn, stored: StoredColumn) -> Column:
    """Return a column of a base, rebuilt from its stored column and mask."""
    value = quote_name(stored.name)
    if stored.nanoseconds:  # rounded down to microseconds, also before 1970
        value = f"timestamp_micros({value} div 1000 - IF({value} % 1000 < 0, 1, 0))"
    if stored.text:
        value = f"validate_utf8(CAST({value} AS string))"  # bytes that are no text are an error
    if stored.zipped:
        value = _zip_fields(value, stored.fields, str(file_column.type))
    if stored.mask:
        value = _apply_mask(value, quote_name(stored.mask), nested=stored.nested)
    column = sql.expr(value)
    if stored.nanoseconds:
        column = column.cast(str(file_column.type))
    return column.alias(file_column.name, metadata=build_metadata(file_column))


def _apply_mask(value: str, mask: str, *, nested: bool) -> str:
    """Return SQL for a value with NULL instead of masked elements; a completely masked array is NULL."""
    if not nested:
        return f"IF({mask}, NULL, {value})"
    everything = f"size({mask}) > 0 AND forall({mask}, hidden -> hidden)"
    return f"IF({everything}, NULL, zip_with({value}, {mask}, (element, hidden) -> IF(hidden, NULL, element)))"


def _zip_fields(value: str, fields: Sequence[str], kind: str) -> str:
    """Return SQL for a struct of arrays as an array of structs; arrays of different lengths are an error."""
    arrays = [f"{value}.{quote_name(field)}" for field in fields]
    same = " AND ".join(f"size({arrays[0]}) <=> size({array})" for array in arrays)
    problem = "raise_error('the arrays of a nested table have different lengths')"
    return f"IF({same}, CAST(arrays_zip({', '.join(arrays)}) AS {kind}), CAST({problem} AS {kind}))"
