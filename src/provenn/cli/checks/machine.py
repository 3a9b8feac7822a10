"""Checks of the machine: Python, packages, folders, terminal, time zone."""

import locale
import os
import platform
import re
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, distribution, requires, version
from importlib.util import find_spec
from pathlib import Path
from time import tzname
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import provenn
from provenn.cli.checks import CheckResult
from provenn.cli.checks.places import check_writable

__all__ = [
    "check_packages",
    "check_provenn_version",
    "check_python",
    "check_temporary_folder",
    "check_terminal",
    "check_time_zone",
]


def check_python() -> CheckResult:
    """Check that provenn supports this Python."""
    supported = distribution("provenn").metadata["Requires-Python"]
    message = f"{platform.python_version()}, {sys.executable}"
    if SpecifierSet(supported).contains(platform.python_version(), prereleases=True):
        return CheckResult("ok", message)
    return CheckResult("wrong", message, f"provenn needs Python {supported}")


def check_provenn_version() -> CheckResult:
    """Check that the running version of provenn is the installed version."""
    installed = version("provenn")
    message = f"{provenn.__version__}, {Path(provenn.__file__).parent}"
    if installed == provenn.__version__:
        return CheckResult("ok", message)
    return CheckResult("warning", f"{message}; {installed} is installed", "install it again with pip")


def check_packages() -> CheckResult:
    """Check that all required packages are installed, in supported versions."""
    needed = [Requirement(text) for text in requires("provenn") or ()]
    needed = [package for package in needed if package.marker is None or package.marker.evaluate({"extra": ""})]
    present, problems = [], []
    for package in needed:
        try:
            installed = version(package.name)
        except PackageNotFoundError:
            problems.append(f"{package.name} is missing")
            continue
        present.append(f"{package.name} {installed}")
        if not package.specifier.contains(installed, prereleases=True):
            problems.append(f"{package.name} is {installed}, but {package.specifier} is needed")
        elif not _is_importable(package.name):
            problems.append(f"{package.name} {installed} is installed, but its files are missing")
    if problems:
        return CheckResult("wrong", "; ".join(problems), "pip install --upgrade --force-reinstall provenn")
    return CheckResult("ok", ", ".join(present))


def _is_importable(name: str) -> bool:
    """Return whether a module of an installed package can be located; importing it could take long."""
    files = distribution(name).files or []
    modules = {
        file.parts[0].removesuffix(".py") for file in files if re.fullmatch(r"\w+(\.py|/__init__\.py)", str(file))
    }
    return not modules or any(find_spec(module) is not None for module in modules)


def check_temporary_folder() -> CheckResult:
    """Check that the folder for temporary files is usable."""
    return check_writable(Path(tempfile.gettempdir()))


def check_terminal() -> CheckResult:
    """Check that the terminal can show all characters."""
    encoding = (sys.stdout.encoding or locale.getpreferredencoding(False)).lower()
    colour = (
        "no colour, because NO_COLOR is set"
        if os.environ.get("NO_COLOR")
        else f"TERM is {os.environ.get('TERM', 'not set')}"
    )
    if re.sub(r"[^a-z0-9]", "", encoding) == "utf8" and sys.getfilesystemencoding() == "utf-8":
        return CheckResult("ok", f"UTF-8; {colour}")
    return CheckResult(
        "warning",
        f"{encoding}: characters such as ⊆ and ● are shown as ?; {colour}",
        "set LANG to a UTF-8 locale such as C.UTF-8, or PYTHONUTF8=1",
    )


def check_time_zone() -> CheckResult:
    """Check that TZ, if set, names a time zone; provenn records, and Spark computes, in UTC."""
    zone = os.environ.get("TZ", "").removeprefix(":")
    message = f"{tzname[0]} here; records and results use UTC"
    if re.fullmatch(r"[A-Za-z_+-]+(/[A-Za-z_+-]+)+", zone):  # otherwise TZ is a rule, such as CET-1CEST, or a file
        try:
            ZoneInfo(zone)
        except ZoneInfoNotFoundError:
            return CheckResult("warning", f"TZ is {zone}, which is not a time zone; {message}", "correct or unset TZ")
    return CheckResult("ok", message)
