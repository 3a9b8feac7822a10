"""Sizes in bytes, as people read and write them."""

import re
from decimal import Decimal

__all__ = ["format_size", "parse_size"]

_UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_SIZE = re.compile(r"(\d{1,1000}(?:\.\d{1,1000})?)\s*([kmgtp]?)(i?)b?", re.IGNORECASE)


def format_size(size: int) -> str:
    """Return a number of bytes for people.

    >>> format_size(999), format_size(12_345), format_size(10**12)
    ('999 B', '12.3 kB', '1.0 TB')
    """
    value, unit = float(size), "B"
    for larger_unit in ("kB", "MB", "GB", "TB", "PB"):
        if value < 1000:
            break
        value, unit = value / 1000, larger_unit
    return f"{value:.0f} B" if unit == "B" else f"{value:.1f} {unit}"


def parse_size(text: str) -> int | None:
    """Return the number of bytes of a size like ``10GB``, exactly; None for a text that is no size.

    >>> parse_size("10GB"), parse_size("1.5 MiB"), parse_size("0"), parse_size("a lot")
    (10000000000, 1572864, 0, None)
    >>> parse_size("9007199254740993"), parse_size("9" * 400) > 2**64
    (9007199254740993, True)
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None or (match[3] and not match[2]):
        return None
    whole, _, decimals = match[1].partition(".")
    scale: int = (1024 if match[3] else 1000) ** _UNITS[match[2].lower()]
    return int(whole) * scale + round(Decimal(f"0.{decimals or 0}") * scale)
