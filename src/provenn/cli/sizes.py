"""Sizes in bytes, as people write them."""

import re
from decimal import Decimal

import typer

__all__ = ["parse_size", "size_text"]

_UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgtp]?)(i?)b?", re.IGNORECASE)


def parse_size(text: str) -> int:
    """Return how many bytes a size means.

    >>> parse_size("10GB"), parse_size("1.5 MiB"), parse_size("0")
    (10000000000, 1572864, 0)
    >>> parse_size("9" * 400) > 2**64
    True
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None or (found[3] and not found[2]):
        raise typer.BadParameter(f"a size such as 10GB or 500 MiB is expected, not {text!r}")
    size: int = round(Decimal(found[1]) * (1024 if found[3] else 1000) ** _UNITS[found[2].lower()])
    return size


def size_text(size: int) -> str:
    """Return a size for people."""
    from provenn.display.text import size_text as told  # noqa: PLC0415 - help starts without it

    return told(size)
