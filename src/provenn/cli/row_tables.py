"""Rows of data, as a table and as JSON."""

from __future__ import annotations

from base64 import b64encode
from datetime import date, time, timedelta
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Any

from provenn.cli.output import find_width, write_text
from provenn.display.plain_rows import format_plain_rows, has_plain_columns
from provenn.loaded_classes import is_loaded_instance
from provenn.sizes import format_size

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from provenn.spark.writing import WrittenFiles

__all__ = ["rows_data", "write_file_summary", "write_rows", "written_file_data"]


def write_rows(rows: pd.DataFrame | pa.Table) -> None:
    """Write rows as a table, in the way of pandas; on a terminal, no line is longer than the terminal is wide."""
    width = find_width()
    text = format_plain_rows(rows) if _is_arrow_table(rows) else None
    if text is not None and (width is None or max(map(len, text.split("\n"))) <= width):
        write_text(text)
        return
    frame = _make_frame(rows)
    if frame.empty:
        write_text(f"no sources; attributes: {', '.join(map(str, frame.columns))}")
    else:
        write_text(frame.to_string(index=False, line_width=width))  # a wide table is divided into blocks of columns


def _is_arrow_table(rows: object) -> bool:
    """Return whether rows are a table of Arrow."""
    return is_loaded_instance(rows, "pyarrow", "Table")


def _make_frame(rows: pd.DataFrame | pa.Table) -> pd.DataFrame:
    """Return rows as a data frame."""
    from provenn.archive.data import make_frame  # noqa: PLC0415 - only where there are data

    return make_frame(rows) if _is_arrow_table(rows) else rows


def rows_data(rows: pd.DataFrame | pa.Table) -> dict[str, Any]:
    """Return rows as JSON data; NaN and infinity, which JSON lacks, become null, and times become ISO 8601.

    Numbers keep every computed digit, except that a decimal with digits after the point becomes the nearest double.
    Bytes are written in base64.
    """
    if _is_arrow_table(rows) and has_plain_columns(rows):
        names, columns = rows.column_names, [column.to_pylist() for column in rows.columns]
        values = [[_convert_plain_value(value) for value in column] for column in columns]
    else:
        frame = _make_frame(rows)
        names = [str(name) for name in frame.columns]
        values = [[_convert_value(value) for value in frame[name].tolist()] for name in frame.columns]
    return {"columns": names, "rows": [list(row) for row in zip(*values, strict=True)]}


def _convert_plain_value(value: Any) -> Any:  # noqa: ANN401 - a plain value, and JSON
    """Return a number, a truth value or a text as JSON data."""
    return None if isinstance(value, float) and not isfinite(value) else value


def _convert_value(value: Any) -> Any:  # noqa: ANN401 - any value of a table, and JSON
    """Return a value of a table as JSON data."""
    import pandas as pd  # noqa: PLC0415 - only where there are data

    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if isfinite(value) else None
        case dict():
            return {str(key): _convert_value(member) for key, member in value.items()}
        case list() | tuple():
            return [_convert_value(member) for member in value]
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case bytes():
            return b64encode(value).decode()
    if value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, timedelta):
        return pd.Timedelta(value).isoformat()
    if isinstance(value, date | time):
        return value.isoformat()
    return _convert_value(value.tolist()) if hasattr(value, "tolist") else str(value)


def write_file_summary(file: WrittenFiles) -> None:
    """Write the path and the size of a written file, and the reasons why its header lacks something."""
    write_text(f"wrote {file.rows:,} sources to {file.path}, {format_size(file.size)}")
    for reason in file.left_out:
        write_text(f"left out of its header: {reason}")


def written_file_data(file: WrittenFiles) -> dict[str, Any]:
    """Return which file a command wrote as JSON data."""
    return {"path": str(file.path), "rows": file.rows, "size": file.size, "left_out": list(file.left_out)}
