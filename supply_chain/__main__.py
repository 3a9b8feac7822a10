"""``python -m supply_chain audit`` and ``python -m supply_chain sbom``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from supply_chain.checks import (
    EXTENDED,
    OF_THE_ENVIRONMENT,
    check_advisories,
    check_files,
    check_licences,
    check_pins,
    read_advisories,
    read_pins,
)
from supply_chain.installed import installed_in
from supply_chain.inventory import inventory_text

__all__ = ["main"]

_HERE = Path(__file__).parent
_CONSTRAINTS = _HERE.parent / "constraints.txt"


def main(arguments: Sequence[str]) -> int:
    """Run a command; return its exit status."""
    match arguments:
        case ["audit"]:
            return _audit()
        case ["sbom"]:
            sys.stdout.write(inventory_text(installed_in()))
            return 0
    sys.stderr.write("usage: python -m supply_chain audit|sbom\n")
    return 2


def _audit() -> int:
    installed = installed_in()
    advisories = read_advisories(_HERE / "advisories.json")
    problems = [
        *check_pins(installed, read_pins(_CONSTRAINTS.read_text(encoding="utf-8"))),
        *check_files(installed),
        *check_licences(installed),
        *check_advisories(installed, advisories),
    ]
    for problem in problems:
        sys.stderr.write(f"{problem}\n")
    days = (datetime.now(UTC).date() - advisories.as_of).days
    tools = ", ".join(one.name for one in installed if one.name in OF_THE_ENVIRONMENT)
    sys.stdout.write(
        f"{len(installed)} distributions, {len(problems)} problems; {len(advisories.known)} advisories, collected "
        f"until {advisories.as_of}, {days} days ago: what was published since is not known here\n"
    )
    sys.stdout.write(f"not compared with their RECORD: launchers, provenn itself, {', '.join(sorted(EXTENDED))}\n")
    if tools:
        sys.stdout.write(f"neither pinned nor compared with advisories, as tools of the environment: {tools}\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
