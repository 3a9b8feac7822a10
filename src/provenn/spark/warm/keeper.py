"""The keeper of a warm Spark: ``python -m provenn.spark.warm.keeper SECONDS``, which `asking` starts.

The keeper starts Spark, runs a few typical queries and listens on its socket. It ends when no command has used it for
some seconds, when it is told to, when its socket vanishes, when its Java dies, or when its Java has grown large; except
for the death of Java, never while a command uses it. Only one keeper holds the lock of the folder.
"""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from provenn.errors import ProvennError
from provenn.processes import make_process_mark
from provenn.spark.confinement import Confinement
from provenn.spark.context import end_java, is_java_alive, start_context
from provenn.spark.make_class_archive import run_typical_queries
from provenn.spark.powers import drop_capabilities, forbid_new_privileges
from provenn.spark.warm.folder import ENDING, TOLD, WarmFolder, make_warm_folder
from provenn.spark.warm.guests import Guest
from provenn.spark.warm.messages import listen_on, read_message, read_peer, send_message
from provenn.spark.warm.surroundings import describe_surroundings, explain_difference, read_status
from provenn.spark.warm.worker_side import GUEST, OUTPUT, end_daemons, write_inheritance
from provenn.spark.worker_environment import build_worker_environment

__all__ = ["TAKEN", "Keeper", "keep_spark"]

TAKEN = 3
"""The exit status of a keeper that finds another one."""

_TICK = 0.5
"""Seconds between two looks at what may end the keeper."""

_TIDY_AFTER = 5.0
"""Seconds without commands after which Java looks for garbage."""

_MOST_DAEMONS = 500
"""The most daemons of calculators that one Java serves: each leaves a thread behind."""


@dataclass(slots=True)
class Keeper:
    """A started Spark with the commands that use it.

    Parameters
    ----------
    folder
        The folder of the warm Spark.
    context, session
        Its Spark context, and the default session of its Java.
    idle
        The seconds without commands after which the keeper ends.
    surroundings
        What commands must have in common with the keeper.
    refuses_confined
        Whether to refuse processes that can gain no privileges: only calculators are such processes.
    """

    folder: WarmFolder
    context: Any
    session: Any
    idle: float
    surroundings: dict[str, str]
    refuses_confined: bool
    _guests: dict[int, Guest] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _since: float = field(default_factory=time.time)
    _idle_since: float = field(default_factory=time.monotonic)
    _served: int = 0
    _daemons: int = 0
    _is_tidy: bool = True
    _ending: str = ""
    _is_hasty: bool = False

    def run(self) -> str:
        """Serve commands until the end; return why it came."""
        self.folder.socket.unlink(missing_ok=True)  # of a keeper that was killed: this one has the lock
        listener = listen_on(self.folder.socket)
        own = self.folder.socket.stat().st_ino
        self._idle_since = time.monotonic()
        write_log(f"ready, for {self.idle:.0f} s without commands")
        try:
            listener.settimeout(_TICK)
            while not self._is_over(own) or self._is_in_use():  # until the end, a command can ask, or hurry the end
                with suppress(TimeoutError):
                    connection, _ = listener.accept()
                    threading.Thread(target=self._serve, args=(connection,), daemon=True).start()
        finally:
            listener.close()
            self._remove_socket(own)
        return self._ending

    def _is_in_use(self) -> bool:
        """Tell whether the end waits for commands."""
        return bool(self._guests) and not self._is_hasty and is_java_alive()

    def end(self, reason: str, *, now: bool = False) -> None:
        """Take no more commands, and end when the last one has ended; `now`: at once."""
        if not self._ending or (now and not self._is_hasty):
            write_log(f"{ENDING}{reason}")  # before Java ends: commands that lose their Spark read why
        self._is_hasty = self._is_hasty or now
        self._ending = self._ending or reason

    def _is_over(self, own: int) -> bool:
        if not is_java_alive():
            self.end("Java has died", now=True)
        elif _find_inode(self.folder.socket) != own:
            self.end("its socket has vanished")
        elif not self._guests:
            idle = time.monotonic() - self._idle_since
            if idle > self.idle:
                self.end(f"no command has used it for {self.idle:.0f} s")
            elif not self._is_tidy and idle > _TIDY_AFTER:
                self._tidy()
        return bool(self._ending)

    def _tidy(self) -> None:
        """Have Java look for garbage, and end if much of its memory stays in use."""
        self._is_tidy = True
        java = self.context._jvm  # noqa: SLF001 - no public call gives it
        java.java.lang.System.gc()
        memory = java.java.lang.Runtime.getRuntime()
        if memory.totalMemory() - memory.freeMemory() > memory.maxMemory() // 2:
            self.end("half of Java's memory stays in use")
        elif self._daemons > _MOST_DAEMONS:
            self.end(f"it has served calculators {self._daemons} times")

    def _remove_socket(self, own: int) -> None:
        if _find_inode(self.folder.socket) == own:
            self.folder.socket.unlink(missing_ok=True)

    def _serve(self, connection: socket.socket) -> None:
        """Answer a connection; for a command, until the command has ended."""
        with connection:
            connection.settimeout(30.0)
            try:
                message = read_message(connection)
                match message.get("want"):
                    case "status":
                        send_message(connection, self._describe())
                    case "stop":
                        self.end(TOLD, now=message.get("now") is True)
                        send_message(connection, self._describe())
                    case "attach":
                        self._serve_command(connection, message)
            except (OSError, ValueError) as error:
                write_log(f"a connection failed: {error}")

    def _serve_command(self, connection: socket.socket, message: dict[str, Any]) -> None:
        peer = read_peer(connection)
        name = f"{str(message.get('command'))[:40]!r} ({peer[0] if peer else '?'})"
        reason = self._find_obstacle(peer, message.get("surroundings"))
        if reason:
            write_log(f"{name} is refused: {reason}")
            send_message(connection, {"refused": reason})
            return
        guest = Guest(self.context, self.folder.path, name)
        with self._lock:
            self._guests[id(guest)] = guest
            self._served += 1
        try:
            self._keep_default_session()
            send_message(connection, guest.enter().describe())
            write_log(f"{name} comes")
            connection.settimeout(None)
            while connection.recv(1024):  # a command says nothing more, and its end closes the connection
                pass
        finally:
            daemons = guest.leave()
            with self._lock:
                del self._guests[id(guest)]
                self._daemons += daemons
                self._idle_since = time.monotonic()
                self._is_tidy = False
            write_log(f"{name} goes")

    def _find_obstacle(self, peer: tuple[int, int] | None, surroundings: object) -> str:
        """Return why a process may not use this Spark; an empty text if it may."""
        if peer is not None and peer[1] != os.getuid():
            return "it belongs to another user"
        if self.refuses_confined and peer is not None and read_status(peer[0]).get("NoNewPrivs") != "0":
            return "it is not for calculators"
        if self._ending:
            return "it is ending"
        if not isinstance(surroundings, dict):
            return "the command does not say in which surroundings it runs"
        return explain_difference(self.surroundings, surroundings)

    def _keep_default_session(self) -> None:
        """Set Java's default session to the keeper's again, in case a command has cleared it."""
        sessions = getattr(self.context._jvm, "org.apache.spark.sql.classic.SparkSession")  # noqa: SLF001
        if not sessions.getDefaultSession().isDefined():
            sessions.setDefaultSession(self.session._jsparkSession)  # noqa: SLF001

    def _describe(self) -> dict[str, Any]:
        with self._lock:
            names = [guest.name for guest in self._guests.values()]
        idle = None if names else max(0.0, time.monotonic() - self._idle_since)
        return {
            "process": make_process_mark(),
            "pid": os.getpid(),
            "since": self._since,
            "idle": self.idle,
            "unused": idle,
            "commands": names,
            "served": self._served,
            "ending": self._ending,
            "surroundings": self.surroundings,
        }


