"""An archive of 100 000 catalogs, as people use it: `provenn relate`, one more catalog, leaving and coming back.

Run ``python -m benchmarks.archive``; ``--size 10000`` for a smaller one. The archive is that of `benchmarks.archives`,
in SQLite; what the store alone takes is measured by `benchmarks.archive_store`.

``provenn relate A B --json`` is a process that begins with nothing. Its time counts from its start to its end, imports
included; its memory is the most it ever held. One more catalog is a selection by a new criterion, by the handle of its
parent, with a name. Coming back means that another process finds every catalog, every name and every fact.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median
from subprocess import run
from time import perf_counter

from benchmarks.archives import make_archive, name_of
from benchmarks.measure import Minimum, patiently, show, show_load, shown
from provenn.archive import DATABASE, open_archive

__all__ = ["main"]

SIZE = 100_000
QUESTIONS = 12
ADDED = 100

# What is promised.
SECONDS = 1.5
MEGABYTES = 300
MILLISECONDS = 20


# The command, and then, on the standard error, the most memory it held and its processor time. (What the system tells
# of a process that ended begins with what the process held that started it.)
COMMAND = """
import sys, time
from provenn.cli import main
try:
    main()
finally:
    with open("/proc/self/status") as status:
        memory = next(line.split()[1] for line in status if line.startswith("VmHWM"))
    print(memory, time.process_time(), file=sys.stderr)
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """What ``provenn relate`` answered, and what it took."""

    summary: str
    seconds: float
    processor: float
    megabytes: float


def relate(folder: Path, left: str, right: str) -> Asked:
    """Run ``provenn relate`` as a person would, whose Python keeps modules compiled."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")
    command = [sys.executable, "-c", COMMAND, "relate", left, right, "--archive", str(folder), "--json"]
    start = perf_counter()
    done = run(command, capture_output=True, text=True, check=True, env=environment)
    seconds = perf_counter() - start
    memory, processor = done.stderr.split()
    return Asked(json.loads(done.stdout)["summary"], seconds, float(processor), int(memory) / 1e3)


def prepare_relating(folder: Path, pairs: Sequence[tuple[str, str]]) -> Callable[[], list[str]]:
    """Return what answers the same questions within one process."""

    def work() -> list[str]:
        with open_archive(folder, create=False) as archive:
            return [archive.relate(*pair).summary for pair in pairs]

    return work


def prepare_adding(folder: Path, parents: Sequence[str]) -> Callable[[], list[float]]:
    """Return what defines catalogs, and says how many seconds each took."""

    def work() -> list[float]:
        took = []
        with open_archive(folder, create=False) as archive:
            for number, parent in enumerate(archive.catalogs(parents)):
                start = perf_counter()
                parent.select(f"mag_v < {number + 0.123}", name=f"new {number}")
                took.append(perf_counter() - start)
        return took

    return work


def prepare_counting(folder: Path) -> Callable[[], tuple[int, int, int]]:
    """Return what counts catalogs, names and facts."""

    def work() -> tuple[int, int, int]:
        with open_archive(folder, create=False) as archive:
            return len(archive), len([*archive]), len(archive.facts())

    return work


def main(arguments: Sequence[str] = ()) -> int:
    """Measure, print tables, and return 1 if an answer differs, something is lost, or a minimum is missed."""
    parser = ArgumentParser(description="what `provenn relate`, and one more catalog, cost in a large archive")
    parser.add_argument("--size", type=int, default=SIZE, help="how many catalogs")
    options = parser.parse_args(list(arguments))
    random = Random(2)
    named = [name_of(number) for number in range(0, options.size, 10)]
    pairs = [(random.choice(named), random.choice(named)) for _ in range(QUESTIONS)]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        make_archive(folder / DATABASE, options.size)
        before = patiently(prepare_counting, folder)
        relate(folder, *pairs[0])  # compiles what it imports
        fresh = [relate(folder, *pair) for pair in pairs]
        agree = [one.summary for one in fresh] == patiently(prepare_relating, folder, pairs)
        adding = patiently(prepare_adding, folder, random.sample(named, ADDED))
        kept = patiently(prepare_counting, folder) == (before[0] + ADDED, before[1] + ADDED, before[2])
    show(
        f"{shown(options.size)} catalogs",
        ("what", "median", "worst"),
        (
            _row("provenn relate, s", [one.seconds for one in fresh]),
            _row("… its processor time, s", [one.processor for one in fresh]),
            _row("… its memory, MB", [one.megabytes for one in fresh]),
            _row("one more catalog, ms", [one * 1e3 for one in adding]),
        ),
    )
    minimums = (
        Minimum("provenn relate", median(one.seconds for one in fresh), SECONDS, "s", at_most=True),
        Minimum("… its memory at worst", max(one.megabytes for one in fresh), MEGABYTES, "MB", at_most=True),
        Minimum("one more catalog", median(adding) * 1e3, MILLISECONDS, "ms", at_most=True),
    )
    show("Minimums", ("what", "measured", "minimum", ""), (minimum.row() for minimum in minimums))
    show_load()
    if not agree:
        print("the answers DISAGREE")
    if not kept:
        print("something was LOST")
    return int(not (agree and kept and all(minimum.reached for minimum in minimums)))


def _row(what: str, figures: Sequence[float]) -> tuple[str, str, str]:
    return what, shown(median(figures)), shown(max(figures))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
