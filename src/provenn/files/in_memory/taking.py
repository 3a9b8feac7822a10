"""Conversion of tables in memory to Arrow: names, types, and notes about columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from provenn.criteria import matching_names
from provenn.errors import AttributeNotFoundError, BaseFilesError, KeyValuesError
from provenn.files.columns import FileColumn, check_columns
from provenn.files.type_names import restore_type
from provenn.hints import Hint
from provenn.loaded_classes import is_loaded_instance

__all__ = ["check_table_key", "convert_to_arrow"]


def convert_to_arrow(table: object) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return a table of Arrow with the same rows; unit, description and ucd are metadata of the fields.

    Metadata of the table as a whole are metadata of the schema.

    Parameters
    ----------
    table
        A table of astropy; a data frame of pandas, with the index if the index has a name; or any object with a stream
        of Arrow, such as Arrow's own tables.

    Raises
    ------
    BaseFilesError
        If the table is none of these, or a column holds values that Spark cannot hold. Also for a DataFrame of Spark:
        it exports a stream of Arrow, but only after it has collected all its rows into this process.
    """
    import pyarrow as pa  # noqa: PLC0415 - it takes a while to import

    if any(is_loaded_instance(table, module, "DataFrame") for module in _SPARK_FRAMES):
        raise BaseFilesError(
            "a Spark DataFrame is no table in memory: all its rows would be collected into this process",
            hint=Hint(
                "adopt it with its lineage: archive.adopt(frame); or write it to files and pass their folder: "
                "frame.write.parquet(folder)",
                command="write it to files, and name their folder",
            ),
        )

    try:
        if is_loaded_instance(table, "astropy.table", "Table"):
            from provenn.files.in_memory.from_astropy import convert_from_astropy  # noqa: PLC0415 - as above

            converted = convert_from_astropy(table)
        elif is_loaded_instance(table, "pandas", "DataFrame"):
            converted = _convert_from_pandas(table)
        elif hasattr(table, "__arrow_c_stream__"):
            converted = pa.table(table)
        else:
            raise BaseFilesError(
                f"expected a path or a table, got a {type(table).__name__}",
                hint="pass a path, or a table of astropy, pandas or Arrow",
            )
    except (pa.ArrowException, TypeError, ValueError) as error:
        if isinstance(error, BaseFilesError):
            raise
        raise BaseFilesError(f"the table cannot be ingested: {error}", hint=_CONVERT) from error
    return _simplify_table(converted)


_SPARK_FRAMES = ("pyspark.sql", "pyspark.sql.connect.dataframe", "pyspark.sql.classic.dataframe")
"""The modules of Spark's DataFrames; a class is loaded from them only if the caller has imported pyspark."""

_CONVERT = "convert the column to numbers, text or arrays of one type"


def check_table_key(table: Any, key: str | Sequence[str]) -> None:  # noqa: ANN401 - pyarrow has no types
    """Make sure that no key of a table of Arrow is NULL, before any data are written.

    Raises
    ------
    AttributeNotFoundError
        If a key column does not exist.
    KeyValuesError
        If a row has no key.
    """
    for name in [key] if isinstance(key, str) else key:
        matches = matching_names(name, table.column_names)
        if len(matches) != 1:
            raise AttributeNotFoundError(name, table.column_names, matches)
        nulls = table[matches[0]].null_count
        if nulls:
            raise KeyValuesError(
                f"{nulls:,} of {len(table):,} rows have a NULL key {matches[0]}",
                hint="every source needs a key: remove such rows, or fill in their keys",
            )


def _convert_from_pandas(frame: Any) -> Any:  # noqa: ANN401 - pandas has no types here
    import pyarrow as pa  # noqa: PLC0415 - see above

    index_names = [name for name in frame.index.names if name is not None]
    full_frame = frame.reset_index(level=index_names) if index_names else frame
    invalid_names = [column_name for column_name in full_frame.columns if not isinstance(column_name, str)]
    if invalid_names:
        raise BaseFilesError(
            f"expected text as the name of a column, got {invalid_names[0]!r}",
            hint="frame.columns = frame.columns.map(str)",
        )
    columns = {}
    for name, values in full_frame.items():
        if name in columns:
            raise BaseFilesError(f"the table has two columns {name}", hint="rename one")
        try:
            columns[name] = pa.array(values, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise BaseFilesError(f"the column {name} cannot be ingested: {error}", hint=_CONVERT) from error
    return pa.table(columns)


def _simplify_table(table: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the table as written to storage: in a single chunk, in Spark's types, without notes of programs."""
    import pyarrow as pa  # noqa: PLC0415 - see above
    import pyarrow.compute as pc  # noqa: PLC0415

    columns, fields = [], []
    for field, column in zip(table.schema, table.columns, strict=True):
        values = column
        if isinstance(values.type, pa.BaseExtensionType):
            values = pa.chunked_array([chunk.storage for chunk in values.chunks], values.type.storage_type)
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        if pa.types.is_timestamp(values.type) and values.type.unit == "ns":
            # In UTC every moment has a distinct time. In local time it has not: in Berlin, an hour repeats in autumn.
            utc = values.cast(pa.timestamp("ns", values.type.tz and "UTC"))
            values = pc.floor_temporal(utc, unit="microsecond").cast(pa.timestamp("us", values.type.tz))
        if values.type == pa.float16():
            values = values.cast(pa.float32())
        notes = {key: text for key, text in (field.metadata or {}).items() if key in _NOTES}
        columns.append(values)
        fields.append(pa.field(field.name, values.type, field.nullable, notes or None))
    simplified = pa.Table.from_arrays(columns, schema=pa.schema(fields, table.schema.metadata)).combine_chunks()
    check_columns(
        [FileColumn(name, restore_type("int"), nullable=True) for name in simplified.column_names], "the table"
    )
    return simplified


_NOTES = (b"unit", b"units", b"description", b"comment", b"ucd")
