"""Processes that use one archive at once, are killed, cut off and kept waiting, and write down what they saw.

``python -m tests.database.histories.recording PLACE FOLDER WORKERS ROUNDS SEED`` is a program of its own, since it
forks. PLACE is the file of an SQLite archive, or the address of a PostgreSQL one, which is then used through
`tests.database.histories.proxy`. The program writes JSON: for each object the operations on it, each with the moments
of its call and its answer.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from provenn.catalogs import SelectSources
from provenn.data import fragments, pins
from provenn.data.garbage_collection import collect_garbage
from provenn.data.parquet_contents import find_parquet_damage, read_parquet_contents
from provenn.database.transactions import Database
from provenn.definitions import catalog_names, catalog_store
from provenn.errors import (
    ArchiveBusyError,
    ArchiveError,
    CatalogNameError,
    ContradictionError,
    UnknownCatalogError,
)
from provenn.files.data_folder import FRAGMENTS, DataFolder
from provenn.formats.opening import open_database
from provenn.knowledge import stored_facts
from provenn.knowledge.declarations import declare_fact, retract_fact
from provenn.logic import Statement, empty, nonempty
from tests.catalogs.samples import base
from tests.database.histories.checker import UNKNOWN, Operation
from tests.database.histories.proxy import serve
from tests.waiting import LIMIT

__all__ = ["recorded"]

ROOT = Path(__file__).parents[3]
OBJECTS = 3
"""How many names, catalogs with facts and catalogs with fragments there are."""

CATALOGS = [SelectSources.of(base(), f"vmag > {2 * number} AND vmag < {2 * number + 1}") for number in range(OBJECTS)]
"""Catalogs of which nothing follows for the others, whether they are empty or not."""


def recorded(place: str | Path, folder: Path, *, workers: int, rounds: int, seed: int) -> dict[str, list[Operation]]:
    """Let processes use an archive; return what they saw, by object.

    Parameters
    ----------
    place, folder
        The database of the archive, and where its data are.
    workers
        How many processes there are at a time.
    rounds
        How many operations each does; one that is killed has a successor.
    seed
        What chance begins with.
    """
    command = [sys.executable, "-m", "tests.database.histories.recording", str(place), str(folder)]
    done = subprocess.run(
        [*command, *map(str, (workers, rounds, seed))], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return {
        name: [Operation(**entry | {"answered": entry["answered"] or float("inf")}) for entry in load]
        for name, load in json.loads(done.stdout).items()
    }


# --- what a process does ---


@dataclass
class Worker:
    """A process that does operations, and writes down each before and after."""

    name: str
    database: Database
    folder: DataFolder
    log: Path
    chance: Random
    lines: Any = field(init=False)

    def work(self, rounds: int) -> None:
        """Do operations; wait for each until there is an answer."""
        with self.log.open("a", encoding="utf-8", buffering=1) as self.lines:
            for _ in range(rounds):
                number = self.chance.randrange(OBJECTS)
                kind = self.chance.choice(("name", "name", "facts", "facts", "fragment"))
                getattr(self, f"_use_{kind}")(number)

    def _record(self, target: str, kind: str, argument: str, act: Callable[[], object]) -> None:
        self._say({"call": [target, kind, argument], "at": time.monotonic()})
        try:
            answer = act()
        except (CatalogNameError, UnknownCatalogError, ContradictionError) as error:
            answer = type(error).__name__
        except ArchiveBusyError:
            answer = "busy"  # nothing was done
        except ArchiveError:
            answer = UNKNOWN
        self._say({"answer": answer, "at": time.monotonic()})

    def _say(self, line: object) -> None:
        self.lines.write(json.dumps(line) + "\n")

    def _use_name(self, number: int) -> None:
        name, digest = f"name {number}", self.chance.choice(CATALOGS).digest
        kind = self.chance.choice(("find", "find", "assign", "move", "remove"))

        def act() -> object:
            if kind == "find":
                with self.database.reading() as reading:
                    return catalog_names.find_named_digest(reading, name)
            with self.database.writing() as writing:
                if kind == "remove":
                    catalog_names.remove_name(writing, name)
                else:
                    {"assign": catalog_names.assign_name, "move": catalog_names.move_name}[kind](writing, name, digest)
            return "ok"

        self._record(f"name {number}", kind, digest, act)

    def _use_facts(self, number: int) -> None:
        statements = {"empty": empty(CATALOGS[number].digest), "nonempty": nonempty(CATALOGS[number].digest)}
        kind = self.chance.choice(("list", "list", "declare", "declare", "retract"))
        message = self.chance.choice(sorted(statements))

        def act() -> object:
            if kind == "list":
                with self.database.reading() as reading:
                    return sorted(item for item, statement in statements.items() if self._fact(reading, statement))
            with self.database.writing() as writing:
                if kind == "declare":
                    declare_fact(writing, statements[message], "a history")
                    return "ok"
                number = self._fact(writing, statements[message])
                if number is None:
                    return "absent"
                retract_fact(writing, number, "a history")
            return "ok"

        self._record(f"facts {number}", kind, message, act)

    @staticmethod
    def _fact(reading: Any, statement: Statement) -> int | None:
        return next(
            (fact.id for fact in stored_facts.find_all_facts(reading) if str(fact.statement) == str(statement)), None
        )

    def _use_fragment(self, _number: int) -> None:
        """Use the one fragment that there is, since `gc` drops whichever it likes."""
        kind = self.chance.choice(("store", "store", "read", "read", "drop"))
        act = {"store": self._store, "drop": self._drop, "read": self._read}[kind]
        self._record("fragment 0", kind, "", act)

    def _store(self) -> object:
        """What `provenn.spark.fragment_files.store_fragment` does, with pyarrow in the part of Spark."""
        catalog = CATALOGS[0]
        temporary = self.folder.new_temporary_address()
        place = self.folder.relative_path(temporary)
        target = (FRAGMENTS, place.rpartition("/")[2])
        with pins.hold_places(self.database, place, "/".join(target)) as pinned:
            Path(temporary).mkdir()
            parquet.write_table(pa.table({"hip": [1, 2]}), Path(temporary, "part.parquet"))
            written = read_parquet_contents(self.folder, place, 1)
            place = self.folder.relative_path(self.folder.publish(temporary, *target))
            with self.database.writing() as writing:
                assert pinned.is_unbroken(writing)
                there = fragments.find_by_extent(writing, catalog.extent.digest)
                if not there:
                    columns = [(catalog.schema["hip"].identity, "hip")]
                    size = {"rows": written.rows, "files": written.files, "seconds": 1.0}
                    fragments.register(writing, catalog, columns, location=place, **size)
            if there:
                self.folder.remove(place)
        return "there" if there else "stored"

    def _drop(self) -> object:
        return "dropped" if collect_garbage(self.database, self.folder, limit=0).dropped else "nothing"

    def _read(self) -> object:
        with self.database.reading() as reading:
            results = {item.id: item for item in fragments.find_by_extent(reading, CATALOGS[0].extent.digest)}
        with fragments.pin_fragments(self.database, results) as numbers:
            problems = [
                find_parquet_damage(self.folder, results[number].location, results[number].files) for number in numbers
            ]
        return "absent" if not problems else "whole" if not any(problems) else f"damaged: {problems}"


# --- the processes together ---


def record(place: str, folder: str, workers: int, rounds: int, seed: int) -> dict[str, list[dict[str, Any]]]:
    """Let processes work, and kill some of them; return what they saw."""
    chance, logs = Random(seed), Path(folder, "logs")
    logs.mkdir()
    with open_database(place) as database, database.writing() as writing:
        catalog_store.add_catalogs(writing, *CATALOGS)
    address, disturber = _disturbed(place, seed)
    started, running = 0, dict[int, Path]()
    until = workers + workers  # as many are killed and have a successor
    while started < until or running:
        while started < until and len(running) < workers:
            log = logs / f"{started}.jsonl"
            process = _fork(f"process {started}", address, folder, log, rounds=rounds, seed=chance.randrange(1 << 30))
            running[process] = log
            started += 1
        time.sleep(chance.random() * 0.2)
        for pid in list(running):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                _require_success(running.pop(pid), status)
        if started < until and running:
            pid = chance.choice(sorted(running))
            _kill_in_operation(pid, running.pop(pid))
    os.kill(disturber, signal.SIGKILL)
    os.waitpid(disturber, 0)
    return _history(logs)


def _kill_in_operation(pid: int, log: Path) -> None:
    """Kill a process as soon as it is inside an operation, however slowly it begins; it may also end before."""
    until = time.monotonic() + LIMIT
    while time.monotonic() < until:
        os.kill(pid, signal.SIGSTOP)
        _, status = os.waitpid(pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            _require_success(log, status)
            return
        calls_and_answers = log.read_bytes().count(b"\n") if log.exists() else 0
        if calls_and_answers % 2:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return
        os.kill(pid, signal.SIGCONT)
        time.sleep(0.01)
    raise AssertionError(f"the process that writes {log.name} hangs")


def _require_success(log: Path, status: int) -> None:
    assert status == 0, f"the process that writes {log.name} ended with an error that is none of provenn's"


def _fork(name: str, address: str, folder: str, log: Path, *, rounds: int, seed: int) -> int:
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            with _open_at_last(address, name) as database:
                Worker(name, database, DataFolder.of(folder), log, Random(seed)).work(rounds)
            code = 0
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            os._exit(code)
    return pid


def _open_at_last(address: str, name: str) -> Database:
    """Open an archive, again and again if the line is cut meanwhile."""
    until = time.monotonic() + LIMIT
    while True:
        try:
            return open_database(address, who=name, patience=LIMIT)
        except ArchiveError:
            if time.monotonic() > until:
                raise


def _disturbed(place: str, seed: int) -> tuple[str, int]:
    """Begin to disturb who uses an archive; return its address for them, and the process that does so."""
    if "://" not in place:
        pid = os.fork()
        if pid == 0:
            _keep_busy(place, Random(seed))
        return place, pid
    listener = socket.create_server(("127.0.0.1", 0))
    server = re.search(r"host=([^&]+)", place)
    assert server is not None
    pid = os.fork()
    if pid == 0:
        serve(listener, Path(server[1], ".s.PGSQL.5432"), seed)
    there = f"127.0.0.1:{listener.getsockname()[1]}/postgres?sslmode=disable&gssencmode=disable"
    listener.close()
    return re.sub(r"/postgres\?host=[^&]+", there, place), pid


def _keep_busy(place: str, chance: Random) -> None:
    """Hold the lock for writing now and then."""
    with open_database(place, who="disturber") as database:
        while True:
            time.sleep(chance.random() * 0.2)
            with database.writing():
                time.sleep(chance.random() * 0.1)


def _history(logs: Path) -> dict[str, list[dict[str, Any]]]:
    values: dict[str, list[dict[str, Any]]] = {}
    for log in sorted(logs.glob("*.jsonl")):
        lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
        for call, answer in zip(lines[::2], [*lines[1::2], None], strict=False):
            output = {"answer": UNKNOWN} if answer is None else answer
            if output["answer"] == "busy":
                continue
            target, kind, argument = call["call"]
            answered = None if output["answer"] == UNKNOWN else output["at"]
            operation = {"process": log.stem, "kind": kind, "argument": argument, "called": call["at"]}
            values.setdefault(target, []).append(operation | {"answered": answered, "answer": output["answer"]})
    return values


if __name__ == "__main__":
    where, data, *numbers = sys.argv[1:]
    sys.stdout.write(json.dumps(record(where, data, *map(int, numbers))))
