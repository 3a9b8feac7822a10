"""Keeping the password of a database inside this process, out of reach of the processes that run calculators.

On Linux, a process can read the arguments of any process of the same user. It can also read the environment, memory and
open files, unless the other process has made itself undumpable. So this process overwrites passwords in its arguments,
and makes itself undumpable, as programs that handle keys do: `hide_process`. The administrator can still read them.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

__all__ = ["hide_address", "hide_process", "remove_secrets"]

_VARIABLE = "PROVENN_DUMPABLE"
_PR_SET_DUMPABLE = 4
_ARGUMENTS = slice(45, 47)  # arg_start and arg_end in /proc/self/stat, behind the name of the process: proc(5)
_PASSWORD = re.compile(rb"://[^/?#@:]*:([^/?#]*)@|[?&](?:[^=&]*password)=([^&#]*)", re.IGNORECASE)
_DATABASE_ADDRESS = re.compile(r"postgres(ql)?(\+\w+)?://|password\s*=", re.IGNORECASE)
_OWN = ("PG", "PROVENN_")

_passwords: set[str] = set()


def hide_address(address: str) -> None:
    """Hide the address of a database, and this process with it, from other processes of the same user.

    Parameters
    ----------
    address
        The address, with or without a password. From now on, the arguments of this process show stars in place of the
        password, and `remove_secrets` drops variables that contain the password.
    """
    hide_process()
    text = address.encode()
    hidden = bytearray(text)
    for match in _PASSWORD.finditer(text):
        group = 1 if match[1] is not None else 2
        password = match[group].decode()
        _passwords.update((password, unquote(password)))
        hidden[match.start(group) : match.end(group)] = b"*" * len(match[group])
    if hidden != text:
        _overwrite_arguments(text, bytes(hidden))


def hide_process() -> None:
    """Keep other processes of the same user from reading the memory, environment and open files of this process.

    This works on Linux. It also rules out debuggers and core dumps; PROVENN_DUMPABLE=yes leaves the process open.
    """
    if sys.platform == "linux" and os.environ.get(_VARIABLE, "").lower() not in ("yes", "1", "true"):
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def remove_secrets(variables: Mapping[str, str]) -> dict[str, str]:
    """Return environment variables without the variables of PostgreSQL and provenn, and without passwords.

    >>> remove_secrets({"PATH": "/bin", "PGPASSWORD": "x", "CATALOGS": "postgresql://ada:x@host/survey"})
    {'PATH': '/bin'}
    """
    return {name: value for name, value in variables.items() if not name.startswith(_OWN) and not _has_password(value)}


def _has_password(value: str) -> bool:
    if _DATABASE_ADDRESS.search(value) and (_PASSWORD.search(value.encode(errors="replace")) or "://" not in value):
        return True
    return any(len(password) > 3 and password in value for password in _passwords)


def _overwrite_arguments(text: bytes, hidden: bytes) -> None:
    """Overwrite a text in the memory from which other processes read the arguments of this process."""
    if sys.platform != "linux":
        return
    with suppress(OSError, ValueError, IndexError):
        fields = Path("/proc/self/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        first, last = map(int, fields[_ARGUMENTS])
        if not 0 < first < last:
            return
        arguments = ctypes.string_at(first, last - first)
        place = arguments.find(text)
        while place >= 0:
            ctypes.memmove(first + place, hidden, len(hidden))
            place = arguments.find(text, place + len(text))
