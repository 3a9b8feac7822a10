"""Which catalogs hold the same sources, cover, lie inside or are apart from a catalog: among 20 000 catalogs.

Run ``python -m benchmarks discovery``; ``python -m benchmarks.discovery --size 100000`` for more catalogs, and
``python -m benchmarks.discovery --compares`` for criteria that compare columns with each other. The archive
is that of `benchmarks.archives`, in SQLite. Measured is a question in a process that has answered some before, the
first question after a new catalog with a new criterion, and the first question after the archive was opened anew, from
the stored index. For comparison, in the same run, the knowledge about all catalogs is built before the same question,
as the first question of each process once did.

All times are those of the processor: others who use the machine do not count.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time

from benchmarks.archives import make_archive
from benchmarks.measure import Minimum, show, shown
from provenn.archive import DATABASE, Archive, open_archive
from provenn.knowledge.growing_knowledge import GrowingKnowledge
from provenn.logic import Knowledge

__all__ = ["main"]

SIZE = 20_000
QUESTIONS = 7
WARMING = 4
LOOK_UPS = {
    "same_sources": Knowledge.equal_to,
    "covering": Knowledge.supersets_of,
    "inside": Knowledge.subsets_of,
    "apart_from": Knowledge.disjoint_from,
}
NAMES = tuple(LOOK_UPS)

# What is promised.
RATIO = 10
"""How many times faster a question after a definition is than building everything anew, at the median."""


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and return whether what is promised is reached."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=SIZE)
    parser.add_argument("--compares", action="store_true", help="a tenth of the criteria compare two columns")
    options = parser.parse_args(arguments or [])
    size = options.size
    with TemporaryDirectory() as folder:
        digests = make_archive(Path(folder) / DATABASE, size, compares=options.compares).digests
        with open_archive(folder) as archive:
            rows, ratios = measure(archive, digests, Random(1))
    show(
        f"discovery among {size:,} catalogs".replace(",", " "),
        ("question", "s", "s after a definition", "s after opening", "s if built anew", "ratio"),
        rows,
    )
    promised = Minimum("a question after a definition, against building everything anew", median(ratios), RATIO)
    show("Minimums", ("what", "measured", "minimum", ""), [promised.row()])
    return 0 if promised.reached else 1


def measure(archive: Archive, digests: Sequence[str], random: Random) -> tuple[list[tuple[str, ...]], list[float]]:
    """Return a row for each kind of question, and how many times faster than building anew each is."""
    for _ in range(WARMING):
        for name in NAMES:
            getattr(archive, name)(random.choice(digests))
    rows: list[tuple[str, ...]] = []
    ratios: list[float] = []
    for name in NAMES:
        ask = getattr(archive, name)
        steady, after = [], []
        digest = digests[0]
        for _ in range(QUESTIONS):
            digest = random.choice(digests)
            steady.append(take_time(ask, digest))
            archive.catalog(random.choice(digests)).select(f"mag_u < {random.random()}")
            after.append(take_time(ask, digest))
        with open_archive(Path(archive.place).parent) as other:
            opened = take_time(getattr(other, name), digest)
        anew = take_time(partial(build_and_ask, archive, look_up=LOOK_UPS[name]), digest)
        ratios.append(anew / median(after))
        rows.append((name, *map(shown, (median(steady), median(after), opened, anew)), f"{ratios[-1]:.1f}"))
    return rows, ratios


def build_and_ask(archive: Archive, digest: str, look_up: Callable[[Knowledge, str], object]) -> None:
    """Build the knowledge about all catalogs, and answer a question from it."""
    with archive.context.database.reading() as reading:
        look_up(GrowingKnowledge(reading, "star").knowledge, digest)


def take_time(ask: Callable[[str], object], digest: str) -> float:
    """Return the seconds of the processor that a question about a catalog takes."""
    began = process_time()
    ask(digest)
    return process_time() - began


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
