"""Surroundings that fail in the middle: a full disk, a server that is stopped. It is told, and nothing is lost."""

import os
import re
import shutil
import signal
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

import provenn
from provenn.catalogs import SelectSources
from provenn.data.garbage_collection import collect_garbage
from provenn.definitions import catalog_names, catalog_store
from provenn.errors import ArchiveError, StoreError
from provenn.files.data_folder import DataFolder, explain_io_errors
from provenn.formats.opening import open_database
from provenn.knowledge.declarations import declare_fact
from provenn.logic import nonempty
from provenn.soundness.checking import find_problems
from tests.catalogs.samples import base
from tests.crashes import play_spark
from tests.files.test_data_folder import small_disk
from tests.postgres import new_schema, postgres_server
from tests.sound import play_store, write_stars
from tests.waiting import LIMIT, wait_until

STARS = base()


def bright(number):
    return SelectSources.of(STARS, f"vmag < {number}")


def define(database, number):
    with database.writing() as writing:
        catalog_store.add_catalogs(writing, bright(number))
        catalog_names.assign_name(writing, f"bright {number}", bright(number).digest)


def defined(database):
    with database.reading() as reading:
        names = catalog_names.list_names(reading)
        catalog_store.get_catalogs(reading, [entry.catalog for entry in names])
        return len(names)


def damage(database, folder=None):
    return [problem for problem in find_problems(database, folder) if problem.state == "damage"]


def test_a_database_without_room_says_so_and_keeps_what_was_acknowledged(tmp_path, sqlite_archive):
    with open_database(shutil.copy(sqlite_archive, tmp_path / "archive.sqlite")) as database:
        done = 0
        with database.engine.connect() as connection:
            size = connection.exec_driver_sql("PRAGMA page_count").scalar()

        def limited(pages):
            for _ in range(8):  # every connection of the pool
                with database.engine.connect() as connection:
                    connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")

        limited(size + 3)

        def until_it_is_full():
            nonlocal done
            for number in range(1000):
                define(database, number)
                done += 1

        with pytest.raises(ArchiveError, match="there is no space left") as caught:
            until_it_is_full()
        assert "nothing was lost" in caught.value.hint
        assert defined(database) == done
        assert damage(database) == []
        limited(size + 1000)
        define(database, 5000)
        assert defined(database) == done + 1


def test_a_disk_that_fills_up_is_told_by_database_and_store_alike(tmp_path, sqlite_archive):
    with small_disk(tmp_path, "3m") as disk:
        path, folder = disk / "archive.sqlite", DataFolder.of(disk / "data")
        shutil.copy(sqlite_archive, path)
        with open_database(path) as database:
            define(database, 1)
            play_store(database, folder, STARS, "stars")
            with suppress(OSError), (disk / "ballast").open("wb", buffering=0) as ballast:
                while True:
                    ballast.write(bytes(1024))
            done = 1

            def until_it_is_full():
                nonlocal done
                for number in range(2, 1000):
                    define(database, number)
                    done += 1

            with pytest.raises(ArchiveError, match=r"no space left|cannot be used"):
                until_it_is_full()
            with pytest.raises(StoreError, match="disk is full"), explain_io_errors(folder.location):
                Path(folder.at("fragments", "more")).write_bytes(bytes(8192))
            (disk / "ballast").unlink()
            assert defined(database) == done
            assert damage(database, folder) == []
            define(database, 5000)
            collect_garbage(database, folder)


class Server:
    """The server behind an address, which can be stopped and started again."""

    def __init__(self, address):
        self._address = address
        self._data = Path(re.search(r"host=([^&]+)", address)[1], "data")
        process = Path("/proc", (self._data / "postmaster.pid").read_text().split()[0])
        self._command = process.joinpath("cmdline").read_bytes().split(b"\0")[:-1]
        self._user = {"user": process.stat().st_uid, "group": process.stat().st_gid} if os.geteuid() == 0 else {}
        self._started = None

    def stop(self):
        os.kill(int((self._data / "postmaster.pid").read_text().split()[0]), signal.SIGINT)
        if self._started is not None:
            self._started.wait(LIMIT)
        until = time.monotonic() + LIMIT
        while (self._data / "postmaster.pid").exists():
            assert time.monotonic() < until
            time.sleep(0.02)

    def answers(self):
        try:
            psycopg.connect(self._address).close()
        except psycopg.OperationalError:
            return False
        return True

    def start(self):
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": self._data.parent}
        self._started = subprocess.Popen(self._command, **quiet, **self._user)


