"""Sizes in options of commands."""

import typer

from provenn.sizes import parse_size

__all__ = ["read_size"]


def read_size(text: str) -> int:
    """Return the number of bytes in an option.

    >>> read_size("10GB")
    10000000000

    Raises
    ------
    typer.BadParameter
        If the text is not a size.
    """
    size = parse_size(text)
    if size is None:
        raise typer.BadParameter(f"expected a size such as 10GB or 500 MiB, got {text!r}")
    return size
