"""The commands of the command line, which typer makes once for all tests of a process, and not each time one is run.

To look at all functions and their options took nine tenths of the time of a command that tells an error.
"""

from collections.abc import Iterator
from typing import Any

import pytest
import typer.testing

__all__ = ["made_commands"]


@pytest.fixture(scope="session", autouse=True)
def made_commands() -> Iterator[None]:
    """Let `typer.testing.CliRunner` run commands that were made before, as long as the same ones are registered."""
    make, made = typer.testing._get_command, {}

    def get_or_make(app: typer.Typer) -> Any:
        key = (id(app), *map(id, app.registered_commands), *map(id, app.registered_groups))
        if key not in made:
            made[key] = make(app), app, [*app.registered_commands]  # kept, so that no other thing gets their ids
        return made[key][0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.testing, "_get_command", get_or_make)
        yield
