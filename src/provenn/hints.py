"""Hints in the words of each interface: arguments in Python, options and commands in a terminal, fields on a page."""

from __future__ import annotations

from pathlib import PurePath
from shlex import quote
from typing import Final, Self

__all__ = [
    "NAME_FORMAT",
    "SET_STORE",
    "Hint",
    "find_page_target",
    "phrase_for_command",
    "phrase_for_page",
    "suggest_new_archive",
]


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
    target
        The page of the server that the remedy leads to, as a path such as ``/catalogs``: the remedy is then a link.

    Raises
    ------
    ValueError
        If the target is not a path on the server.

    Examples
    --------
    >>> hint = Hint("pass overwrite=True", command="add --overwrite")
    >>> hint
    'pass overwrite=True'
    >>> phrase_for_command(hint)
    'add --overwrite'
    >>> find_page_target(Hint("archive.facts() lists them", page="see the facts", target="/knowledge"))
    '/knowledge'
    """

    __slots__ = ("command", "page", "target")

    command: str
    page: str
    target: str

    def __new__(cls, python: str, *, command: str | None = None, page: str | None = None, target: str = "") -> Self:
        """Return the hint; words that are not given are those of the interface before."""
        hint = super().__new__(cls, python)
        hint.command = python if command is None else command
        hint.page = hint.command if page is None else page
        if target and (target[:1] != "/" or target[:2] in ("//", "/\\")):
            raise ValueError(f"expected a path on the server such as /catalogs, got {target!r}")
        hint.target = target
        return hint


def phrase_for_command(hint: str) -> str:
    """Return the words of a hint at a terminal."""
    return hint.command if isinstance(hint, Hint) else hint


def phrase_for_page(hint: str) -> str:
    """Return the words of a hint on a page of the server."""
    return hint.page if isinstance(hint, Hint) else hint


def find_page_target(hint: str) -> str:
    """Return the path of the page that a hint leads to, or an empty text."""
    return hint.target if isinstance(hint, Hint) else ""


def suggest_new_archive(place: str) -> Hint:
    """Return the hint for a database file, or an address of a database, that holds no archive."""
    if "://" in place:
        where = "--database ADDRESS"
    else:
        folder = str(PurePath(place).parent)
        where = "" if folder == "." else quote(folder)
    return Hint("omit create=False, or name another folder", command=f"create one: provenn init {where}".rstrip())


NAME_FORMAT: Final = Hint("name its format: format=…", command="name its format: --format …")
"""The hint for a file that has another format than its name says."""

SET_STORE: Final = Hint('open the archive once with store="…"', command="run once: provenn init --store PLACE")
"""The hint for an archive without a place for data."""
