"""Which process this is, and whether another one on this machine is gone."""

from __future__ import annotations

import os
import re
import socket
from functools import cache
from pathlib import Path
from uuid import uuid4

__all__ = ["is_gone", "new_holder"]

_HOLDER = re.compile(r"(?P<machine>.*)/(?P<pid>\d+)/(?P<started>\d+)/[0-9a-f]{32}", re.DOTALL)


def new_holder() -> str:
    """Return a fresh word for something that this process holds, by which others can tell whether it lives.

    It names the machine since it was started and the processes that it knows (in a container only some), the process,
    and when that was started: numbers of processes are used again.
    """
    pid = os.getpid()
    return f"{_machine()}/{pid}/{_started(pid) or 0}/{uuid4().hex}"


def is_gone(word: str) -> bool:
    """Whether the process that made a word is known to have ended. Of one on another machine that is never known."""
    found = _HOLDER.fullmatch(word)
    if found is None or found["started"] == "0" or found["machine"] != _machine():
        return False
    return str(_started(int(found["pid"]))) != found["started"]


@cache
def _machine() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{socket.gethostname()}/{boot}/{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:  # no Linux: what is held expires
        return socket.gethostname()


def _started(pid: int) -> int | None:
    """Return when a process was started, in ticks; None if there is none, or it cannot be told."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    state, *fields = told.rpartition(")")[2].split()  # the name of a program may hold anything, even a bracket
    return None if state in "ZX" else int(fields[18])  # the 22nd field of all
