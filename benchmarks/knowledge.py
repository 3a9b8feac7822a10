"""1 000 questions about lineages of growing size: `Knowledge` against every peer that is installed.

Run ``python -m benchmarks.knowledge``; ``--sizes 100 1000`` for other sizes, ``--million`` for a million sets as well,
``--ten-million`` for ten million from arrays.

What is measured: the time to build and to answer 1 000 questions, the best of a few runs where they are short, each
contender in a fresh process. Lineage and questions are those of `benchmarks.lineages`. Everybody starts from the same
thing, in two ways:

- from made statements (no parsing): `Knowledge` takes them as they are; a peer's time includes reading them into arrays
  (`benchmarks.peers.reading`, one pass);
- from arrays: `Knowledge` takes its `Lineage`; a peer makes its own input from the arrays, with NumPy where it can.

A peer's time includes writing its input, starting its process where it is one, and reading its answers; not the import
of its Python module. ABC is given all questions at once; the others, and Knowledge, one after the other. It runs twice:
with ``fraig``, and with ``&fraig -y``, a sweeper for whole batches in a graph format of its own, which is the fastest
there is and has a ratio of its own. Neither Knowledge nor ABC looks closely at sets that no question is about:
Knowledge builds the cones of the questions, and ABC drops what no output depends on. The answers of every peer are
compared with those of Knowledge. A peer that takes longer than the limit is shown as ``> limit``, and is not asked
about larger lineages.

Memory beyond what the caller made: the bytes a set are what Python and NumPy hold after building and did not hold
before, counted by tracemalloc in a process of its own, because it slows building down; the peak is that of the resident
set over both building and asking, the SAT solver included, less what was resident before. The whole process is that
peak with what was resident before: the interpreter, the caller's labels and arrays, and the questions.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from statistics import median
from time import perf_counter

from benchmarks.lineages import Lineage, Questions, ask, generate, repeat
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
from benchmarks.peers import BATCH_FRAIG, PEERS, Peer, installed
from benchmarks.peers.reading import read
from provenn.logic import Statement
from provenn.logic.knowledge import Knowledge
from provenn.logic.knowledge import Lineage as Arrays

__all__ = ["knowledge_from_arrays", "main", "prepare_peer", "prepare_provenn"]

SIZES = (100, 1_000, 10_000, 100_000)
MILLION = 1_000_000
TEN_MILLION = 10_000_000
LIMIT = 20.0
"""Seconds that a peer may take at one size."""

# What is promised.
SETS_A_SECOND = 200_000
BYTES_A_SET = 400
MILLION_SECONDS = 3.3
MILLION_MEGABYTES = 500
MILLION_MICROSECONDS = 30
TEN_MILLION_MEGABYTES = 4_000


def least_ratio(size: int) -> float:
    """Return how many times faster than the best peer Knowledge must be."""
    if size < 1_000:
        return 0.5
    return 1.0 if size < 100_000 else 1.5


Start = Callable[[Lineage], Callable[[], Knowledge]]


@dataclass(frozen=True, slots=True)
class PeerTime:
    """What a peer took, in seconds, and what it answered."""

    reading: float
    answering: float
    answers: list[bool]


@dataclass(frozen=True, slots=True)
class OwnTime:
    """What Knowledge took, in seconds and bytes, and what it answered."""

    seconds: float
    building: float
    question: float
    answers: list[bool]
    peak: int
    whole: int


def knowledge_from_arrays(lineage: Lineage) -> Callable[[], Knowledge]:
    """Return how Knowledge is built from arrays; the labels are the caller's, and made before."""
    labels = lineage.labels()
    return lambda: Knowledge(Arrays(labels, lineage.operations, lineage.left, lineage.right))


def knowledge_from_statements(lineage: Lineage) -> Callable[[], Knowledge]:
    """Return how Knowledge is built from statements, which are made before."""
    facts = lineage.statements()
    return lambda: Knowledge(facts)


STARTS: dict[str, Start] = {"statements": knowledge_from_statements, "arrays": knowledge_from_arrays}


def prepare_provenn(start: Start, lineage: Lineage, questions: Questions) -> Callable[[], OwnTime]:
    """Make what the caller would have; return what is to be measured."""
    build = start(lineage)
    asked = questions.statements()

    def work() -> OwnTime:
        gc.collect()
        before = resident_memory()
        done = runs(lambda: _build_and_ask(build, asked))
        seconds, (building, question, answers, _) = min(done, key=itemgetter(0))
        # Later runs find room that the first has left, so the first alone tells what memory it takes.
        _, (*_, peak) = done[0]
        return OwnTime(seconds, building, question, answers, peak - before, peak)

    return work