@pytest.fixture(scope="module")
def server():
    with postgres_server() as address:
        server = Server(address)
        yield address, server
        if server._started is not None:
            server.stop()


def test_a_server_that_is_stopped_in_mid_request_is_told_and_found_again(server, monkeypatch):
    address, switch = server
    address = new_schema(address)
    with open_database(address, create=True, who="Ada") as database:
        define(database, 1)

        def interrupted():
            with database.writing() as writing:
                catalog_store.add_catalogs(writing, bright(2))
                switch.stop()
                catalog_names.assign_name(writing, "bright 2", bright(2).digest)

        with pytest.raises(ArchiveError, match="cannot be reached") as caught:
            interrupted()
        assert "check that the server is running" in caught.value.hint
        with pytest.raises(ArchiveError, match="cannot be reached"):
            define(database, 2)
        monkeypatch.setattr(
            "provenn.database.transactions._PAUSES", (0.05,) * 20 * int(LIMIT)
        )  # however slowly it starts
        later = threading.Timer(0.3, switch.start)
        later.start()
        define(database, 2)  # it waits a little for a server that is just being started
        later.join()
        assert defined(database) == 2
        assert damage(database) == []


def test_a_server_that_is_stopped_while_a_fragment_is_computed_costs_that_run_only(server, tmp_path, monkeypatch):
    """A run waits for a server that comes back; for one that stays away, not for ever."""
    monkeypatch.setattr("provenn.database.transactions.INSISTENCE", 1.0)
    address, switch = server
    address = new_schema(address)
    with provenn.open(database=address, store=tmp_path / "data", who="Ada") as archive:
        archive.ingest("stars", write_stars(tmp_path), key="hip", population="star")
        with pytest.raises(ArchiveError, match="cannot be reached"):
            play_spark(archive, tmp_path, "stars", meanwhile=switch.stop)
        switch.start()
        wait_until(switch.answers, "the server is up again")
        assert archive.fragments() == []
        assert archive.check().sound
        play_spark(archive, tmp_path, "stars")
        assert len(archive.fragments()) == 1
        assert archive.check(deep=True).sound


def test_a_store_that_vanishes_in_mid_run_is_told_and_the_archive_is_sound_when_it_is_back(tmp_path):
    with provenn.open(tmp_path, store=tmp_path / "data", who="Ada") as archive:
        archive.ingest("stars", write_stars(tmp_path), key="hip", population="star").select("vmag < 6", name="bright")
        play_spark(archive, tmp_path, "stars")
        with pytest.raises(StoreError):
            play_spark(archive, tmp_path, "bright", meanwhile=lambda: (tmp_path / "data").rename(tmp_path / "gone"))
        assert [problem.where for problem in archive.check().problems if problem.state == "damage"] == ["store"]
        shutil.rmtree(tmp_path / "data", ignore_errors=True)
        (tmp_path / "gone").rename(tmp_path / "data")
        assert archive.check(deep=True).sound
        assert len(archive.fragments()) == 1
        play_spark(archive, tmp_path, "bright")
        assert archive.check(deep=True).sound


def test_sessions_that_the_server_ends_lose_their_transaction_and_nothing_else(server):
    """What was acknowledged is there, and the next request just works."""
    address = new_schema(server[0])
    with open_database(address, create=True, who="Ada") as database, open_database(address, who="admin") as other:
        define(database, 1)
        killed = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"

        def interrupted():
            with database.writing() as writing:
                catalog_store.add_catalogs(writing, bright(2))
                with other.engine.connect() as connection:
                    connection.exec_driver_sql(killed)
                catalog_names.assign_name(writing, "bright 2", bright(2).digest)

        with pytest.raises(ArchiveError, match="cannot be reached") as caught:
            interrupted()
        assert "try again" in caught.value.hint
        assert defined(database) == 1, "it connects again by itself"
        define(database, 2)
        with database.writing() as writing:
            declare_fact(writing, nonempty(bright(2).digest), "seen")
        assert defined(database) == 2
        assert damage(database) == []
