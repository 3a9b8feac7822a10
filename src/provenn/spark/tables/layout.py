"""Columns of Parquet files that lie otherwise than a base has them, brought into shape while Spark reads.

That costs no copy of the data. But Spark cannot push criteria on such columns down to the files, because what it would
compare there is not yet the value.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as sql

from provenn.catalogs.file_columns import Column as FileColumn
from provenn.catalogs.parquet_columns import StoredColumn
from provenn.catalogs.type_names import type_named
from provenn.criteria import Type
from provenn.spark.columns import quoted, said

__all__ = ["laid_out", "stored_type"]


def stored_type(stored: StoredColumn, kind: Type) -> Type:
    """Return the type in which Spark reads a stored column that will be of a type."""
    if stored.nanoseconds:
        return type_named("bigint")
    return type_named("binary") if stored.text else kind


def laid_out(one: FileColumn, stored: StoredColumn) -> Column:
    """Return a column as a base has it, of the columns that are stored."""
    value = quoted(stored.name)
    if stored.nanoseconds:  # cut to microseconds; towards the past also before 1970
        value = f"timestamp_micros({value} div 1000 - IF({value} % 1000 < 0, 1, 0))"
    if stored.text:
        value = f"validate_utf8(CAST({value} AS string))"  # an error for bytes that are no text
    if stored.mask:
        value = _masked(value, quoted(stored.mask), nested=stored.nested)
    made = sql.expr(value)
    if stored.nanoseconds:
        made = made.cast(str(one.type))
    return made.alias(one.name, metadata=said(one))


def _masked(value: str, mask: str, *, nested: bool) -> str:
    """Return a value that is NULL where its mask is true; an array of which everything is masked is NULL itself."""
    if not nested:
        return f"IF({mask}, NULL, {value})"
    everything = f"size({mask}) > 0 AND forall({mask}, hidden -> hidden)"
    return f"IF({everything}, NULL, zip_with({value}, {mask}, (element, hidden) -> IF(hidden, NULL, element)))"
