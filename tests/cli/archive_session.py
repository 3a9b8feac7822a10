"""Commands typed in an archive, as a person would type them."""

import json
import shlex
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from provenn.cli import app

__all__ = ["Session"]


class Session:
    """An archive in a folder, and a prompt."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, typed: str) -> Result:
        """Type what comes after ``provenn``."""
        return CliRunner().invoke(
            app, self.words(typed), env={"PROVENN_ARCHIVE": str(self.folder), "PROVENN_USER": "ada"}
        )

    @staticmethod
    def words(typed: str) -> list[str]:
        """Split what is typed as a shell does."""
        return shlex.split(typed)

    def __call__(self, typed: str) -> str:
        """Type something that works; return what it says."""
        result = self.run(typed)
        assert result.exit_code == 0, f"{typed}\n{result.output}"
        return result.stdout

    def json(self, typed: str) -> Any:
        """Type something with ``--json``; return what it says."""
        return json.loads(self.run(f"{typed} --json").stdout)

    def fails(self, typed: str) -> str:
        """Type something that is wrong; return what is told on the standard error, which alone says it to people."""
        result = self.run(typed)
        assert result.exit_code == 2, f"{typed}\n{result.output}"
        assert bool(result.stdout) == ("--json" in typed)
        return result.stderr
