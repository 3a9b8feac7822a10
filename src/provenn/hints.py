"""Hints in the words of each interface: arguments in Python, options and commands in a terminal, fields on a page."""

from __future__ import annotations

from typing import Final, Self

__all__ = ["NAME_FORMAT", "SET_STORE", "Hint", "phrase_for_command", "phrase_for_page"]


class Hint(str):
    """A remedy that each interface spells in its own way; as a string, it is the remedy in Python.

    Parameters
    ----------
    python
        The remedy for a caller in Python: arguments and methods.
    command
        The remedy at a terminal: options and commands.
    page
        The remedy on a page of the server; by default the words for a terminal, which the administrator uses.

    Examples
    --------
    >>> hint = Hint("pass overwrite=True", command="add --overwrite")
    >>> hint
    'pass overwrite=True'
    >>> phrase_for_command(hint)
    'add --overwrite'
    """

    __slots__ = ("command", "page")

    command: str
    page: str

    def __new__(cls, python: str, *, command: str | None = None, page: str | None = None) -> Self:
        """Return the hint; words that are not given are those of the interface before."""
        hint = super().__new__(cls, python)
        hint.command = python if command is None else command
        hint.page = hint.command if page is None else page
        return hint


def phrase_for_command(hint: str) -> str:
    """Return the words of a hint at a terminal."""
    return hint.command if isinstance(hint, Hint) else hint


def phrase_for_page(hint: str) -> str:
    """Return the words of a hint on a page of the server."""
    return hint.page if isinstance(hint, Hint) else hint


NAME_FORMAT: Final = Hint("name its format: format=…", command="name its format: --format …")
"""The hint for a file that has another format than its name says."""

SET_STORE: Final = Hint('open the archive once with store="…"', command="run once: provenn init --store PLACE")
"""The hint for an archive without a place for data."""
