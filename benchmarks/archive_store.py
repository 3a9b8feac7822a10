"""An archive of 100 000 catalogs: what a question costs in a fresh process, and what one more catalog costs.

Run ``python -m benchmarks.archive_store``; ``--size 10000`` for a smaller one. The archive and its catalogs are those
of `benchmarks.archives`, in SQLite; the questions those of `benchmarks.lineages`.

A question is asked in a process that begins with nothing: its time counts from its start to its end, imports and
opening the archive included, and so does its memory. What it reads is the cone of its two catalogs and the facts that
bear on them; for comparison everything is read once, and must give the same answers. One more catalog is a selection
by a new criterion, read, added and named, in a transaction of its own.
"""

from __future__ import annotations

import os
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median
from subprocess import PIPE, Popen
from time import perf_counter

from sqlalchemy import func, select

from benchmarks.archives import MadeArchive, make_archive
from benchmarks.lineages import Kind, ask
from benchmarks.measure import Minimum, patiently, show, shown
from provenn.catalogs import SelectSources
from provenn.database.tables import catalogs
from provenn.definitions import catalog_names
from provenn.definitions.ancestors import read_cone
from provenn.definitions.catalog_store import add_catalogs, get_catalog
from provenn.digests import CatalogDigest
from provenn.formats.opening import open_database
from provenn.knowledge.consequences import build_knowledge
from provenn.knowledge.stored_facts import find_all_facts, list_catalogs, read_closed_cone
from provenn.logic import Statement, disjoint, equal, subset

__all__ = ["main"]

SIZE = 100_000
QUESTIONS = 60
FRESH = 12
"""How many of the questions are asked in a fresh process."""

ADDED = 100

# What is promised.
SECONDS = 1.5
MEGABYTES = 300
MILLISECONDS = 20
RATIO = 20
"""How many times faster by cone than by reading everything."""

QUESTION = """
import sys
from provenn.logic import statement
from provenn.formats.opening import open_database
from provenn.knowledge.stored_facts import read_closed_cone
from provenn.knowledge.consequences import build_knowledge

said = statement(sys.argv[2])
with open_database(sys.argv[1]) as database, database.reading() as reading:
    print(build_knowledge(*read_closed_cone(reading, said.labels)).knowledge.entails(said))
with open("/proc/self/status") as status:
    print(next(line.split()[1] for line in status if line.startswith("VmHWM")))
"""


@dataclass(frozen=True, slots=True)
class Fresh:
    """What a question took in a process of its own, and its answer."""

    seconds: float
    processor: float
    megabytes: float
    answer: bool


def in_a_fresh_process(place: Path, question: Statement) -> Fresh:
    """Ask a question in a process that begins with nothing."""
    start = perf_counter()
    process = Popen([sys.executable, "-c", QUESTION, place, str(question)], stdout=PIPE, text=True)
    with process, process.stdout as out:  # type: ignore[union-attr] # there is one, it was asked for
        answer, kilobytes = out.read().split()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = perf_counter() - start
    return Fresh(seconds, usage.ru_utime + usage.ru_stime, int(kilobytes) / 1e3, answer == "True")


@dataclass(frozen=True, slots=True)
class Asked:
    """What questions took within one process, and their answers: by cone, and by everything."""

    by_cone: list[float]
    read: list[int]
    answers: list[bool]
    by_everything: float
    same_answers: list[bool]


def prepare_asking(place: Path, questions: Sequence[Statement]) -> Callable[[], Asked]:
    """Return what asks all questions, twice."""

    def work() -> Asked:
        by_cone, read, answers = [], [], []
        with open_database(place) as database, database.reading() as reading:
            for question in questions:
                start = perf_counter()
                definitions, facts = read_closed_cone(reading, list_catalogs(question))
                answers.append(build_knowledge(definitions, facts).knowledge.entails(question))
                by_cone.append(perf_counter() - start)
                read.append(len(definitions))
            start = perf_counter()
            everything = read_cone(reading, reading.connection.scalars(select(catalogs.c.digest)).all())
            knowledge = build_knowledge(everything, find_all_facts(reading)).knowledge
            first = knowledge.entails(questions[0])
            by_everything = perf_counter() - start
            rest = [knowledge.entails(question) for question in questions[1:]]
        return Asked(by_cone, read, answers, by_everything, [first, *rest])

    return work


