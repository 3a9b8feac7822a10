"""Installs packages with pip, and tells what is downloaded, and how long it took.

The Makefile runs this file by its path, in an environment where nothing is installed yet: it imports the standard
library alone. Of what pip writes it shows large downloads and all that is wrong. It leaves out one kind of warning,
about the machine's own configuration: ``Location … is ignored``, told for each package and folder that is not there.
"""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from time import monotonic
from typing import IO

__all__ = ["choose_output", "choose_warning", "install_packages"]

_DOWNLOAD = re.compile(r"\s*(?:Downloading|Using cached) (\S+) \(([\d.]+) MB\)")
_INSTALLED = re.compile(r"Successfully installed (.+)")
_IGNORED = re.compile(r"WARNING: Location '.*' is ignored")
_LARGE = 20.0
"""Megabytes from which on a download is worth a line."""


def choose_output(line: str) -> str:
    """Return what is shown for a line of pip's output: large downloads, and how many packages were installed."""
    download, installed = _DOWNLOAD.match(line), _INSTALLED.match(line)
    if download and float(download[2]) >= _LARGE:
        return f"  {download[1].rpartition('/')[2]}, {float(download[2]):.0f} MB\n"
    return f"  {len(installed[1].split())} packages\n" if installed else ""


def choose_warning(line: str) -> str:
    """Return what is shown for a line that pip writes to stderr: all but warnings about ignored locations."""
    return "" if _IGNORED.match(line) else line


def install_packages(pip: Sequence[str], what: str, usual: str) -> int:
    """Run pip, and return its exit status.

    Parameters
    ----------
    pip
        The command.
    what, usual
        What is installed, and how long that usually takes, in words.
    """
    began = monotonic()
    sys.stdout.write(f"installing {what}: {usual}\n")
    sys.stdout.flush()
    with subprocess.Popen(pip, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stdout is not None  # noqa: S101 - both were asked for
        assert process.stderr is not None  # noqa: S101
        warnings = threading.Thread(target=_copy_lines, args=(process.stderr, sys.stderr, choose_warning))
        warnings.start()
        _copy_lines(process.stdout, sys.stdout, choose_output)
        warnings.join()
        status = process.wait()
    sys.stdout.write(f"{'installed' if status == 0 else 'failed'} after {monotonic() - began:.0f} s\n")
    return status


def _copy_lines(source: Iterable[str], target: IO[str], choose: Callable[[str], str]) -> None:
    for line in source:
        target.write(choose(line))
        target.flush()


if __name__ == "__main__":
    _what, _usual, *_packages = sys.argv[1:]
    _pip = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off"]
    sys.exit(install_packages([*_pip, *_packages], _what, _usual))
