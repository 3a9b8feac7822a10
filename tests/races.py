"""Races: many processes do all kinds of things to one archive at once, and it is counted what came of it.

`raced` is for tests and benchmarks. ``python -m tests.races KIND PLACE FOLDER WORKERS ROUNDS SEED`` is a program of its
own, since it forks, which a process with threads, such as a test runner's, had better not.

What a process was told is done is written down by it, and looked for afterwards: whatever is missing counts as lost.
What it was told is impossible must be one of the errors that are documented; whatever else counts as wrong.
"""

import json
import multiprocessing
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, ClassVar, Literal

import pyarrow as pa
from pyarrow import parquet
from sqlalchemy import func, select

from provenn.catalogs import SelectSources
from provenn.data import fragments, pins
from provenn.data.garbage_collection import collect_garbage
from provenn.data.parquet_contents import find_parquet_damage, read_parquet_contents
from provenn.database.tables import name_history
from provenn.database.transactions import Database
from provenn.definitions import catalog_names, catalog_store, naming_history
from provenn.errors import (
    ArchiveBusyError,
    CatalogNameError,
    ContradictionError,
    FactError,
    ProvennError,
    UnknownCatalogError,
    UnknownFactError,
)
from provenn.files.data_folder import FRAGMENTS, TEMPORARY, DataFolder
from provenn.formats.opening import open_database
from provenn.knowledge import stored_facts
from provenn.knowledge.consequences import build_knowledge
from provenn.knowledge.declarations import declare_fact, retract_fact
from provenn.logic import Statement, disjoint, empty, nonempty, subset
from tests.catalogs.samples import base
from tests.waiting import LIMIT

__all__ = ["raced"]

ROOT = Path(__file__).parents[1]
Kind = Literal["contradictions", "everything", "writers"]
Done = list[tuple[str, Any]]
"""What a process was told: a word, and what it is about."""