def _build_and_ask(build: Callable[[], Knowledge], asked: Sequence[Statement]) -> tuple[float, float, list[bool], int]:
    start = perf_counter()
    knowledge = build()
    building = perf_counter() - start
    took, answers = [], []
    for question in asked:
        start = perf_counter()
        answers.append(knowledge.entails(question))
        took.append(perf_counter() - start)
    return building, median(took), answers, peak_memory()


def prepare_weighing(start: Start, lineage: Lineage) -> Callable[[], int]:
    """Make what the caller would have; return what tells how many bytes Knowledge adds to it."""
    build = start(lineage)

    def work() -> int:
        gc.collect()
        tracemalloc.start()
        knowledge = build()
        gc.collect()
        held, _ = tracemalloc.get_traced_memory()
        del knowledge
        return held

    return work


def prepare_peer(peer: Peer, lineage: Lineage, questions: Questions) -> Callable[[], PeerTime]:
    """Make what the caller would have, import the peer's module; return what is to be measured."""
    peer.missing()
    facts, asked = lineage.statements(), questions.statements()

    def work() -> PeerTime:
        reading, found = best_of(lambda: read(facts, asked))
        facts.clear()  # who starts from arrays has no statements lying about
        answering, answers = best_of(lambda: peer.answers(found.lineage, found.questions))
        return PeerTime(reading, answering, answers)

    return work


@dataclass(frozen=True, slots=True)
class Race:
    """One size from one start: what Knowledge took, and each peer; None where it took too long.

    Parameters
    ----------
    size
        How many sets.
    start
        "statements" or "arrays".
    cone
        How many sets a question depends on, at the median.
    own, held
        The times of Knowledge, and the bytes it holds after building; None where they were not counted.
    peers
        The times of the peers, by name.
    """

    size: int
    start: str
    cone: float
    own: OwnTime
    held: int | None
    peers: dict[str, PeerTime | None]

    @property
    def seconds(self) -> dict[str, float | None]:
        """What each peer took from this start."""
        reading = self.start == "statements"
        return {name: took.answering + took.reading * reading if took else None for name, took in self.peers.items()}

    @property
    def ratio(self) -> float:
        """How many times faster than the best peer Knowledge is, leaving out the sweeper that takes only batches."""
        named = (took for name, took in self.seconds.items() if took and name != BATCH_FRAIG.name)
        return min(named, default=float("inf")) / self.own.seconds

    @property
    def ratio_to_batch(self) -> float | None:
        """How many times faster Knowledge is than the sweeper that takes only batches."""
        took = self.seconds.get(BATCH_FRAIG.name)
        return took / self.own.seconds if took else None

    def disagreeing(self) -> list[str]:
        """The peers that answered otherwise than Knowledge."""
        return [name for name, took in self.peers.items() if took and took.answers != self.own.answers]


def _find_cone(lineage: Lineage, questions: Questions) -> float:
    return median(lineage.cone(left, right) for _, left, right in questions.rows())


def race_ten_million() -> Race:
    """Measure Knowledge alone, from arrays: the statements of ten million sets would take more memory than anything.

    The sets are ten copies of a million: to generate ten million takes a minute, and more memory than to ask.
    """
    own, cone = patiently(prepare_ten_million)
    return Race(TEN_MILLION, "arrays", cone, own, None, {})


