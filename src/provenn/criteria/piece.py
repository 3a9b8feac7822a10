"""A piece of SQL text, and how tightly it binds."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["SqlPiece"]


class SqlPiece(NamedTuple):
    """A piece of SQL text.

    Parameters
    ----------
    text
        The text.
    binds
        How tightly the outermost operator binds; a higher number binds tighter.
    """

    text: str
    binds: int

    def parenthesize(self, level: int) -> str:
        """Return the text, in parentheses unless it binds at least as tightly as `level`."""
        return self.text if self.binds >= level else f"({self.text})"
