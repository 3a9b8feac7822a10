"""Programs of other people that the tests compare with: STILTS, TOPCAT, npm."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.waiting import LIMIT

__all__ = ["lint_votable", "program"]


def program(name: str) -> str:
    """Return the path of a program; where there is none, skip, except where all tests must run."""
    result = shutil.which(name)
    if result:
        return result
    message = f"there is no {name}: `make astronomy` installs STILTS, TOPCAT and Xvfb"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


def lint_votable(path: Path) -> str:
    """Return what STILTS finds wrong with a VOTable; an empty text for a sound one."""
    result = subprocess.run(
        [program("stilts"), "votlint", str(path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=LIMIT,
        env={name: value for name, value in os.environ.items() if name != "JDK_JAVA_OPTIONS"},  # Java prints them
    )
    return result.stdout + result.stderr
