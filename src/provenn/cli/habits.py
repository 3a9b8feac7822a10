"""What people type from habit: commands by the words of other programs, and paths that the shell did not expand."""

import re
from collections.abc import Sequence
from typing import Final

from provenn.gate.local_paths import expand_home

__all__ = ["translate_habits"]

_DELETE: Final = ("name", "--delete")
_HABITS: Final[dict[str, tuple[str, ...]]] = {
    "create": ("init",),
    "list": ("ls",),
    "rm": _DELETE,
    "remove": _DELETE,
    "delete": _DELETE,
    "describe": ("show",),
    "info": ("show",),
    "filter": ("select",),
    "where": ("select",),
    "join": ("combine",),
    "union": ("concat",),
    "query": ("sql",),
    "history": ("log",),
}
"""The command and option that each word means; no word is a command of provenn."""


_HOME: Final = re.compile(r"(--[a-z-]+=)?(~(?:/.*)?)", re.DOTALL)
"""A path below the home folder, alone or as the value of an option; no statement or expression has this form."""


def translate_habits(arguments: Sequence[str]) -> list[str]:
    """Return the arguments of a command line, with the command that a word from another program means.

    A path below ``~`` is expanded, because shells expand neither ``--archive=~/survey`` nor a path in quotes.

    >>> translate_habits(["list", "--all"])
    ['ls', '--all']
    >>> translate_habits(["rm", "bright", "-a", "survey"])
    ['name', '--delete', 'bright', '-a', 'survey']
    >>> translate_habits(["help", "archive", "export"])
    ['archive', 'export', '--help']
    >>> translate_habits(["select", "list", "x > 1"])
    ['select', 'list', 'x > 1']
    """
    place = next((i for i, argument in enumerate(arguments) if not argument.startswith("-")), len(arguments))
    options, command, rest = arguments[:place], arguments[place : place + 1], arguments[place + 1 :]
    if [*command] == ["help"]:
        return [*options, *rest, "--help"]
    return [*options, *(word for habit in command for word in _HABITS.get(habit, (habit,))), *map(_expand_home, rest)]


def _expand_home(argument: str) -> str:
    """Return an argument; if it is a path below ``~``, with the home folder."""
    path = _HOME.fullmatch(argument)
    return argument if path is None else f"{path[1] or ''}{expand_home(path[2])}"
