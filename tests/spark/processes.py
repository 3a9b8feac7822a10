"""Processes of Spark that tests start and stop: each by its id, with all that it has started."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import SystemRandom

import pyspark

from provenn.spark.class_archive import choose_archive_stem, find_complete_archive
from provenn.spark.java import find_java
from tests.waiting import LIMIT

HOME = Path(pyspark.__file__).parent
ROOT = Path(__file__).parent.parent.parent
_CHANCE = SystemRandom()


def free_port() -> int:
    """Return a port on loopback that nobody listens on, and that no system gives to whoever asks for any port."""
    while True:
        with suppress(OSError), socket.create_server(("127.0.0.1", _CHANCE.randrange(20_000, 32_000))) as server:
            return int(server.getsockname()[1])


def started(script: str, *arguments: str | Path, log: Path) -> subprocess.Popen:
    """Start a script of Spark's ``bin`` as a group of processes; what it writes goes to a file."""
    java = find_java()
    stem = choose_archive_stem(java, HOME)
    file = stem and find_complete_archive(stem)
    archive = [f"-XX:SharedArchiveFile={file}", "-Xshare:auto"] if file else []
    environment = os.environ | {
        "JAVA_HOME": str(java.home),
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT))),  # workers find this provenn and its tests
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "1g",
        "JAVA_TOOL_OPTIONS": " ".join(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xlog:disable", *archive]),
    }
    with log.open("wb") as output:
        return subprocess.Popen(
            [HOME / "bin" / script, *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


def listening(port: int, process: subprocess.Popen, log: Path, seconds: float = LIMIT) -> None:
    """Wait until somebody listens on a port of loopback."""
    until = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < until:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        time.sleep(0.1)
    raise AssertionError(f"nobody listens on {port}:\n{log.read_text()[-3000:]}")


@contextmanager
def ending(*processes: subprocess.Popen) -> Iterator[None]:
    """End processes after the block."""
    try:
        yield
    finally:
        for process in processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
