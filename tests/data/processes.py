"""What other processes do to an archive in the tests of concurrency and of crashes.

A program of its own, since it forks, which a process with threads, such as a test runner's, had better not:
``python -m tests.data.processes compete PLACE WORKERS``, ``… crash PLACE KILLS`` or ``… until PLACE FILE``.
"""

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from functools import cache
from itertools import count, takewhile
from pathlib import Path
from random import Random

from sqlalchemy import event, func, select

from provenn.catalogs import Catalog, KeepAttributes, SelectSources
from provenn.database.tables import catalogs, name_history
from provenn.database.transactions import Database, Writing
from provenn.definitions import catalog_names, catalog_store
from provenn.formats.opening import open_database
from provenn.knowledge.declarations import declare_fact
from provenn.knowledge.stored_facts import find_all_facts
from provenn.logic import nonempty, subset
from tests.catalogs.samples import base

# --- several at once ---


ROUNDS = 12


@cache
def shared(number: int) -> SelectSources:
    """A definition that every process makes."""
    return SelectSources.of(KeepAttributes.of(base(), ["hip", "vmag"]), f"vmag < {number}")


@cache
def own(worker: int, number: int) -> SelectSources:
    """A definition that one process alone makes."""
    return SelectSources.of(shared(number), f"hip > {worker}")


def work(place: str, worker: int, numbers: Iterable[int] = range(ROUNDS)) -> None:
    """Add, name and declare, in competition with others."""
    with open_database(place, who=f"worker {worker}") as database:
        for number in numbers:
            with database.writing() as writing:
                catalog_store.add_catalogs(writing, shared(number), own(worker, number))
                catalog_names.assign_name(writing, f"{worker}/{number}", own(worker, number).digest)
                if catalog_names.find_named_digest(writing, "latest") is None:
                    catalog_names.assign_name(writing, "latest", own(worker, number).digest)
                else:
                    catalog_names.move_name(writing, "latest", own(worker, number).digest)
                declare_fact(writing, nonempty(shared(number).digest), "")
            with database.reading() as reading:
                catalog_store.get_catalog(reading, catalog_store.resolve_catalog(reading, "latest"))


def compete(place: str, workers: int) -> None:
    """Let processes work at the same time."""
    for worker in range(workers):
        for number in range(ROUNDS):
            own(worker, number)
    children = [forked(work, place, worker) for worker in range(workers)]
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * workers


def until(place: str, file: str) -> None:
    """Let two processes work at the same time until a file is there."""
    numbers = takewhile(lambda _: not Path(file).exists(), count())
    children = [forked(work, place, worker, numbers) for worker in range(2)]
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]


def forked(what: Callable[..., None], *arguments: object) -> int:
    """Do something in another process; return its number."""
    child = os.fork()
    if child == 0:
        try:
            what(*arguments)
        except BaseException:  # noqa: BLE001 - whatever happens, it must not return from here
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return child


# --- killed at any moment ---


STEPS = 200


@cache
def lineage(number: int) -> tuple[Catalog, Catalog]:
    """A catalog, and one made from it; kept, so that processes that are forked need not make them again."""
    catalog = SelectSources.of(base(), f"vmag < {number}")
    return catalog, KeepAttributes.of(catalog, ["hip"])


def step(writing: Writing, number: int) -> None:
    """Write what belongs together: two catalogs, their names, a fact."""
    first, two = lineage(number)
    catalog_store.add_catalogs(writing, two)
    catalog_names.assign_name(writing, f"one {number}", first.digest)
    catalog_names.assign_name(writing, f"two {number}", two.digest)
    declare_fact(writing, subset(two.digest, first.digest), "by definition")


def check(database: Database) -> set[int]:
    """Make sure that each step is there completely or not at all; return those that are there."""
    with database.reading() as reading:
        assigned = {entry.name: entry.catalog for entry in catalog_names.list_names(reading)}
        there = {int(name.split()[1]) for name in assigned}
        catalog_store.get_catalogs(reading, assigned.values())
        for number in there:
            first, two = lineage(number)
            assert (assigned[f"one {number}"], assigned[f"two {number}"]) == (first.digest, two.digest)
        assert reading.connection.scalar(select(func.count()).select_from(name_history)) == 2 * len(there)
        assert reading.connection.scalar(select(func.count()).select_from(catalogs)) == 1 + 2 * len(there)
        assert {fact.statement.labels for fact in find_all_facts(reading)} == {
            tuple(catalog.digest for catalog in reversed(lineage(number))) for number in there
        }
        if database.engine.dialect.name == "sqlite":
            assert reading.connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
            assert reading.connection.exec_driver_sql("PRAGMA foreign_key_check").first() is None
    return there


def die_before_statement(place: str, number: int, statement: int) -> None:
    """Do a step, but end before a statement is sent; the last one to end before is the commit."""
    with open_database(place) as database:
        sent = 0

        def note(*_: object) -> None:
            nonlocal sent
            sent += 1
            if sent > statement:
                os.kill(os.getpid(), signal.SIGKILL)

        event.listen(database.engine, "before_cursor_execute", note)
        event.listen(database.engine, "commit", note)
        with database.writing() as writing:
            step(writing, number)


def write_until_killed(place: str, first: int) -> None:
    with open_database(place) as database:
        for number in range(first, STEPS):
            with database.writing() as writing:
                step(writing, number)


def crash(place: str, kills: int) -> None:
    """Kill a writer before each of its statements, and then others at random moments; check what each leaves."""
    for number in range(STEPS):
        lineage(number)
    with open_database(place) as database, database.writing() as writing:
        catalog_store.add_catalogs(writing, base())
    survived, statement = False, 0
    while not survived:
        _, status = os.waitpid(forked(die_before_statement, place, 0, statement), 0)
        survived = status == 0
        assert survived or os.WIFSIGNALED(status)
        with open_database(place) as database:
            assert check(database) == ({0} if survived else set())
        statement += 1
    assert statement > 15, "there were not many statements to die before"
    random, done = Random(0), {0}
    for _ in range(kills):
        child = forked(write_until_killed, place, max(done) + 1)
        time.sleep(random.uniform(0.02, 0.15))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with open_database(place) as database:
            there = check(database)
        assert there >= done
        assert there == set(range(len(there))), "a step was lost"
        done = there


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["compete", place, workers]:
            compete(place, int(workers))
        case ["crash", place, kills]:
            crash(place, int(kills))
        case ["until", place, file]:
            until(place, file)
