"""All commands, those of groups by two words, such as ``archive export``."""

from typing import Any

import typer

from provenn import cli

__all__ = ["all_commands"]


def all_commands(group: Any = None, before: str = "") -> dict[str, Any]:
    """Return the commands of a group, or of provenn, by what is typed after ``provenn``."""
    found = {}
    for name, one in (group or typer.main.get_command(cli.app)).commands.items():
        found |= all_commands(one, f"{before}{name} ") if hasattr(one, "commands") else {before + name: one}
    return found