def prepare_adding(place: Path, digests: Sequence[CatalogDigest]) -> Callable[[], list[float]]:
    """Return what adds catalogs, one a transaction, and says how many seconds each took."""

    def work() -> list[float]:
        random, took = Random(1), []
        with open_database(place) as database:
            with database.reading() as reading:
                parents = [get_catalog(reading, digest) for digest in random.sample(digests, ADDED)]
            for number, parent in enumerate(parents):
                start = perf_counter()
                new = SelectSources.of(parent, f"mag_v < {number + 0.123}")
                with database.writing() as writing:
                    add_catalogs(writing, new)
                    catalog_names.assign_name(writing, f"new {number}", new.digest)
                took.append(perf_counter() - start)
        return took

    return work


def questions_of(archive: MadeArchive) -> list[Statement]:
    """Return the questions, about digests."""
    made = {Kind.EQUAL: equal, Kind.SUBSET: subset, Kind.DISJOINT: disjoint}
    rows = ask(archive.lineage, QUESTIONS).rows()
    return [made[Kind(kind)](archive.digests[left], archive.digests[right]) for kind, left, right in rows]


def main(arguments: Sequence[str] = ()) -> int:
    """Measure, print tables, and return 1 if an answer differs, a catalog is lost, or a minimum is missed."""
    parser = ArgumentParser(description="what a question, and one more catalog, cost in a large archive")
    parser.add_argument("--size", type=int, default=SIZE, help="how many catalogs")
    options = parser.parse_args(list(arguments))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "provenn.sqlite"
        start = perf_counter()
        archive = make_archive(place, options.size)
        making = perf_counter() - start
        questions = questions_of(archive)
        fresh = [in_a_fresh_process(place, question) for question in questions[:FRESH]]
        asked = patiently(prepare_asking, place, questions)
        adding = patiently(prepare_adding, place, archive.digests)
        kept = _count(place) == options.size + ADDED
        bytes_a_catalog = place.stat().st_size / options.size
    size, seconds, bytes_each = shown(options.size), shown(making), shown(bytes_a_catalog)
    show(
        f"{size} catalogs in SQLite, made in {seconds} s, {bytes_each} bytes a catalog",
        ("what", "median", "worst"),
        (
            _row("a question in a fresh process, s", [one.seconds for one in fresh]),
            _row("… its processor time, s", [one.processor for one in fresh]),
            _row("… its memory, MB", [one.megabytes for one in fresh]),
            _row("a question in a running process, ms", [one * 1e3 for one in asked.by_cone]),
            _row("… the catalogs that it reads", asked.read),
            _row("everything and a question, ms", [asked.by_everything * 1e3]),
            _row("one more catalog, ms", [one * 1e3 for one in adding]),
        ),
    )
    ratio = asked.by_everything / median(asked.by_cone)
    minimums = (
        Minimum("a question in a fresh process", median(one.seconds for one in fresh), SECONDS, "s", at_most=True),
        Minimum("… its memory at worst", max(one.megabytes for one in fresh), MEGABYTES, "MB", at_most=True),
        Minimum("one more catalog", median(adding) * 1e3, MILLISECONDS, "ms", at_most=True),
        Minimum("by cone against by everything", ratio, RATIO * options.size / SIZE),
    )
    show("Minimums", ("what", "measured", "minimum", ""), (minimum.row() for minimum in minimums))
    agree = asked.answers == asked.same_answers and [one.answer for one in fresh] == asked.answers[:FRESH]
    if not agree:
        print("the answers DISAGREE")
    if not kept:
        print("catalogs were LOST")
    return int(not (agree and kept and all(minimum.reached for minimum in minimums)))


def _count(place: Path) -> int | None:
    with open_database(place) as database, database.reading() as reading:
        return reading.connection.scalar(select(func.count()).select_from(catalogs))


def _row(what: str, figures: Sequence[float]) -> tuple[str, str, str]:
    return what, shown(median(figures)), shown(max(figures))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
