"""The commands that use the Spark of the keeper: each has a gateway, a secret, a tag for its jobs and a folder."""

from __future__ import annotations

import os
import secrets
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from provenn.spark.warm.worker_side import OUTPUT, end_daemons

__all__ = ["Guest"]

_INTERVAL = 0.2
_PATIENCE = 60.0
"""Seconds in which Spark must cancel the jobs of a command that has ended."""


class Guest:
    """A command that uses the Spark of the keeper.

    Parameters
    ----------
    context
        The Spark context of the keeper.
    parent
        The folder in which the guest folder is made.
    name
        The command, for the log.

    Attributes
    ----------
    name
        The command.
    folder
        The guest folder.
    tag
        The tag of the command's jobs.
    """

    def __init__(self, context: Any, parent: Path, name: str) -> None:  # noqa: ANN401 - pyspark is imported late
        self._context = context
        self._gateway: Any = None
        self.name = name
        self.tag = f"provenn-guest-{secrets.token_hex(8)}"
        self.folder = parent / self.tag

    def enter(self) -> Self:
        """Make the folder and the gateway of the command.

        Raises
        ------
        OSError
            If the disk fails.
        """
        self.folder.mkdir(mode=0o700)
        os.mkfifo(self.folder / OUTPUT, mode=0o600)
        java = self._context._jvm  # noqa: SLF001 - no public call gives it
        server = getattr(java, "org.apache.spark.api.python.Py4JServer")
        # A gateway of its own: its secret opens no other, and all objects of the command vanish with it.
        self._gateway = server(self._context._jsc.sc().conf())  # noqa: SLF001
        self._gateway.start()
        return self

    def describe(self) -> dict[str, Any]:
        """Return what the command needs to know."""
        return {
            "port": int(self._gateway.getListeningPort()),
            "secret": str(self._gateway.secret()),
            "folder": str(self.folder),
            "tag": self.tag,
        }

    def leave(self) -> int:
        """Cancel the jobs of the command, and remove everything that it had; return how many daemons it had."""
        with suppress(Exception):  # Java may have died
            self._cancel_jobs()
        daemons = end_daemons(self.folder)
        with suppress(Exception):
            if self._gateway is not None:
                self._gateway.shutdown()
        shutil.rmtree(self.folder, ignore_errors=True)
        return daemons

    def _cancel_jobs(self) -> None:
        tracker = self._context._jsc.sc().statusTracker()  # noqa: SLF001 - Python's own tracker knows no tags
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            active = set(self._context.statusTracker().getActiveJobsIds())
            if not active & set(tracker.getJobIdsForTag(self.tag)):
                return
            self._context.cancelJobsWithTag(self.tag)
            time.sleep(_INTERVAL)