def prepare_ten_million() -> Callable[[], tuple[OwnTime, float]]:
    """Make what the caller would have; return what is to be measured."""
    million = generate(MILLION)
    few = ask(million)
    cone = _find_cone(million, few)
    work = prepare_provenn(knowledge_from_arrays, *repeat(million, few, TEN_MILLION // MILLION))
    return lambda: (work(), cone)


def races(size: int, peers: Sequence[Peer], limit: float) -> list[Race]:
    """Measure everybody at one size, from both starts."""
    lineage = generate(size)
    questions = ask(lineage)
    cone = _find_cone(lineage, questions)
    times = {peer.name: in_fresh_process(prepare_peer, peer, lineage, questions, seconds=limit) for peer in peers}
    found = []
    for start, make in STARTS.items():
        own = patiently(prepare_provenn, make, lineage, questions)
        held = patiently(prepare_weighing, make, lineage)
        found.append(Race(size, start, cone, own, held, times))
    return found


def main(arguments: Sequence[str] = ()) -> int:
    """Measure, print tables, and return 1 if an answer differs or a minimum is missed."""
    parser = ArgumentParser(description="1 000 questions about lineages: Knowledge against its peers")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="how many sets")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds a peer may take at one size")
    parser.add_argument("--million", action="store_true", help="a million sets as well, Knowledge alone")
    parser.add_argument("--ten-million", action="store_true", help="ten million sets as well, from arrays")
    options = parser.parse_args(list(arguments))

    show_load()
    running = installed(PEERS)
    names = [peer.name for peer in running]
    done: list[Race] = []
    for size in sorted(options.sizes):
        done += races(size, running, options.limit)
        running = [peer for peer in running if done[-1].peers[peer.name]]
    if options.million:
        done += races(MILLION, (), options.limit)
    if options.ten_million:
        done.append(race_ten_million())

    for start in STARTS:
        _show_times(start, [race for race in done if race.start == start], names, options.limit)
    print("Processes (ABC, E) are started within the time shown.")
    _show_own(done)
    minimums = [minimum for race in done for minimum in _minimums(race)]
    show("Minimums", ("what", "measured", "minimum", ""), (minimum.row() for minimum in minimums))
    wrong = [f"{name} at {race.size} sets" for race in done for name in race.disagreeing()]
    for one in wrong:
        print(f"DISAGREES with provenn: {one}")
    return int(bool(wrong) or not all(minimum.reached for minimum in minimums))


def _show_times(start: str, done: Sequence[Race], names: Sequence[str], limit: float) -> None:
    show(
        f"Building and 1 000 questions, from {start}: seconds",
        ("sets", *(shown(race.size) for race in done)),
        [
            ["provenn", *(shown(race.own.seconds) for race in done)],
            *([name, *(shown_time(race.seconds, name, limit) for race in done)] for name in names),
            ["ratio of the best peer to provenn", *(f"{shown(race.ratio)} x" if race.peers else "–" for race in done)],
            [f"ratio of {BATCH_FRAIG.name} to provenn", *(_shown_ratio(race.ratio_to_batch) for race in done)],
        ],
    )


def _shown_ratio(ratio: float | None) -> str:
    return "–" if ratio is None else f"{shown(ratio)} x"


def _show_own(done: Sequence[Race]) -> None:
    show(
        "provenn (a question's time and cone at the median; memory beyond what the caller made)",
        (
            "sets",
            "from",
            "seconds",
            "µs/question",
            "cone",
            "built sets/s",
            "held bytes/set",
            "peak MB",
            "whole process MB",
        ),
        (
            (
                shown(race.size),
                race.start,
                shown(race.own.seconds),
                shown(race.own.question * 1e6),
                shown(race.cone),
                shown(race.size / race.own.building),
                "–" if race.held is None else shown(race.held / race.size),
                shown(race.own.peak / 1e6),
                shown(race.own.whole / 1e6),
            )
            for race in done
        ),
    )


def _minimums(race: Race) -> list[Minimum]:
    """Return the figures that a race is held to; the public way in, from statements, is what was promised."""
    found: list[Minimum] = []
    sets, own = f"{shown(race.size)} sets", race.own
    if race.size >= 100_000 and race.ratio_to_batch is not None:
        what = f"{sets} from {race.start}: ratio to {BATCH_FRAIG.name}"
        found.append(Minimum(what, race.ratio_to_batch, 1))
    if race.size == TEN_MILLION:
        whole = own.whole / 1e6
        found.append(Minimum(f"{sets}: whole process", whole, TEN_MILLION_MEGABYTES, "MB", at_most=True))
    if race.start != "statements":
        return found
    if any(race.peers.values()):
        found.append(Minimum(f"{sets}: ratio to the best peer", race.ratio, least_ratio(race.size)))
    if race.size >= 100_000 and race.held is not None:
        found += [
            Minimum(f"{sets}: built", race.size / own.building, SETS_A_SECOND, "sets/s"),
            Minimum(f"{sets}: held", race.held / race.size, BYTES_A_SET, "bytes/set", at_most=True),
        ]
    if race.size == MILLION:
        found += [
            Minimum(f"{sets}: building and 1 000 questions", own.seconds, MILLION_SECONDS, "s", at_most=True),
            Minimum(f"{sets}: peak memory", own.peak / 1e6, MILLION_MEGABYTES, "MB", at_most=True),
            Minimum(f"{sets}: a question", own.question * 1e6, MILLION_MICROSECONDS, "µs", at_most=True),
        ]
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
