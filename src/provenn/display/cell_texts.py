"""Values of a table as texts of limited length."""

from __future__ import annotations

import math
from datetime import date, datetime
from typing import Any

__all__ = ["format_cell", "list_values", "read_scalar"]

_LONGEST = 200
_MOST_ELEMENTS = 3
"""The elements of an array that are shown."""


def list_values(column: Any) -> list[Any]:  # noqa: ANN401 - a column of Arrow
    """Return the values of a column; dates and moments outside the years 1 to 9999, which Python lacks, as texts."""
    try:
        values: list[Any] = column.to_pylist()
    except (OverflowError, ValueError):
        return [read_scalar(value) for value in column]
    return values


def read_scalar(scalar: Any) -> Any:  # noqa: ANN401 - a scalar of Arrow, and its value
    """Return the value of a scalar of Arrow, as `list_values` does."""
    try:
        return scalar.as_py()
    except (OverflowError, ValueError):
        import numpy as np  # noqa: PLC0415 - few values need it

        unit: Any = getattr(scalar.type, "unit", "D")
        zone = "+00:00" if getattr(scalar.type, "tz", None) else ""
        return str(np.datetime64(scalar.value, unit)).replace("T", " ") + zone


def format_cell(value: object) -> str | None:
    """Return a value as text, or None for NULL.

    >>> format_cell(None), format_cell(float("nan")), format_cell(0.1 + 0.2), format_cell(date(2026, 1, 2))
    (None, 'NaN', '0.3', '2026-01-02')
    >>> format_cell([1.0, None, 2.0, 3.0, 4.0]), format_cell([{"mjd": 5.0, "band": "g"}])
    ('[1, NULL, 2, … 5 values]', '[{mjd: 5, band: g}]')
    """
    if value is None:
        return None
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else f"{value:.10g}"
    if isinstance(value, list):
        shown = [_format_element(element) for element in value[:_MOST_ELEMENTS]]
        more = [f"… {len(value):,} values"] if len(value) > _MOST_ELEMENTS else []
        text = f"[{', '.join([*shown, *more])}]"
    elif isinstance(value, dict):
        text = f"{{{', '.join(f'{name}: {_format_element(inner)}' for name, inner in value.items())}}}"
    elif isinstance(value, datetime):
        text = value.isoformat(sep=" ")
    else:
        text = value.isoformat() if isinstance(value, date) else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _format_element(value: object) -> str:
    """Return an element of an array, or a field of a struct, as text."""
    text = format_cell(value)
    return "NULL" if text is None else text
