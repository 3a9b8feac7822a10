"""All sets of a lineage put in order at once: `Knowledge.classify` against description-logic reasoners and CUDD.

Run ``python -m benchmarks.classify``; ``--sizes 1000`` for other sizes, ``--large`` for 100 000 sets as well, which no
peer finishes.

Everybody starts from made statements; a peer's time includes reading them, writing its input, starting its process
where it is one, and reading its answer. Each contender runs in a fresh process, the best of a few runs where they are
short. Classes and direct supersets are compared with those of Knowledge. The peak of memory is that of the resident
set, less what was resident before.
"""

from __future__ import annotations

import gc
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from benchmarks.lineages import Lineage, generate
from benchmarks.measure import (
    Minimum,
    best_of,
    in_fresh_process,
    patiently,
    peak_memory,
    resident_memory,
    runs,
    show,
    show_load,
    shown,
    shown_time,
)
from benchmarks.peers import CLASSIFIERS, Classifier, Hierarchy, installed
from benchmarks.peers.reading import read
from provenn.logic.knowledge import Classification, Knowledge

__all__ = ["main"]

SIZES = (1_000, 10_000)
LARGE = 100_000
LIMIT = 20.0
"""Seconds that a peer may take at one size."""

# What is promised. The large one is twice what a prototype took: 30 s and 0.2 GB.
LEAST_RATIO = {1_000: 1.0, 10_000: 2.5}
LARGE_SECONDS = 60
LARGE_MEGABYTES = 400


@dataclass(frozen=True, slots=True)
class Ordered:
    """What somebody took, in seconds, the order found, and the bytes that Knowledge took."""

    seconds: float
    hierarchy: Hierarchy
    peak: int = 0


def prepare_provenn(lineage: Lineage) -> Callable[[], Ordered]:
    """Make the statements; return what is to be measured."""
    facts = lineage.statements()

    def work() -> Ordered:
        gc.collect()
        before = resident_memory()
        done = runs(lambda: (Knowledge(facts).classify(), peak_memory()))
        seconds, (found, _) = min(done, key=itemgetter(0))
        _, (_, peak) = done[0]
        return Ordered(seconds, _hierarchy(found, read(facts).numbers), peak - before)

    return work


def _hierarchy(found: Classification, numbers: Mapping[str, int]) -> Hierarchy:
    return Hierarchy.of(
        len(numbers),
        ([numbers[name] for name in names] for names in found.classes),
        {numbers[name]: [numbers[over] for over in above] for name, above in found.parents.items()},
    )


def prepare_peer(peer: Classifier, lineage: Lineage) -> Callable[[], Ordered]:
    """Make the statements, import the peer's module; return what is to be measured."""
    peer.missing()
    facts = lineage.statements()

    return lambda: Ordered(*best_of(lambda: peer.classify(read(facts).lineage)))


@dataclass(frozen=True, slots=True)
class Race:
    """One size: what Knowledge took, and each peer; None where it took too long."""

    size: int
    own: Ordered
    peers: dict[str, Ordered | None]

    @property
    def seconds(self) -> dict[str, float | None]:
        """What each peer took."""
        return {name: found.seconds if found else None for name, found in self.peers.items()}

    @property
    def ratio(self) -> float:
        """How many times faster than the best peer Knowledge is."""
        return min(filter(None, self.seconds.values()), default=float("inf")) / self.own.seconds

    def disagreeing(self) -> list[str]:
        """The peers that found another order."""
        return [name for name, found in self.peers.items() if found and found.hierarchy != self.own.hierarchy]


def race(size: int, peers: Sequence[Classifier], limit: float) -> Race:
    """Measure everybody at one size."""
    lineage = generate(size)
    own = patiently(prepare_provenn, lineage)
    return Race(
        size,
        own,
        {peer.name: in_fresh_process(prepare_peer, peer, lineage, seconds=limit) for peer in peers},
    )


def main(arguments: Sequence[str] = ()) -> int:
    """Measure, print tables, and return 1 if an order differs or a minimum is missed."""
    parser = ArgumentParser(description="All sets of a lineage in order: Knowledge against its peers")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="how many sets")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds a peer may take at one size")
    parser.add_argument("--large", action="store_true", help=f"{LARGE} sets as well, Knowledge alone")
    options = parser.parse_args(list(arguments))

    show_load()
    running = installed(CLASSIFIERS)
    names = [peer.name for peer in running]
    races: list[Race] = []
    for size in sorted(options.sizes):
        races.append(race(size, running, options.limit))
        running = [peer for peer in running if races[-1].peers[peer.name]]
    if options.large:
        races.append(race(LARGE, (), options.limit))

    _show(races, names, options.limit)
    print("Processes (FaCT++, Konclude) are started within the time shown.")
    minimums = [minimum for one in races for minimum in _minimums(one)]
    show("Minimums", ("what", "measured", "minimum", ""), (minimum.row() for minimum in minimums))
    wrong = [f"{name} at {one.size} sets" for one in races for name in one.disagreeing()]
    for one in wrong:
        print(f"DISAGREES with provenn: {one}")
    return int(bool(wrong) or not all(minimum.reached for minimum in minimums))


def _show(races: Sequence[Race], names: Sequence[str], limit: float) -> None:
    show(
        "Building and putting all sets in order: seconds",
        ("sets", *(shown(race.size) for race in races)),
        [
            ["provenn", *(shown(race.own.seconds) for race in races)],
            *([name, *(shown_time(race.seconds, name, limit) for race in races)] for name in names),
            ["ratio of the best peer to provenn", *(f"{shown(race.ratio)} x" if race.peers else "–" for race in races)],
            ["provenn: peak MB", *(shown(race.own.peak / 1e6) for race in races)],
            ["classes", *(shown(len(race.own.hierarchy.parents)) for race in races)],
        ],
    )


def _minimums(race: Race) -> list[Minimum]:
    found = []
    sets = f"{shown(race.size)} sets"
    if any(race.peers.values()) and race.size in LEAST_RATIO:
        found.append(Minimum(f"{sets}: ratio to the best peer", race.ratio, LEAST_RATIO[race.size]))
    if race.size == LARGE:
        found += [
            Minimum(f"{sets}: seconds", race.own.seconds, LARGE_SECONDS, "s", at_most=True),
            Minimum(f"{sets}: peak memory", race.own.peak / 1e6, LARGE_MEGABYTES, "MB", at_most=True),
        ]
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
