"""Warm Sparks of tests: each with a cache of its own, and none outlives its block."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.waiting import wait_until

__all__ = ["ROOT", "Warm", "keep_warm"]

ROOT = Path(__file__).parent.parent.parent.parent


@dataclass(frozen=True, slots=True)
class Warm:
    """A place for a warm Spark, and commands that see it."""

    cache: Path

    def make_environment(self, **variables: str) -> dict[str, str]:
        """Return the environment of a command."""
        kept = {name: value for name, value in os.environ.items() if name != "PROVENN_WARM"}
        # Without a class archive, which a process in the background would make for each new cache.
        return kept | {"XDG_CACHE_HOME": str(self.cache), "PROVENN_CLASS_ARCHIVE": "off"} | variables

    def run(self, *arguments: object, code: int | None = 0, **variables: str) -> str:
        """Run provenn, and return what it writes."""
        return self.run_python("-m", "provenn", *arguments, code=code, **variables)

    def run_python(self, *arguments: object, code: int | None = 0, cwd: Path | None = None, **variables: str) -> str:
        """Run Python, and return what it writes: to its standard output, then to its standard error."""
        done = subprocess.run(
            [sys.executable, *map(str, arguments)],
            env=self.make_environment(**variables),
            cwd=cwd or ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert code is None or done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def start(self, program: str, **variables: str) -> subprocess.Popen[str]:
        """Start a Python program, whose lines can be read."""
        return subprocess.Popen(
            [sys.executable, "-u", "-c", program],
            env=self.make_environment(**variables),
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self) -> dict[str, Any]:
        """Return the status as JSON."""
        return json.loads(self.run("warm", "--status", "--json", code=None))

    @property
    def folder(self) -> Path:
        """The folder of the warm Spark."""
        (folder,) = (self.cache / "provenn").glob("warm-*")
        return folder

    def count_guests(self) -> int:
        """Return how many commands have a folder there."""
        return len([*self.folder.glob("provenn-guest-*")])


@contextmanager
def keep_warm(cache: Path, *options: str) -> Iterator[Warm]:
    """Keep a Spark warm in the body; afterwards nothing of it runs."""
    warm = Warm(cache)
    warm.run("warm", *options)
    status = warm.ask()
    java = find_children(status["pid"])
    try:
        yield warm
    finally:
        warm.run("warm", "--stop", "--now", code=None)
        with suppress(ProcessLookupError):
            os.kill(status["pid"], signal.SIGKILL)
        wait_until(lambda: not any(map(is_running, [status["pid"], *java])), "the keeper and its Java end")


def find_children(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for children in tasks for child in children.read_text().split()]


def is_running(pid: int) -> bool:
    """Return whether a process runs: one that nobody has waited for does not."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False
