"""Identifying this process, and telling whether another process on this machine has ended."""

from __future__ import annotations

import os
import re
import socket
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Literal
from uuid import uuid4

__all__ = ["is_alive", "is_gone", "make_holder", "make_machine_mark", "make_process_mark", "read_mark_state"]

_HOLDER = re.compile(r"(?P<machine>.*)/(?P<pid>\d+)/(?P<started>\d+)/[0-9a-f]{32}", re.DOTALL)

_MARK = re.compile(r"-(?P<machine>[0-9a-f]{12})-(?P<pid>\d+)-(?P<started>\d+)\Z")


def make_holder() -> str:
    """Return a new holder text for a resource, to show whether this process still lives.

    The text names the machine with its boot and process namespace (containers have their own), the process id, and the
    start of the process, since process ids are reused.
    """
    pid = os.getpid()
    return f"{_describe_machine()}/{pid}/{_read_start(pid) or 0}/{uuid4().hex}"


def is_gone(word: str) -> bool:
    """Whether the process behind a holder text is known to have ended; never known for another machine."""
    holder = _HOLDER.fullmatch(word)
    if holder is None or holder["started"] == "0" or holder["machine"] != _describe_machine():
        return False
    return str(_read_start(int(holder["pid"]))) != holder["started"]


def is_alive(word: str) -> bool:
    """Whether the process behind a holder text is known to live; never known for another machine."""
    holder = _HOLDER.fullmatch(word)
    if holder is None or holder["started"] == "0" or holder["machine"] != _describe_machine():
        return False
    return str(_read_start(int(holder["pid"]))) == holder["started"]


def make_process_mark() -> str:
    """Return a short mark for file names, to show whether this process still lives."""
    pid = os.getpid()
    return f"{make_machine_mark()}-{pid}-{_read_start(pid) or 0}"


def read_mark_state(name: str) -> Literal["alive", "gone", "unknown"]:
    """Return the state of the process whose mark ends a name; unknown for other machines, or without a mark."""
    mark = _MARK.search(name)
    if mark is None or mark["started"] == "0" or mark["machine"] != make_machine_mark():
        return "unknown"
    return "alive" if str(_read_start(int(mark["pid"]))) == mark["started"] else "gone"


def make_machine_mark() -> str:
    """Return a short mark for file names, of this machine with its boot and process namespace."""
    return sha256(_describe_machine().encode("utf-8", "surrogateescape")).hexdigest()[:12]


@cache
def _describe_machine() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{socket.gethostname()}/{boot}/{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:  # not Linux: the resources of a process that ended expire
        return socket.gethostname()


def _read_start(pid: int) -> int | None:
    """Return the start time of a process in clock ticks; None if the process does not run, or cannot be read."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    state, *fields = status.rpartition(")")[2].split()  # a program's name may contain anything, even a bracket
    return None if state in "ZX" else int(fields[18])  # the 22nd field of the file
