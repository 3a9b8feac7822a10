"""Processes of the tests: started, waited for, ended by their number."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tests.waiting import LIMIT

__all__ = ["ended", "provenn", "running"]


@contextmanager
def running(*command: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """Run a program in a group of its own while the body does; end all of the group."""
    process = subprocess.Popen(
        command,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            _end_somehow(process)
        process.stdout.close()


def ended(process: subprocess.Popen[str], how: signal.Signals = signal.SIGINT) -> int:
    """End a process and those that it started; return its exit status."""
    os.killpg(process.pid, how)
    return process.wait(LIMIT)


def _end_somehow(process: subprocess.Popen[str]) -> None:
    """End a process and those that it started, kindly at first."""
    with suppress(subprocess.TimeoutExpired):
        os.killpg(process.pid, signal.SIGINT)
        process.wait(15)
        return
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(LIMIT)


@contextmanager
def provenn(*arguments: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, str]]]:
    """Run a command that tells by a line of JSON when it is ready."""
    with running(sys.executable, "-m", "provenn", *arguments, "--json", **environment) as process:
        line = process.stdout.readline()
        assert line, f"provenn {' '.join(arguments)} ended before it was ready"
        yield process, json.loads(line)
