"""Rows of data, for people and for programs."""

from __future__ import annotations

import json
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
    """Return rows for programs. What JSON has no word for (NaN, infinity) is null; times are written as ISO 8601."""
    told = json.loads(rows.to_json(orient="split", index=False, date_format="iso", double_precision=15))
    return {"columns": told["columns"], "rows": told["data"]}


def write_written(done: Written) -> None:
    """Tell what was written."""
    write_text(f"wrote {done.rows:,} sources to {done.path}, {size_text(done.size)}")


def written_data(done: Written) -> dict[str, Any]:
    """Return what was written, for programs."""
    return {"path": str(done.path), "rows": done.rows, "size": done.size}
