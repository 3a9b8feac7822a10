"""Values of a table as texts of limited length."""

import math
from datetime import date, datetime

__all__ = ["format_cell"]

_LONGEST = 200


def format_cell(value: object) -> str | None:
    """Return a value as text, or None for NULL.

    >>> format_cell(None), format_cell(float("nan")), format_cell(0.1 + 0.2), format_cell(date(2026, 1, 2))
    (None, 'NaN', '0.3', '2026-01-02')
    """
    if value is None:
        return None
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else f"{value:.10g}"
    if isinstance(value, datetime):
        text = value.isoformat(sep=" ")
    else:
        text = value.isoformat() if isinstance(value, date) else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
