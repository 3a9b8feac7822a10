"""Programs of other people that the tests compare with: STILTS, TOPCAT, npm."""

import os
import shutil

import pytest

__all__ = ["program"]


def program(name: str) -> str:
    """Return the path of a program; where there is none, skip, except where all tests must run."""
    result = shutil.which(name)
    if result:
        return result
    message = f"there is no {name}: `make astronomy` installs STILTS, TOPCAT and Xvfb"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)
