"""Processes of the tests: started, waited for, ended by their number."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

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
            ended(process)
        process.stdout.close()


def ended(process: subprocess.Popen[str], how: signal.Signals = signal.SIGINT) -> int:
    """End a process and those that it started, kindly at first; return its exit status."""
    os.killpg(process.pid, how)
    try:
        return process.wait(15)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.wait(15)


@contextmanager
def provenn(*arguments: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, str]]]:
    """Run a command that tells by a line of JSON when it is ready."""
    with running(sys.executable, "-m", "provenn", *arguments, "--json", **environment) as process:
        line = process.stdout.readline()
        assert line, f"provenn {' '.join(arguments)} ended before it was ready"
        yield process, json.loads(line)
