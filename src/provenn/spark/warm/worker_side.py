"""What the processes that run the calculators of a command take over from the command, on a warm Spark.

On a Spark that the command has started itself, these processes inherit the environment, the current folder and the
standard error of the command. The warm Spark has those of the keeper. So the command writes its own into the folder
that the keeper has made for it, its *guest folder*, and the daemon of its workers, which serves this command alone,
takes them over from there. There the daemon also leaves its process id, by which the keeper ends it after the command.

Spark's worker daemon imports this module first, so the module imports only the standard library.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterable, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path

from provenn.processes import make_process_mark, read_mark_state

__all__ = ["GUEST", "OUTPUT", "end_daemons", "follow_command", "write_inheritance"]

GUEST = "PROVENN_WORKER_GUEST"
"""The variable that tells the daemon the guest folder of its command."""

OUTPUT = "output"
"""The pipe in a guest folder whose text the command writes to its standard error."""

_INHERITANCE = "inheritance"
_DAEMON = "daemon-"
_OF_JAVA = ("PYTHON*", "SPARK_*", "PYSPARK_*", "OMP_NUM_THREADS")
"""Variables that Java sets for workers; those of the user are the same for the keeper and for the command."""


def write_inheritance(guest: Path, variables: Mapping[str, str], java_names: Iterable[str]) -> None:
    """Write down what the workers of this process take over.

    Parameters
    ----------
    guest
        The guest folder.
    variables
        The environment of the workers.
    java_names
        Names of variables whose values Java hands on.
    """
    try:
        folder = os.getcwd()  # noqa: PTH109 - the folder may have been deleted
    except OSError:
        folder = "/"
    values = {"variables": dict(variables), "java_names": [*java_names], "folder": folder}
    descriptor = os.open(guest / _INHERITANCE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogateescape") as file:
        json.dump(values, file)


def follow_command(guest: str) -> dict[str, str]:
    """Take over the current folder and the standard error of a command; return its environment.

    Raises
    ------
    OSError
        If the command has ended.
    """
    folder = Path(guest)
    values = json.loads((folder / _INHERITANCE).read_text(encoding="utf-8", errors="surrogateescape"))
    (folder / f"{_DAEMON}{make_process_mark()}").touch(mode=0o600)
    # A pipe without a reader is an error here; the command reads it as long as it lives.
    output = os.open(folder / OUTPUT, os.O_WRONLY | os.O_NONBLOCK)
    os.set_blocking(output, True)
    os.dup2(output, 2)
    os.close(output)
    with suppress(OSError):
        os.chdir(values["folder"])
    patterns = (*_OF_JAVA, *values["java_names"])
    of_java = {
        name: value
        for name, value in os.environ.items()
        if name != GUEST and any(fnmatchcase(name, pattern) for pattern in patterns)
    }
    return {**values["variables"], **of_java}


def end_daemons(guest: Path) -> int:
    """End the daemons of a command with all their workers; return how many there were."""
    daemons = [*guest.glob(f"{_DAEMON}*")]
    for daemon in daemons:
        if read_mark_state(daemon.name) == "alive":
            pid = int(daemon.name.split("-")[-2])
            try:
                os.killpg(pid, signal.SIGKILL)  # pyspark's daemon leads a group of its own
            except OSError:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
    return len(daemons)
