"""Starting and stopping the keeper of a warm Spark, and asking about it. Nothing here imports pyspark."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from provenn.database.secrets import remove_secrets
from provenn.errors import EngineError
from provenn.processes import read_mark_state
from provenn.spark.java import find_java
from provenn.spark.warm.folder import WarmFolder, find_warm_folder, make_warm_folder
from provenn.spark.warm.messages import connect_socket, read_message, read_peer, send_message
from provenn.spark.warm.surroundings import describe_surroundings, explain_difference

__all__ = [
    "IDLE",
    "SWITCH",
    "WarmStatus",
    "ask_keeper",
    "find_warm_spark",
    "is_keeper_starting",
    "is_switched_off",
    "may_attach",
    "start_keeper",
    "stop_keeper",
]

IDLE = 30.0
"""Minutes without commands after which a warm Spark ends, by default."""

SWITCH = "PROVENN_WARM"
"""The variable that keeps commands from using a warm Spark, if it is ``off``."""

_TAKEN = 3  # as in `keeper`, which imports Spark
_INTERVAL = 0.1
_PATIENCE = 60.0
_STARTING = 600.0
_HANDED_ON = ("PROVENN_CLASS_ARCHIVE",)
_SILENT = "the warm Spark does not answer: its process is stopped, hangs, or waits for a very busy machine"
_END_IT = "`provenn warm --stop --now` ends it"


@dataclass(frozen=True, slots=True)
class WarmStatus:
    """What the keeper of a warm Spark says about itself.

    Parameters
    ----------
    pid
        The process id of the keeper.
    process
        The mark of the process.
    since
        When Spark was started, in seconds since 1970.
    idle
        The seconds without commands after which the keeper ends.
    unused
        The seconds since the last command ended; None while a command uses this Spark.
    commands
        The commands that use this Spark.
    served
        The number of commands that have used this Spark.
    ending
        Why the keeper ends after the present commands; empty if it does not.
    obstacle
        Why commands in the present surroundings cannot use this Spark; empty if they can.
    """

    pid: int
    process: str
    since: float
    idle: float
    unused: float | None
    commands: tuple[str, ...]
    served: int
    ending: str
    obstacle: str

    @property
    def is_alive(self) -> bool:
        """Whether the keeper still runs."""
        return read_mark_state(f"-{self.process}") == "alive"


def is_switched_off() -> bool:
    """Whether commands use no warm Spark: by PROVENN_WARM=off, or because the system has no sockets for it."""
    return os.environ.get(SWITCH, "").lower() in ("off", "no", "0", "false") or not hasattr(socket, "AF_UNIX")


def may_attach() -> bool:
    """Whether there may be a warm Spark, and commands may use it: only attaching tells."""
    if is_switched_off() or "PYSPARK_GATEWAY_PORT" in os.environ:  # spark-submit has started a Spark for this process
        return False
    try:
        folder = find_warm_folder()
    except EngineError:
        return True  # attaching says what is wrong
    return folder is not None and folder.socket.exists()


def find_warm_spark() -> WarmStatus | None:
    """Return the status of the warm Spark of this person on this machine; None if there is none.

    Raises
    ------
    EngineError
        If the folder for it is not of this person alone, or its keeper does not answer.
    """
    folder = find_warm_folder()
    if folder is None or not folder.socket.exists():
        return None
    try:
        return _ask_status(folder, {"want": "status"})
    except TimeoutError as error:
        raise EngineError(_SILENT, hint=_END_IT) from error
    except (OSError, ValueError):
        return None


def start_keeper(idle: float) -> WarmStatus:
    """Start a keeper, and wait until its Spark is warm; return the status of the keeper that runs then.

    Parameters
    ----------
    idle
        The minutes without commands after which the keeper ends.

    Raises
    ------
    EngineError
        If Spark does not start, or no command here would use it; the message says why.
    """
    if is_switched_off():
        raise EngineError(
            f"commands started here use no warm Spark: {SWITCH} is {os.environ.get(SWITCH, '')!r}",
            hint=f"unset {SWITCH} first",
        )
    find_java()
    folder = make_warm_folder()
    status = find_warm_spark()
    if status is not None and not status.ending:
        return status
    process = _start_process(folder, idle)
    try:
        return _wait_until_warm(folder, idle, process)
    except BaseException:  # such as Ctrl-C
        process.terminate()
        raise


def _wait_until_warm(folder: WarmFolder, idle: float, process: subprocess.Popen[bytes]) -> WarmStatus:
    """Return the status of a keeper as soon as it is ready: of the process, or of another that was quicker."""
    deadline = time.monotonic() + _STARTING
    while time.monotonic() < deadline:
        time.sleep(_INTERVAL)
        status = find_warm_spark()
        if status is not None and not status.ending:
            return status
        ended = process.poll()
        if ended is not None and ended != _TAKEN:
            raise EngineError(f"Spark cannot be kept warm: {_read_last_line(folder)}", hint=f"see {folder.log}")
        if ended is not None and not _is_locked(folder):  # the other keeper has ended, or failed
            return start_keeper(idle)
    raise EngineError(f"Spark has not started within {_STARTING:.0f} s", hint=f"see {folder.log}")


def stop_keeper(*, now: bool = False) -> WarmStatus | None:
    """Tell the keeper to end; return its status then, or None if there is no keeper.

    A keeper that starts Spark is told as soon as it listens. What a keeper that was killed has left is removed.

    Parameters
    ----------
    now
        Whether not to wait for the commands that use this Spark; a keeper that does not answer is killed then.

    Raises
    ------
    EngineError
        If the keeper does not answer in time.
    """
    folder = find_warm_folder()
    if folder is None:
        return None
    status = _ask_for_end(folder, now=now)
    if status is None:
        _remove_remains(folder)
        return None
    if now or not status.commands:
        deadline = time.monotonic() + _PATIENCE
        while status.is_alive and time.monotonic() < deadline:
            time.sleep(_INTERVAL)
    return status


def _ask_for_end(folder: WarmFolder, *, now: bool) -> WarmStatus | None:
    """Tell the keeper to end, and return its status; None if there is none. A keeper that starts listens later."""
    deadline = time.monotonic() + _STARTING
    while time.monotonic() < deadline:
        try:
            return _ask_status(folder, {"want": "stop", "now": now})
        except TimeoutError as error:
            if not now:
                raise EngineError(_SILENT, hint=_END_IT) from error
            _kill_keeper(folder)
        except (OSError, ValueError):
            if not folder.lock.exists() or not _is_locked(folder):
                return None
        time.sleep(_INTERVAL)
    raise EngineError(f"Spark has not answered within {_STARTING:.0f} s", hint=f"see {folder.log}")


def _kill_keeper(folder: WarmFolder) -> None:
    """Kill a keeper that listens and does not answer, with its Java.

    Raises
    ------
    EngineError
        If the system does not tell which process it is.
    """
    with suppress(OSError), connect_socket(folder.socket) as connection:
        peer = read_peer(connection)
        if peer is None:
            raise EngineError(_SILENT, hint=f"end its process; its log is {folder.log}")
        os.killpg(peer[0], signal.SIGKILL)  # a keeper leads a session of its own


def is_keeper_starting() -> bool:
    """Tell whether a keeper runs that does not listen yet, because it starts Spark."""
    folder = find_warm_folder()
    if folder is None or not folder.lock.exists() or not _is_locked(folder):
        return False
    try:
        connect_socket(folder.socket).close()
    except OSError:
        return True
    return False


def ask_keeper(folder: WarmFolder, message: dict[str, Any]) -> tuple[socket.socket, dict[str, Any]]:
    """Return the answer of the keeper to a message, and the open connection.

    Raises
    ------
    OSError, ValueError
        If no keeper answers.
    """
    connection = connect_socket(folder.socket)
    try:
        send_message(connection, message)
        return connection, read_message(connection)
    except BaseException:
        connection.close()
        raise


def _ask_status(folder: WarmFolder, message: dict[str, Any]) -> WarmStatus:
    connection, answer = ask_keeper(folder, message)
    connection.close()
    try:
        unused = answer["unused"]
        return WarmStatus(
            int(answer["pid"]),
            str(answer["process"]),
            float(answer["since"]),
            float(answer["idle"]),
            None if unused is None else float(unused),
            tuple(map(str, answer["commands"])),
            int(answer["served"]),
            str(answer["ending"]),
            explain_difference(dict(answer["surroundings"]), describe_surroundings()),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"the keeper answers {answer!r}") from error


def _start_process(folder: WarmFolder, idle: float) -> subprocess.Popen[bytes]:
    handed_on = {name: os.environ[name] for name in _HANDED_ON if name in os.environ}
    try:
        with open(os.open(folder.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "wb") as log:  # noqa: PTH123 - the mode matters
            if log.tell() > 1 << 20:
                log.truncate(0)
            return subprocess.Popen(  # noqa: S603 - our own Python
                [sys.executable, "-m", "provenn.spark.warm.keeper", str(60 * idle)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=folder.path,
                start_new_session=True,  # the process outlives the terminal
                env={**remove_secrets(os.environ), **handed_on},
            )
    except OSError as error:
        raise EngineError(f"no warm Spark can be started: {error}", hint=f"see {folder.path}") from error


def _is_locked(folder: WarmFolder) -> bool:
    """Return whether a keeper runs, ready or not."""
    with _lock_folder(folder) as is_free:
        return not is_free


def _remove_remains(folder: WarmFolder) -> None:
    """Remove what a keeper that was killed has left, unless another keeper runs or starts."""
    with _lock_folder(folder) as is_free:
        if is_free:
            folder.remove_remains()


@contextmanager
def _lock_folder(folder: WarmFolder) -> Iterator[bool]:
    """Hold the lock of the folder, if no keeper has it; yield whether that is so."""
    import fcntl  # noqa: PLC0415 - only Unix-like systems have it

    with folder.lock.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True


def _read_last_line(folder: WarmFolder) -> str:
    with suppress(OSError):
        lines = folder.log.read_text(encoding="utf-8", errors="replace").splitlines()
        last = next((line for line in reversed(lines) if line.strip()), "it ended at once")
        return re.sub(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d ", "", last)
    return "it ended at once"
