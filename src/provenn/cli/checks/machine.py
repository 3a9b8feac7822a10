"""The machine that provenn runs on: Python, packages, folders, terminal, time zone."""

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
from provenn.cli.checks import Finding
from provenn.cli.checks.places import writable

__all__ = ["packages", "provenn_itself", "python", "temporary_folder", "terminal", "time_zone"]


def python() -> Finding:
    """Whether this Python is one that provenn supports."""
    wanted = distribution("provenn").metadata["Requires-Python"]
    told = f"{platform.python_version()}, {sys.executable}"
    if SpecifierSet(wanted).contains(platform.python_version(), prereleases=True):
        return Finding("ok", told)
    return Finding("wrong", told, f"provenn needs Python {wanted}")


def provenn_itself() -> Finding:
    """Which version of provenn this is, and whether it is the one that is installed."""
    installed = version("provenn")
    told = f"{provenn.__version__}, {Path(provenn.__file__).parent}"
    if installed == provenn.__version__:
        return Finding("ok", told)
    return Finding("warning", f"{told}; {installed} is installed", "pip install it again")


def packages() -> Finding:
    """Whether the packages that provenn needs are there, in versions that it is made for."""
    needed = [Requirement(one) for one in requires("provenn") or ()]
    needed = [one for one in needed if one.marker is None or one.marker.evaluate({"extra": ""})]
    there, wrong = [], []
    for one in needed:
        try:
            found = version(one.name)
        except PackageNotFoundError:
            wrong.append(f"{one.name} is missing")
            continue
        there.append(f"{one.name} {found}")
        if not one.specifier.contains(found, prereleases=True):
            wrong.append(f"{one.name} is {found}, and {one.specifier} is needed")
        elif not _importable(one.name):
            wrong.append(f"{one.name} {found} is installed, but its files are not there")
    if wrong:
        return Finding("wrong", "; ".join(wrong), "pip install --upgrade --force-reinstall provenn")
    return Finding("ok", ", ".join(there))


def _importable(name: str) -> bool:
    """Whether a module of an installed package can be found; it is not imported, as that may take long."""
    files = distribution(name).files or []
    tops = {one.parts[0].removesuffix(".py") for one in files if re.fullmatch(r"\w+(\.py|/__init__\.py)", str(one))}
    return not tops or any(find_spec(one) is not None for one in tops)


def temporary_folder() -> Finding:
    """Whether the folder for temporary files can be used."""
    return writable(Path(tempfile.gettempdir()))


def terminal() -> Finding:
    """Whether all characters can be shown."""
    encoding = (sys.stdout.encoding or locale.getpreferredencoding(False)).lower()
    colour = (
        "no colour, as NO_COLOR says" if os.environ.get("NO_COLOR") else f"TERM is {os.environ.get('TERM', 'not set')}"
    )
    if re.sub(r"[^a-z0-9]", "", encoding) == "utf8" and sys.getfilesystemencoding() == "utf-8":
        return Finding("ok", f"UTF-8; {colour}")
    return Finding(
        "warning",
        f"{encoding}: characters such as ⊆ and ● are shown as ?; {colour}",
        "set LANG to a UTF-8 locale such as C.UTF-8, or PYTHONUTF8=1",
    )


def time_zone() -> Finding:
    """Whether the time zone of the environment is one. What provenn records, and what Spark computes, is in UTC."""
    zone = os.environ.get("TZ", "").removeprefix(":")
    told = f"{tzname[0]} here; what is recorded and computed is in UTC"
    if re.fullmatch(r"[A-Za-z_+-]+(/[A-Za-z_+-]+)+", zone):  # others are rules, such as CET-1CEST, or files
        try:
            ZoneInfo(zone)
        except ZoneInfoNotFoundError:
            return Finding("warning", f"TZ is {zone}, which no time zone is called; {told}", "correct or unset TZ")
    return Finding("ok", told)
