"""Rows of data, for people and for programs."""

from __future__ import annotations

from base64 import b64encode
from datetime import date, time, timedelta
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Any

from provenn.cli.output import write_text
from provenn.cli.sizes import size_text

if TYPE_CHECKING:
    import pandas as pd

    from provenn.spark.writing import Written

__all__ = ["rows_data", "write_rows", "write_written", "written_data"]


def write_rows(rows: pd.DataFrame) -> None:
    """Write rows as a table."""
    if rows.empty:
        write_text(f"no sources; the attributes are {', '.join(map(str, rows.columns))}")
    else:
        write_text(rows.to_string(index=False))


def rows_data(rows: pd.DataFrame) -> dict[str, Any]:
    """Return rows for programs. What JSON has no word for (NaN, infinity) is null; times are written as ISO 8601.

    Numbers are those that were computed, to the last digit; but of a decimal with digits after the point, the nearest
    double. Bytes are written in base64.
    """
    columns = [[_plain(value) for value in rows[name].tolist()] for name in rows.columns]
    return {"columns": [str(name) for name in rows.columns], "rows": [list(row) for row in zip(*columns, strict=True)]}


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever a table holds, and JSON
    import pandas as pd  # noqa: PLC0415 - only where there are data

    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if isfinite(value) else None
        case dict():
            return {str(key): _plain(one) for key, one in value.items()}
        case list() | tuple():
            return [_plain(one) for one in value]
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
    return _plain(value.tolist()) if hasattr(value, "tolist") else str(value)


def write_written(done: Written) -> None:
    """Tell what was written."""
    write_text(f"wrote {done.rows:,} sources to {done.path}, {size_text(done.size)}")
    for reason in done.left_out:
        write_text(f"left out of its header: {reason}")


def written_data(done: Written) -> dict[str, Any]:
    """Return what was written, for programs."""
    return {"path": str(done.path), "rows": done.rows, "size": done.size, "left_out": list(done.left_out)}