def raced(kind: Kind, place: str | Path, folder: Path, *, workers: int, rounds: int, seed: int = 0) -> dict[str, Any]:
    """Let processes race on an archive; return how often what happened.

    Parameters
    ----------
    kind
        ``"contradictions"``: in each round all declare what cannot all be true. ``"everything"``: each does something
        else, so many times: define, name, move and delete names, declare, retract, store, collect garbage.
        ``"writers"``: each writes one small transaction after the other.
    place, folder
        The database of the archive, and where its data are kept.
    workers, rounds, seed
        How many processes; how often each does something; what the chance begins with.

    Returns
    -------
    dict
        Counts by word. ``"lost"`` and ``"wrong"`` list what must not be, in words; ``"overtaken"`` says how many
        transactions of others came between two of the same writer, at most.
    """
    command = [sys.executable, "-m", "tests.races", kind, str(place), str(folder), *map(str, (workers, rounds, seed))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


# --- processes ---


def at_once(workers: int, work: Callable[..., Done], *arguments: object) -> list[Done]:
    """Let processes work; each gets its number and a barrier at which all can meet."""
    forking = multiprocessing.get_context("fork")
    together = forking.Barrier(workers, timeout=LIMIT)
    ends, children = [], []
    for worker in range(workers):
        location, there = forking.Pipe(duplex=False)
        child = forking.Process(target=_sending, args=(there, work, worker, together, *arguments))
        child.start()
        there.close()
        ends.append(location)
        children.append(child)
    results = [end.recv() for end in ends]
    for child in children:
        child.join()
    return results


def _sending(there: Any, work: Callable[..., Done], worker: int, together: Any, *arguments: object) -> None:
    try:
        there.send(work(worker, together, *arguments))
    except BaseException as error:
        there.send([("wrong", f"worker {worker} ended: {error!r}")])
        raise


def outcome(done: Done, word: str, act: Callable[[], Any], *allowed: type[ProvennError]) -> Any:
    """Do something; write down what came of it."""
    try:
        result = act()
    except ArchiveBusyError:
        done.append(("busy", word))
    except allowed as error:
        done.append((f"{word}: {type(error).__name__}", None))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told
        done.append(("wrong", f"{word}: {error!r}"))
    else:
        done.append((word, result))
        return result
    return None


@cache
def catalog(number: int) -> SelectSources:
    """A catalog that any process may define."""
    return SelectSources.of(base(), f"vmag < {number}")


# --- contradictions ---


def impossible(number: int) -> list[Statement]:
    """Return statements of which all but one can be true together, in a round of races."""
    first, two = SelectSources.of(base(), f"plx > {number}").digest, catalog(number).digest
    if number % 2:
        return [nonempty(first), empty(first)]
    return [subset(first, two), disjoint(first, two), nonempty(first)]


def contradictions(place: str, _folder: str, workers: int, rounds: int, _seed: int) -> dict[str, Any]:
    """In each round everybody declares, at the same time, something that cannot be true beside what others declare."""
    with open_database(place) as database, database.writing() as writing:
        for number in range(rounds):
            catalog_store.add_catalogs(writing, catalog(number), SelectSources.of(base(), f"plx > {number}"))
    output = at_once(workers, _contradict, place, rounds)
    counts = _counts(output)
    with open_database(place) as database, database.reading() as reading:
        held = {str(fact.statement): fact.id for fact in stored_facts.find_all_facts(reading)}
    for number in range(rounds):
        messages = [str(item) for item in impossible(number)]
        refused = [item for item in messages if item not in held]
        counts["decided"] += len(refused) == 1
        if len(refused) != 1:
            counts["wrong"].append(f"round {number}: {len(refused)} of {len(messages)} were refused")
        mine = {word for done in output for word, what in done if what == number}
        if not mine >= {f"refused {item}" for item in refused} | {
            f"held {element}" for element in messages if element in held
        }:
            counts["lost"].append(f"round {number}: {sorted(mine)}")
    _check(place, counts)
    return counts


def _contradict(worker: int, together: Any, place: str, rounds: int) -> Done:
    done: Done = []
    with open_database(place, who=f"worker {worker}", patience=LIMIT) as database:
        for number in range(rounds):
            items = impossible(number)
            message = items[(worker + number // 2) % len(items)]
            together.wait()

            def act(statement: Statement = message) -> None:
                with database.writing() as writing:
                    declare_fact(writing, statement, "a race")

            outcome(done, "declared", act, ContradictionError)
            accepted = done[-1][0] == "declared"
            done.append((f"{'held' if accepted else 'refused'} {message}", number))
    return done


# --- everything ---


def everything(place: str, folder: str, workers: int, rounds: int, seed: int) -> dict[str, Any]:
    """Everybody does whatever chance says, as often as there are rounds."""
    for number in range(rounds):
        catalog(number)
    output = at_once(workers, _anything, place, folder, (rounds, seed))
    counts = _counts(output)
    _look_for(place, folder, output, counts)
    _check(place, counts)
    return counts


def _anything(worker: int, together: Any, place: str, folder: str, chance: tuple[int, int]) -> Done:
    done: Done = []
    rounds, seed = chance
    random = Random(f"{seed}/{worker}")
    with open_database(place, who=f"worker {worker}", patience=LIMIT) as database:
        doing = _Doing(database, DataFolder.of(folder), random, worker, rounds)
        together.wait()
        for number in range(rounds):
            word, weight = zip(*doing.weights.items(), strict=True)
            (chosen,) = random.choices(word, weight)
            getattr(doing, chosen)(done, number)
    return done


class _Doing:
    """What one process may do, each in one transaction or a few."""

    weights: ClassVar = {
        "define": 6,
        "name": 4,
        "move": 3,
        "unname": 1,
        "say": 4,
        "take_back": 2,
        "store": 3,
        "clean": 1,
    }

    def __init__(self, database: Database, folder: DataFolder, random: Random, worker: int, rounds: int) -> None:
        self.database, self.folder, self.random, self.worker, self.rounds = database, folder, random, worker, rounds

    def any_catalog(self) -> SelectSources:
        return catalog(self.random.randrange(self.rounds))

    def define(self, done: Done, number: int) -> None:
        own = SelectSources.of(self.any_catalog(), f"hip > {self.worker * 1000 + number}")

        def act() -> str:
            with self.database.writing() as writing:
                catalog_store.add_catalogs(writing, own)
                catalog_names.assign_name(writing, f"{self.worker}/{number}", own.digest)
            return f"{self.worker}/{number} {own.digest}"

        outcome(done, "defined", act)

    def name(self, done: Done, _number: int) -> None:
        first, name = self.any_catalog(), f"shared {self.random.randrange(8)}"

        def act() -> tuple[str, bool]:
            with self.database.writing() as writing:
                catalog_store.add_catalogs(writing, first)
                new = catalog_names.find_named_digest(writing, name) is None
                catalog_names.assign_name(writing, name, first.digest)
            return name, new

        outcome(done, "named", act, CatalogNameError)

    def move(self, done: Done, _number: int) -> None:
        first, name = self.any_catalog(), f"shared {self.random.randrange(8)}"

        def act() -> tuple[str, bool]:
            with self.database.writing() as writing:
                catalog_store.add_catalogs(writing, first)
                new = catalog_names.find_named_digest(writing, name) != first.digest
                catalog_names.move_name(writing, name, first.digest)
            return name, new

        outcome(done, "moved", act, UnknownCatalogError)

    def unname(self, done: Done, _number: int) -> None:
        name = f"shared {self.random.randrange(8)}"

        def act() -> tuple[str, bool]:
            with self.database.writing() as writing:
                catalog_names.remove_name(writing, name)
            return name, True

        outcome(done, "unnamed", act, UnknownCatalogError)

    def say(self, done: Done, _number: int) -> None:
        first, two = self.any_catalog(), SelectSources.of(base(), f"plx > {self.random.randrange(4)}")
        says = [
            lambda: nonempty(first.digest),
            lambda: empty(first.digest),
            lambda: subset(two.digest, first.digest),
            lambda: disjoint(two.digest, first.digest),
        ]
        statement = self.random.choice(says)()

        def act() -> int:
            with self.database.writing() as writing:
                catalog_store.add_catalogs(writing, first, two)
                return declare_fact(writing, statement, "a race").id

        outcome(done, "declared", act, ContradictionError)

    def take_back(self, done: Done, _number: int) -> None:
        with self.database.reading() as reading:
            held = [fact.id for fact in stored_facts.find_all_facts(reading)]
        if not held:
            return

        def act(number: int = self.random.choice(held)) -> int:
            with self.database.writing() as writing:
                return retract_fact(writing, number, "a race").id

        outcome(done, "retracted", act, FactError, UnknownFactError)

    def store(self, done: Done, _number: int) -> None:
        """What storing does, with pyarrow in the part of Spark."""
        item = self.any_catalog()
        columns = [(item.schema[name].identity, name) for name in ("hip", "vmag")]

        def act() -> int:
            temporary = self.folder.new_temporary_address()
            place = self.folder.relative_path(temporary)
            target = (FRAGMENTS, place.rpartition("/")[2])
            with pins.hold_places(self.database, place, "/".join(target)):
                Path(temporary).mkdir(parents=True, exist_ok=True)
                parquet.write_table(pa.table({"hip": [1, 2], "vmag": [0.5, 0.25]}), Path(temporary, "one.parquet"))
                written = read_parquet_contents(self.folder, place, 1)
                place = self.folder.relative_path(self.folder.publish(temporary, *target))
                with self.database.writing() as writing:
                    catalog_store.add_catalogs(writing, item)
                    size = {"rows": written.rows, "files": written.files, "seconds": 1.0}
                    return fragments.register(writing, item, columns, location=place, **size).id

        outcome(done, "stored", act)

    def clean(self, done: Done, _number: int) -> None:
        limit = self.random.choice([None, 20_000])

        def act() -> list[int]:
            return [item.fragment.id for item in collect_garbage(self.database, self.folder, limit=limit).dropped]

        outcome(done, "cleaned", act)


def _look_for(place: str, folder: str, output: list[Done], counts: dict[str, Any]) -> None:
    """Look for everything that somebody was told is done."""
    lost = counts["lost"]
    did = [(word, what) for done in output for word, what in done]
    store = DataFolder.of(folder)
    with open_database(place) as database:
        collect_garbage(database, store)
        with database.reading() as reading:
            for name, digest in (what.split() for word, what in did if word == "defined"):
                if (
                    catalog_names.find_named_digest(reading, name) != digest
                    or catalog_store.get_catalog(reading, digest).digest != digest
                ):
                    lost.append(f"the name {name}")
            changes = Counter(what[0] for word, what in did if word in ("named", "moved", "unnamed") and what[1])
            for name, number in changes.items():
                if len(naming_history.read_name_history(reading, name)) != number:
                    lost.append(f"a change of the name {name}")
            retracted = {what for word, what in did if word == "retracted"}
            held = {fact.id: fact for fact in stored_facts.find_all_facts(reading, retracted=True)}
            for number in {what for word, what in did if word == "declared"}:
                if number not in held or held[number].holds == (number in retracted):
                    lost.append(f"fact #{number}")
            stored = {fragment.id: fragment for fragment in fragments.all_fragments(reading, dropped=True)}
            dropped = {element for word, what in did if word == "cleaned" for element in what}
            for number in {what for word, what in did if word == "stored"}:
                item = stored.get(number)
                if item is None or (item.dropped_at is None) == (number in dropped):
                    lost.append(f"fragment #{number}")
                elif item.is_usable and find_parquet_damage(store, item.location, item.files):
                    lost.append(f"files of fragment #{number}")
    there = {f"{where}/{entry.name}" for where in (FRAGMENTS, TEMPORARY) for entry in store.entries(where)}
    counts["left over"] = len(there - {element.location for element in stored.values() if element.removed_at is None})


def _check(place: str, counts: dict[str, Any]) -> None:
    """Make sure that what is held true is possible, and that the database is whole."""
    with open_database(place) as database, database.reading() as reading:
        known = stored_facts.find_all_facts(reading)
        definitions, _ = stored_facts.read_closed_cone(
            reading, {label for fact in known for label in fact.statement.labels}
        )
        if build_knowledge(definitions, known).knowledge.conflict() is not None:
            counts["wrong"].append("what is held true is impossible")
        if database.engine.dialect.name == "sqlite":
            if reading.connection.exec_driver_sql("PRAGMA integrity_check").scalar() != "ok":
                counts["wrong"].append("the database is damaged")
            if reading.connection.exec_driver_sql("PRAGMA foreign_key_check").first() is not None:
                counts["wrong"].append("a row refers to nothing")


# --- writers ---


def writers(place: str, _folder: str, workers: int, rounds: int, _seed: int) -> dict[str, Any]:
    """Everybody writes small transactions, without a pause."""
    for number in range(rounds):
        catalog(number)
    output = at_once(workers, _write, place, rounds)
    turns = [[turn for word, turn in done if word == "written"] for done in output]
    overtaken = max(later - earlier - 1 for own in turns for earlier, later in pairwise(own))
    return _counts(output) | {"overtaken": overtaken}


def _write(worker: int, together: Any, place: str, rounds: int) -> Done:
    done: Done = []
    with open_database(place, who=f"worker {worker}", patience=LIMIT) as database:
        together.wait()
        for number in range(rounds):

            def act(number: int = number) -> int:
                with database.writing() as writing:
                    catalog_store.add_catalogs(writing, catalog(number))
                    catalog_names.assign_name(writing, f"{worker}/{number}", catalog(number).digest)
                    return int(writing.connection.scalar(select(func.count()).select_from(name_history)))

            outcome(done, "written", act)
    return done


def _counts(output: list[Done]) -> dict[str, Any]:
    everything = [item for done in output for item in done]
    counts: dict[str, Any] = dict.fromkeys(("busy", "decided"), 0)
    for word, _ in everything:
        if word != "wrong" and not word.startswith(("held ", "refused ")):
            counts[word] = counts.get(word, 0) + 1
    counts["wrong"] = [what for word, what in everything if word == "wrong"]
    counts["lost"] = []
    return counts


if __name__ == "__main__":
    kind, place, folder, *numbers = sys.argv[1:]
    races = {"contradictions": contradictions, "everything": everything, "writers": writers}
    sys.stdout.write(json.dumps(races[kind](place, folder, *map(int, numbers))))
