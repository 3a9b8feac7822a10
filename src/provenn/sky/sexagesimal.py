"""Coordinates in text: sexagesimal hours or degrees, as SQL that reads them.

``05:35:17.3``, ``05 35 17.3`` and ``05h35m17.3s`` are hours; ``-05:23:28``, ``-05 23 28`` and ``-05d23m28s`` are
degrees; so are ``-05°23'28"`` and ``-05:23``, without seconds. Minutes and seconds are below 60. Hours have no minus
sign and are at most 24. All other text has no value.
"""

from __future__ import annotations

__all__ = ["TEXT_UNITS", "write_text_angle"]

TEXT_UNITS = {"hms": 240.0, "dms": 3600.0}
"""The units of angles in text, hours or degrees: how many seconds of the text are a degree."""

_MARKS = {"hms": "h", "dms": r"d\x{00b0}"}


def write_text_angle(text: str, unit: str) -> str:
    """Return Spark SQL for the degrees that a text means; NULL if it cannot be read.

    Parameters
    ----------
    text
        SQL for the text.
    unit
        A key of `TEXT_UNITS`.
    """
    sign = r"([+-]?)" if unit == "dms" else r"([+]?)"
    pattern = (
        rf"^\s*{sign}(\d{{1,3}})\s*[:\s{_MARKS[unit]}]\s*(\d{{1,2}})"
        r"(?:\s*[:\sm\x27]\s*(\d{1,2}(?:\.\d*)?)\s*[s\x22]?|\s*[m\x27]?)\s*$"
    )
    parts = [f"regexp_extract({text}, r'{pattern}', {group})" for group in (1, 2, 3, 4)]
    whole, minutes = (f"try_cast({part} AS DOUBLE)" for part in parts[1:3])
    seconds = f"coalesce(try_cast({parts[3]} AS DOUBLE), 0D)"
    total = f"({whole} * 3600D + {minutes} * 60D + {seconds})"
    is_valid = f"{minutes} < 60D AND {seconds} < 60D AND {total} <= {24 * 3600 if unit == 'hms' else 360 * 3600}D"
    return f"(CASE WHEN {is_valid} THEN IF({parts[0]} = '-', -1D, 1D) * {total} / {TEXT_UNITS[unit]!r}D END)"
