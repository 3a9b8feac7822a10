"""The Chromium that the tests drive."""

import os
import shutil

import pytest

__all__ = ["chromium"]


def chromium() -> str:
    """Return the path of the browser; where there is none, skip, except where all tests must run."""
    names = ("chromium", "chromium-browser", "google-chrome")
    result = os.environ.get("PROVENN_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if result:
        return result
    message = "there is no Chromium: `make browser` installs one, or let PROVENN_CHROMIUM say where it is"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)
