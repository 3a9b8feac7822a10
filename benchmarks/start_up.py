"""Starting commands that compute nothing: processor time of a process, against importing the libraries it cannot avoid.

Run ``python -m benchmarks start_up``. Each command runs as a process on a small archive. What it cannot avoid is Python
itself, typer with pydantic, and SQLAlchemy, imported in a process of their own in the same run. With ``-X importtime``
Python lists what a command imports: the benchmark fails if a command imports a library that it does not need.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from subprocess import run
from tempfile import TemporaryDirectory

from benchmarks.measure import Minimum, show
from provenn.archive import open_archive

__all__ = ["main"]

RUNS = 5
UNAVOIDABLE = "import typer, typer._adapters, sqlalchemy, sqlalchemy.dialects.sqlite"
NEEDLESS = {"pyspark", "pandas", "alembic", "sqlglot", "pyarrow", "astropy", "rich"}
BOUNDING = "provenn.logic.knowledge.weighted_sat"
THEORIES = {"provenn.criteria.reductions", "provenn.criteria.coordinates", BOUNDING}
"""Modules of provenn that no command needs for criteria that compare attributes with constants, except that a count
bounds what it counts."""

COMMANDS = {
    "ls": (["ls"], NEEDLESS | THEORIES | {"numpy", "pysat"}),
    "show": (["show", "bright"], NEEDLESS | THEORIES | {"numpy", "pysat"}),
    "relate": (["relate", "bright", "stars"], NEEDLESS | THEORIES),
    "head": (["head", "bright"], (NEEDLESS | THEORIES) - {"pyarrow"}),
    "count": (["count", "bright"], (NEEDLESS | THEORIES) - {"pyarrow", BOUNDING}),
}
"""Commands, each with its arguments and the libraries and modules that it does not need."""

# What is promised.
RATIO = 2
"""How many times longer than its unavoidable imports ``provenn ls`` takes at most."""

# The aim.
SECONDS = 0.5
"""Seconds of a processor that each of the commands takes at most."""

READING_SECONDS = 1.0
"""The same for commands that read rows."""

READING = ("head", "count")


def main() -> int:
    """Measure, print, and return whether what is promised is reached."""
    with TemporaryDirectory() as folder:
        make_small_archive(Path(folder))
        least = measure(["-c", UNAVOIDABLE], folder)
        rows = [("what no command avoids", f"{least:.2f}", "1.0", "")]
        ratios, is_needless = {}, False
        for name, (arguments, needless) in COMMANDS.items():
            seconds = measure(["-m", "provenn", *arguments], folder)
            modules = list_imported(["-m", "provenn", *arguments], folder)
            imported = sorted({name for name in modules if {name, name.split(".")[0]} & needless})
            is_needless = is_needless or bool(imported)
            ratios[name] = seconds / least
            rows.append((f"provenn {name}", f"{seconds:.2f}", f"{ratios[name]:.1f}", ", ".join(imported) or "nothing"))
    show("starting commands", ("process", "CPU s", "ratio", "imported needlessly"), rows)
    promised = Minimum("provenn ls, against what no command avoids", ratios["ls"], RATIO, at_most=True)
    show("Minimums", ("what", "measured", "minimum", ""), [promised.row()])
    return 0 if promised.reached and not is_needless else 1


def get_aim(command: str) -> float:
    """Return the seconds of a processor that a command takes at most."""
    return READING_SECONDS if command in READING else SECONDS


def make_small_archive(folder: Path) -> None:
    """Make an archive of two catalogs."""
    import pyarrow as pa  # noqa: PLC0415 - the archive is made in this process, commands run in others
    from pyarrow import parquet  # noqa: PLC0415

    parquet.write_table(pa.table({"hip": [1], "vmag": [2.0]}), folder / "stars.parquet")
    with open_archive(folder) as archive:
        stars = archive.ingest("stars", folder / "stars.parquet", key="hip", population="star")
        stars.select("vmag < 6", name="bright")


def measure(arguments: list[str], folder: str) -> float:
    """Return the seconds of the processor that a process takes, at the median."""
    return median(_take_time(arguments, folder) for _ in range(RUNS))


def _take_time(arguments: list[str], folder: str) -> float:
    before = getrusage(RUSAGE_CHILDREN)
    run([sys.executable, *arguments], cwd=folder, check=True, capture_output=True, env=os.environ)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def list_imported(arguments: list[str], folder: str) -> set[str]:
    """Return the modules that a process imports."""
    command = [sys.executable, "-X", "importtime", *arguments]
    done = run(command, cwd=folder, check=True, capture_output=True, text=True, env=os.environ)
    return set(re.findall(r"^import time:.*\|\s+(\S+)$", done.stderr, re.MULTILINE))


if __name__ == "__main__":
    sys.exit(main())
