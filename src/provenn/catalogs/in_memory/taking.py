"""Tables that somebody has in memory, as Arrow: names, types, and what is said of the columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from provenn.catalogs.file_columns import Column, check_columns
from provenn.catalogs.type_names import type_named
from provenn.criteria import matching_names
from provenn.errors import AttributeNotFoundError, BaseFilesError, KeyValuesError

__all__ = ["arrow_table", "check_given_key"]


def arrow_table(table: object) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return a table of Arrow with the same rows; unit, description and ucd are metadata of its fields.

    What is said of the table as a whole is metadata of its schema.

    Parameters
    ----------
    table
        A table of astropy; a data frame of pandas, whose index counts if it has a name; or whatever Arrow can take
        over, such as its own tables.

    Raises
    ------
    BaseFilesError
        If it is none of these, or a column holds what Spark cannot.
    """
    import pyarrow as pa  # noqa: PLC0415 - it takes a while to import

    rooms = {one.__module__.partition(".")[0] for one in type(table).__mro__}
    try:
        if "astropy" in rooms and hasattr(table, "itercols"):
            from provenn.catalogs.in_memory.from_astropy import from_astropy  # noqa: PLC0415 - as above

            made = from_astropy(table)
        elif "pandas" in rooms and hasattr(table, "index") and hasattr(table, "columns"):
            made = _from_pandas(table)
        elif hasattr(table, "__arrow_c_stream__"):
            made = pa.table(table)
        else:
            raise BaseFilesError(
                f"a {type(table).__name__} is no table that provenn can take",
                hint="give a path, or a table of astropy, pandas or Arrow",
            )
    except (pa.ArrowException, TypeError, ValueError) as error:
        if isinstance(error, BaseFilesError):
            raise
        raise BaseFilesError(f"the table cannot be taken: {error}", hint=_CONVERT) from error
    return _plain(made)


_CONVERT = "convert the column to numbers, text or arrays of one type"


def check_given_key(table: Any, key: str | Sequence[str]) -> None:  # noqa: ANN401 - pyarrow has no types
    """Make sure that no key of a table of Arrow is NULL, before anything is written.

    Raises
    ------
    AttributeNotFoundError
        If there is no such column.
    KeyValuesError
        If there is a row without a key.
    """
    for name in [key] if isinstance(key, str) else key:
        found = matching_names(name, table.column_names)
        if len(found) != 1:
            raise AttributeNotFoundError(name, table.column_names, found)
        nulls = table[found[0]].null_count
        if nulls:
            raise KeyValuesError(
                f"{nulls:,} of {len(table):,} rows have no {found[0]}, which is their key",
                hint="a row without a key is no source: leave such rows out, or fill in their keys",
            )


def _from_pandas(frame: Any) -> Any:  # noqa: ANN401 - pandas has no types here
    import pyarrow as pa  # noqa: PLC0415 - see above

    named = [name for name in frame.index.names if name is not None]
    whole = frame.reset_index(level=named) if named else frame
    odd = [one for one in whole.columns if not isinstance(one, str)]
    if odd:
        raise BaseFilesError(
            f"the column {odd[0]!r} has no name that is text", hint="frame.columns = frame.columns.map(str)"
        )
    columns = {}
    for name, values in whole.items():
        if name in columns:
            raise BaseFilesError(f"the table has two columns {name}", hint="rename one")
        try:
            columns[name] = pa.array(values, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise BaseFilesError(f"the column {name} cannot be taken: {error}", hint=_CONVERT) from error
    return pa.table(columns)


def _plain(table: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the table as it is written: in one piece, in types that Spark reads, without notes of other programs."""
    import pyarrow as pa  # noqa: PLC0415 - see above
    import pyarrow.compute as pc  # noqa: PLC0415

    columns, fields = [], []
    for field, given in zip(table.schema, table.columns, strict=True):
        values = given
        if isinstance(values.type, pa.BaseExtensionType):
            values = pa.chunked_array([one.storage for one in values.chunks], values.type.storage_type)
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        if pa.types.is_timestamp(values.type) and values.type.unit == "ns":
            # In UTC, where every moment has a time of its own: in autumn, two of them have one in Berlin.
            utc = values.cast(pa.timestamp("ns", values.type.tz and "UTC"))
            values = pc.floor_temporal(utc, unit="microsecond").cast(pa.timestamp("us", values.type.tz))
        if values.type == pa.float16():
            values = values.cast(pa.float32())
        notes = {key: text for key, text in (field.metadata or {}).items() if key in _NOTES}
        columns.append(values)
        fields.append(pa.field(field.name, values.type, field.nullable, notes or None))
    made = pa.Table.from_arrays(columns, schema=pa.schema(fields, table.schema.metadata)).combine_chunks()
    check_columns([Column(name, type_named("int"), nullable=True) for name in made.column_names], "the table")
    return made


_NOTES = (b"unit", b"units", b"description", b"comment", b"ucd")
