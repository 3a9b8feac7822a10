"""Processes that are killed while they store a fragment. A program of its own, since it forks.

``python -m tests.spark.killed_stores steps DATABASE FOLDER BASE`` kills a process at every single step, and looks
each time at what is left; Spark's part is played by pyarrow. It writes how many were killed, and how many of them had
stored the fragment. ``… write DATABASE FOLDER BASE`` stores with Spark, slowly, and waits to be killed.
"""

import os
import shutil
import signal
import sys
from collections.abc import Callable
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from unittest import mock

import pyarrow.parquet as pq
from sqlalchemy import event

from provenn.catalogs import Base, Files, KeepAttributes, SelectSources
from provenn.data import fragments
from provenn.data.garbage_collection import collect_garbage
from provenn.data.parquet_contents import find_parquet_damage
from provenn.database.tables import pins
from provenn.database.transactions import Database
from provenn.files.data_folder import DataFolder
from provenn.formats.opening import open_database
from provenn.spark import fragment_files as module
from provenn.spark.engine import Engine
from provenn.spark.fragment_files import store_fragment
from tests.shared_statements import share_statements

AUDITED = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.listdir", "sqlite3.connect"}


def catalog_at(location: str) -> SelectSources:
    return SelectSources.of(Base.of(Files.at(location), key="hip", population="star"), "hip >= 0")


def play_write(location: str) -> Callable[..., None]:
    """What Spark does, played."""

    def write(_frame: object, _columns: object, _folder: DataFolder, address: str) -> None:
        Path(address).mkdir()
        table = pq.read_table(location)
        for part in range(2):
            with Path(address, f"part-{part}.parquet").open("wb") as opened:
                pq.write_table(table.slice(part * 20, 20), opened)

    return write


def store(database: Database, folder: DataFolder, location: str) -> None:
    with (
        mock.patch.object(module, "_write", play_write(location)),
        mock.patch.object(module, "watch_run", return_value=nullcontext()),
    ):
        store_fragment(Engine(), database, folder, catalog_at(location), None)  # type: ignore[arg-type]


def child(place: Path, folder: DataFolder, location: str, last: int) -> int:
    """Store in another process, which is killed at its last step; return whether it was."""
    pid = os.fork()
    if pid == 0:
        steps = 0

        def step(*_: object) -> None:
            nonlocal steps
            steps += 1
            if steps == last:
                os.kill(os.getpid(), signal.SIGKILL)

        with open_database(place) as database:
            event.listen(database.engine, "before_cursor_execute", step)
            event.listen(database.engine, "commit", step)
            sys.addaudithook(lambda name, _: step() if name in AUDITED else None)
            store(database, folder, location)
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(pid, 0)[1])


def look(place: Path, folder: DataFolder, location: str) -> bool:
    """Check what a killed process left; return whether the fragment is stored."""
    with open_database(place) as database:
        with database.reading() as reading:
            seen = fragments.all_fragments(reading)
        assert len(seen) <= 1
        assert [find_parquet_damage(folder, one.location, one.files) for one in seen] == [""] * len(seen)
        with database.writing() as writing:
            writing.connection.execute(pins.update().values(expires_at=writing.when))
        collect_garbage(database, folder, age=timedelta(-1))
        lying = {f"{where}/{entry.name}" for where in ("_temporary", "fragments") for entry in folder.entries(where)}
        assert lying == {one.location for one in seen}
        store(database, folder, location)
        with database.reading() as reading:
            assert len(fragments.all_fragments(reading)) == 1, "it can be stored all the same"
    return bool(seen)


def kill_at_every_step(database: str, place: str, location: str) -> None:
    tried = stored = 0
    killed = True
    while killed:
        tried += 1
        scratch = Path(place, str(tried))
        scratch.mkdir(parents=True)
        copy, folder = Path(shutil.copy(database, scratch)), DataFolder.of(scratch / "data")
        killed = bool(child(copy, folder, location, tried))
        stored += look(copy, folder, location)
        shutil.rmtree(scratch)
    print(tried, stored)  # noqa: T201 - that is what it is for


def write_slowly(database: str, place: str, location: str) -> None:
    engine = Engine("local[1]", brief=True)
    catalog = KeepAttributes.of(catalog_at(location), ["hip"])
    frame = engine.session.read.parquet(location).select("hip").repartition(40)
    with open_database(database) as opened:
        store_fragment(engine, opened, DataFolder.of(place), catalog, frame.mapInArrow(_slowly, frame.schema))


def _slowly(batches):
    import time  # noqa: PLC0415 - this runs in Spark's worker

    for batch in batches:
        time.sleep(0.3)
        yield batch


if __name__ == "__main__":
    what, *places = sys.argv[1:]
    with share_statements():  # with the processes that are forked, too
        {"steps": kill_at_every_step, "write": write_slowly}[what](*places)