def keep_spark(idle: float) -> int:
    """Start Spark, and keep it until the end; return the exit status."""
    folder = make_warm_folder()
    with folder.lock.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            write_log("another keeper runs")
            return TAKEN
        folder.remove_remains()
        surroundings = describe_surroundings()
        refuses_confined = read_status(os.getpid()).get("NoNewPrivs") == "0"
        # Java gets no more powers than the calculators of its commands have: they may find a way to it.
        drop_capabilities(keep_files=True)
        forbid_new_privileges()
        try:
            context = start_context("local[*]", confinement=Confinement())
            keeper = Keeper(folder, context, SparkSession(context), idle, surroundings, refuses_confined)
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, lambda number, _: keeper.end(f"signal {number}", now=True))
            warm_up(context, folder.path)
            reason = keeper.run()
        except (ProvennError, OSError) as error:
            write_log(str(error))
            return 1
        finally:
            end_java()
        write_log(f"ended: {reason}")
        return 0


def warm_up(context: Any, parent: Path) -> None:  # noqa: ANN401 - pyspark is imported late
    """Run typical queries, as a command would, so that Java has loaded and compiled what they need."""
    with tempfile.TemporaryDirectory(dir=parent, prefix="provenn-guest-") as place:
        guest = Path(place)
        os.mkfifo(guest / OUTPUT, mode=0o600)
        reader = os.open(guest / OUTPUT, os.O_RDWR)
        try:
            write_inheritance(guest, build_worker_environment(os.environ), ())
            context.environment[GUEST] = str(guest)
            run_typical_queries(context, guest)
        finally:
            end_daemons(guest)
            os.close(reader)
            context.environment.pop(GUEST, None)


def write_log(line: str) -> None:
    """Write a line to the log, which is the standard output."""
    with suppress(OSError, RuntimeError):  # a full disk ends no command, nor does a signal while a line is written
        sys.stdout.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {line}\n")
        sys.stdout.flush()


def _find_inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


if __name__ == "__main__":
    sys.exit(keep_spark(float(sys.argv[1])))
