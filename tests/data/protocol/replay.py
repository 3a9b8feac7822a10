"""Steps of the model, done with the real functions: each process is a thread that waits before every step.

A thread runs `leases.take_lease` and `store_fragment`, `fragments.pin_fragments`, or `collect_garbage` on one archive.
It stops before each transaction and each change of the folder until it is told to go on. After every step the tables
and the folder must be what the model says. Of Spark only the writing of files is played, and of death only that it is
noticed.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
from sqlalchemy import select, update

from provenn.catalogs import Catalog
from provenn.data import fragments, garbage_collection, leases, pins
from provenn.data.garbage_collection import collect_garbage
from provenn.data.parquet_contents import find_parquet_damage
from provenn.database import expiring_rows
from provenn.database.tables import leases as lease_rows
from provenn.database.tables import pins as pin_rows
from provenn.database.transactions import Database
from provenn.errors import StoreError
from provenn.files.data_folder import FRAGMENTS, TEMPORARY, DataFolder
from provenn.spark import fragment_files as storing
from provenn.spark.engine import Engine
from tests.data.protocol.model import Place, Protocol, State, Step, start, successors
from tests.waiting import LIMIT

__all__ = ["replay"]

_ME = threading.local()
_GATES = {"hold_places": "pin", "store_fragment": "register", "_clean_up": "clean up", "renew_rows": "release"}
_NAMES = {"find": "take", "unpin": "release", "let go": "release"}
_LONG_AGO = datetime(2001, 1, 1, tzinfo=UTC)
_MARK = "-process"


class KilledError(BaseException):
    """What a thread raises at each step once its process is dead: nothing of it happens any more."""


class Actor:
    """A process: a thread that stops before each step."""

    def __init__(self, name: str, work: Callable[[Actor], None]) -> None:
        self.name, self.dead, self.ended = name, False, False
        self.waiting, self.place = "", None
        self.holdings: list[expiring_rows.Holding] = []
        self.failure: BaseException | None = None
        self._arrived, self._go = threading.Semaphore(0), threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()
        self._wait()

    def _run(self, work: Callable[[Actor], None]) -> None:
        _ME.actor = self
        try:
            work(self)
        except KilledError:
            pass
        except BaseException as error:  # noqa: BLE001 - the replay raises it
            self.failure = error
        self.waiting, self.ended = "", True
        self._arrived.release()

    def gate(self, name: str) -> None:
        """Wait before a step."""
        if not self.dead:
            self.waiting = name
            self._arrived.release()
            self._go.acquire()
        if self.dead:
            raise KilledError

    def step(self, name: str) -> None:
        """Let the thread do the step before which it waits."""
        assert self.waiting == name, f"{self.name} is before {self.waiting or 'nothing'!r}, the model before {name!r}"
        self._go.release()
        self._wait()

    def die(self) -> None:
        """Let nothing of it happen any more."""
        self.dead = True
        if not self.ended:
            self._go.release()
            self._wait()

    def _wait(self) -> None:
        assert self._arrived.acquire(timeout=LIMIT), f"{self.name} hangs after {self.waiting}"
        if self.failure is not None:
            raise self.failure


class GatedDatabase(Database):
    """A database before whose transactions an actor waits."""

    def writing(self, *, patience: float | None = None) -> Any:
        frame = sys._getframe(1)
        while frame.f_code.co_name in ("note", "insist"):
            frame = frame.f_back
        caller = frame.f_code.co_name
        actor = getattr(_ME, "actor", None)
        if actor is not None:
            name = "plan" if caller == "collect_garbage" and not actor.place else _GATES.get(caller, "")
            if caller == "collect_garbage":
                name = "finish" if actor.place else "plan"
                actor.place = "planned"
            if name:
                actor.gate(name)
        return super().writing(patience=patience)


class GatedFolder(DataFolder):
    """A data folder before whose changes an actor waits."""

    def publish(self, temporary: str, *parts: str) -> str:
        _ME.actor.gate("publish")
        return super().publish(temporary, *parts)

    def remove(self, *parts: str) -> None:
        actor = getattr(_ME, "actor", None)
        if actor is not None and actor.place == "planned":
            actor.gate(f"delete {'/'.join(parts).removesuffix(_MARK)}")
        super().remove(*parts)


class Replay:
    """An archive, and the processes of a protocol that work on it."""

    def __init__(self, protocol: Protocol, database: Database, folder: DataFolder, catalog: Catalog) -> None:
        self.database = GatedDatabase(
            *(database.engine, database.place, database.read_only, database.who, database.viewer, database.via)
        )
        self.folder, self.catalog = GatedFolder(folder.location), catalog
        works = {
            **dict.fromkeys(protocol.writers, self._write),
            **dict.fromkeys(protocol.readers, self._read),
            **dict.fromkeys(protocol.collectors, self._collect),
        }
        self.actors: dict[str, Actor] = {}
        for name, work in works.items():
            self.actors[name] = Actor(name, work)

    # --- what processes do ---

    def _write(self, actor: Actor) -> None:
        identities = [attribute.identity for attribute in self.catalog.schema.attributes]
        actor.gate("take")
        with self.database.writing() as writing:
            if storing._find_holding(writing, self.catalog, identities):
                return
            holder = leases.take_lease(writing, self.catalog, identities)
        assert holder is not None, "the model says that nobody has the lease"
        with leases.renew_lease(self.database, holder):
            actor.gate("look")
            with suppress(StoreError):
                storing.store_fragment(Engine(), self.database, self.folder, self.catalog, None)  # type: ignore[arg-type]

    def _read(self, actor: Actor) -> None:
        actor.gate("pin")
        with self.database.reading() as reading:
            (fragment,) = [item for item in fragments.all_fragments(reading) if item.location == "/".join(actor.place)]
        with fragments.pin_fragments(self.database, [fragment.id]) as usable:
            assert usable == {fragment.id}
            actor.gate("read")
            actor.place = find_parquet_damage(self.folder, fragment.location, fragment.files)

    def _collect(self, actor: Actor) -> None:
        actor.gate("list")
        collect_garbage(self.database, self.folder, limit=0)

    # --- what the model says ---

    def do(self, step: Step, after: State) -> None:
        """Do a step of the model."""
        actor = self.actors[step.who]
        if step.what == "die":
            actor.die()
        elif step.what == "stop":
            self._stop(step.who)
        elif step.what == "renew":
            with self.database.writing() as writing:
                for holding in actor.holdings:
                    holding.renew(writing)
        else:
            if step.what == "pin" and step.place:
                actor.place = step.place
            actor.step(f"delete {'/'.join(step.place)}" if step.what == "delete" else _NAMES.get(step.what, step.what))
            if step.what == "read":
                assert bool(actor.place) == (after.stage(step.who) != "unpin")
        self._compare(step, after)

    def _stop(self, who: str) -> None:
        with self.database.writing() as writing:
            for table in (pin_rows, lease_rows):
                mine = update(table).where(table.c.holder == who)
                writing.connection.execute(mine.values(expires_at=_LONG_AGO))
            places = writing.connection.scalars(select(pin_rows.c.place).where(pin_rows.c.holder == who)).all()
        for place in places:
            top = Path(self.folder.at(place))
            for path in [*top.glob("*"), top] if top.exists() else []:
                os.utime(path, (0, 0))

    def _compare(self, step: Step, state: State) -> None:
        with self.database.reading() as reading:
            rows = reading.connection.execute(select(pin_rows.c.holder, pin_rows.c.place, pin_rows.c.expires_at)).all()
            held = reading.connection.execute(select(lease_rows.c.holder, lease_rows.c.expires_at)).all()
            stored = fragments.all_fragments(reading, dropped=True)
        status = {
            _place(item.location)[1]: "removed" if item.removed_at else "dropped" if item.dropped_at else "used"
            for item in stored
        }
        values = {
            "pins": {(holder, _place(place)) for holder, place, _ in rows},
            "leases": {holder for holder, _ in held},
            "expired": {(holder, "pin") for holder, _, expires in rows if expires == _LONG_AGO}
            | {(holder, "lease") for holder, expires in held if expires == _LONG_AGO},
            "files": {
                _place(f"{top}/{entry.name}") for top in (TEMPORARY, FRAGMENTS) for entry in self.folder.entries(top)
            },
            "fragments": set(status.items()),
        }
        holders = {(who, "pin") for who, _ in state.pins} | {(who, "lease") for who in state.leases}
        expected = {key: set(getattr(state, key)) for key in values} | {"expired": set(state.expired) & holders}
        assert values == expected, f"after {step}: {values} instead of {expected}"

    def close(self) -> None:
        """End all threads."""
        for actor in self.actors.values():
            actor.die()


def _place(text: str) -> Place:
    top, _, name = text.partition("/")
    return top, name.removesuffix(_MARK)


@contextmanager
def _played() -> Iterator[Callable[[Replay], None]]:
    """Let words of processes be the names of actors, and play what Spark does."""
    running: list[Replay] = []

    def is_gone(word: str) -> bool:
        return any(replaying.actors[word].dead for replaying in running if word in replaying.actors)

    def write(_frame: object, columns: Any, _folder: object, address: str) -> None:
        _ME.actor.gate("write")
        Path(address).mkdir()
        pq.write_table(pa.table({attribute.name: [1, 2] for _, attribute in columns}), Path(address, "part.parquet"))

    class Holding(expiring_rows.Holding):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            _ME.actor.holdings.append(self)

    def make_holder() -> str:
        return _ME.actor.name

    def new_word() -> SimpleNamespace:
        return SimpleNamespace(hex=_ME.actor.name)

    with (
        mock.patch.object(pins, "make_holder", make_holder),
        mock.patch.object(leases, "make_holder", make_holder),
        mock.patch.object(pins, "is_gone", is_gone),
        mock.patch.object(leases, "is_gone", is_gone),
        mock.patch.object(expiring_rows, "is_gone", is_gone),
        mock.patch.object(expiring_rows, "Holding", Holding),
        mock.patch("provenn.files.data_folder.uuid4", new_word),
        # All actors are this process. The model knows no marks: it asks for less than the real collector.
        mock.patch("provenn.files.data_folder.make_process_mark", return_value=_MARK.removeprefix("-")),
        mock.patch.object(garbage_collection, "read_mark_state", return_value="unknown"),
        mock.patch.object(storing, "_write", write),
        mock.patch.object(storing, "watch_run", return_value=nullcontext()),
        mock.patch.object(storing, "check_bases"),
    ):
        yield running.append


def replay(
    protocol: Protocol,
    database: Database,
    folder: DataFolder,
    catalog: Catalog,
    choose: Callable[[Sequence[Step]], int],
) -> list[Step]:
    """Do steps of the model, chosen one by one, until there is none; return them.

    Raises
    ------
    AssertionError
        If the tables and the folder are not what the model says.
    """
    state, done = start(protocol), []
    with _played() as begun:
        replaying = Replay(protocol, database, folder, catalog)
        begun(replaying)
        try:
            while nexts := list(successors(protocol, state)):
                step, state = nexts[choose([step for step, _ in nexts])]
                done.append(step)
                replaying.do(step, state)
        finally:
            replaying.close()
    return done
