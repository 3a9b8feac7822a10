"""An archive of very many catalogs: define, list, search, relate, discover, plan, check, back up.

Run ``python -m benchmarks million`` for 50 000 catalogs; ``python -m benchmarks.million --size 1000000`` for a million.
Everything is also measured with a tenth of the catalogs. What is promised is that the time of what reads all catalogs
grows no faster than their number, that other answers do not wait for all catalogs, and that discovery takes little
memory. The archives are those of `benchmarks.archives`, in SQLite, and the catalogs are defined in batches.

All times are those of the processor: others who use the machine do not count. Questions are medians, in a process that
opens the archive anew, so that the first discovery reads the stored index.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial
from math import log10
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time

from benchmarks.archives import make_catalogs, name_of
from benchmarks.lineages import generate
from benchmarks.measure import Minimum, in_fresh_process, peak_memory, show, shown
from provenn.archive import Archive, open_archive

__all__ = ["main"]

SIZE = 50_000
BATCH = 100_000
QUESTIONS = 9
PATIENCE = 7200.0

# What is promised.
GROWTH = 1.3
"""The exponent with which the time of what reads all catalogs grows at most."""
MEMORY = 2 * 2**30
"""The memory of a process that discovers among a million catalogs."""

READ_ALL = ("define all", "first discovery", "check", "backup")
DISCOVERY = ("same_sources", "covering", "inside", "apart_from")


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and return whether what is promised is reached."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=SIZE)
    size = parser.parse_args(arguments or []).size
    smaller, larger = _measure_size(size // 10), _measure_size(size)
    growths = {name: log10(larger[name] / smaller[name]) for name in larger if smaller.get(name)}
    show(
        f"an archive of {size:,} catalogs".replace(",", " "),
        ("what", f"s, {size // 10} catalogs", f"s, {size} catalogs", "exponent"),
        [
            (name, shown(smaller[name]), shown(larger[name]), f"{growths[name]:.2f}")
            for name in growths
            if name[-1] != "B"
        ],
    )
    memory = larger["discovery, B"]
    print(f"memory of a process that discovers: {memory / 2**20:.0f} MB")
    growth = max(growths[name] for name in READ_ALL)
    rows = [Minimum("1 / exponent of what reads all catalogs", 1 / growth, 1 / GROWTH)]
    rows.append(Minimum("2 GB against the memory of discovery", MEMORY / memory, 1))
    show("Minimums", ("what", "measured", "minimum", ""), [row.row() for row in rows])
    return 0 if all(row.reached for row in rows) else 1


def _measure_size(size: int) -> dict[str, float]:
    """Return the seconds of each step with a number of catalogs, and the memory of discovery in bytes."""
    with TemporaryDirectory() as folder:
        measured: dict[str, float] = {}
        for prepare in (_prepare_defining, _prepare_discovery, _prepare_questions, _prepare_upkeep):
            measured |= in_fresh_process(prepare, folder, size, seconds=PATIENCE) or {}
        return measured


def _prepare_defining(folder: str, size: int) -> Callable[[], dict[str, float]]:
    """Define all catalogs, in batches."""
    catalogs = make_catalogs(generate(size, 0))

    def define() -> dict[str, float]:
        began = process_time()
        with open_archive(folder) as archive:
            for start in range(0, size, BATCH):
                with archive.batch() as batch:
                    for number, catalog in enumerate(catalogs[start : start + BATCH], start):
                        batch.define(catalog, name_of(number) if number % 10 == 0 else None)
            seconds = process_time() - began
            one_more = []
            for number in range(QUESTIONS):
                began = process_time()
                archive.catalog(catalogs[number].digest).select(f"mag_u < {number}.25", name=f"more {number}")
                one_more.append(process_time() - began)
        return {"define all": seconds, "define one more": median(one_more)}

    return define


def _prepare_discovery(folder: str, size: int) -> Callable[[], dict[str, float]]:
    """Build the index, by the first discovery of all."""

    def discover() -> dict[str, float]:
        with open_archive(folder) as archive:
            seconds = _take_time(lambda: archive.covering(name_of(size // 20 * 10)))
        return {"first discovery": seconds, "discovery, B": float(peak_memory())}

    return discover


def _prepare_questions(folder: str, size: int) -> Callable[[], dict[str, float]]:
    """Ask in a process that finds the stored index."""

    def ask() -> dict[str, float]:
        random = Random(1)
        names = [name_of(10 * number) for number in range(size // 10)]
        with open_archive(folder) as archive:
            measured = {"discovery in a new process": _take_time(lambda: archive.covering(random.choice(names)))}
            questions = {name: getattr(archive, name) for name in DISCOVERY}
            for name, ask in questions.items():
                asked = [random.choice(names) for _ in range(QUESTIONS)]
                measured[name] = median(_take_time(partial(ask, catalog)) for catalog in asked)
            after = []
            for number in range(QUESTIONS):
                archive.catalog(random.choice(names)).select(f"mag_u < {number}.125")
                after.append(_take_time(lambda: archive.covering(random.choice(names))))
            measured["covering, after a definition"] = median(after)
            measured["list 20"] = _take_median(lambda: list(archive.search(most=20)))
            measured["search 20"] = _take_median(lambda: list(archive.search("mag_u < 1", most=20)))
            measured["relate"] = _take_median(lambda: archive.relate(random.choice(names), random.choice(names)))
            measured["plan"] = _take_median(lambda: _plan(archive, random.choice(names)))
        return measured

    return ask


def _plan(archive: Archive, name: str) -> object:
    return archive.target(sources=name, attributes=["id", "mag_u"]).plan()


def _prepare_upkeep(folder: str, _: int) -> Callable[[], dict[str, float]]:
    """Check the archive, and back it up."""

    def keep_up() -> dict[str, float]:
        with open_archive(folder) as archive, TemporaryDirectory() as elsewhere:
            checked = _take_time(archive.check)
            return {"check": checked, "backup": _take_time(lambda: archive.backup(Path(elsewhere) / "copy"))}

    return keep_up


def _take_time(act: Callable[[], object]) -> float:
    began = process_time()
    act()
    return process_time() - began


def _take_median(act: Callable[[], object]) -> float:
    return median(_take_time(act) for _ in range(QUESTIONS))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
