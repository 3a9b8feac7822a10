"""What people type from habit: commands by the words of other programs."""

from collections.abc import Sequence
from typing import Final

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


def translate_habits(arguments: Sequence[str]) -> list[str]:
    """Return the arguments of a command line, with the command that a word from another program means.

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
    return [*options, *(word for habit in command for word in _HABITS.get(habit, (habit,))), *rest]
