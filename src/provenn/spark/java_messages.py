"""What Java writes to the standard error: kept while it starts, in case it fails; passed on afterwards."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

__all__ = ["JavaMessages"]


class JavaMessages:
    """A pipe for the standard error of a Java.

    A start is chatty (modules that incubate, a log level) and tells nothing unless it fails. What comes later is what
    calculators print, and belongs to the user: it goes to ``sys.stderr``, which in a notebook is the cell.
    """

    def __init__(self) -> None:
        self._starting: list[str] | None = []
        self._reader = threading.Thread(target=lambda: None)

    @contextmanager
    def collected(self) -> Iterator[int]:
        """Give the end of the pipe to start Java with; what it writes before the end of the block is kept."""
        reading, writing = os.pipe()
        self._reader = threading.Thread(target=self._read, args=(reading,), daemon=True, name="Java's messages")
        self._reader.start()
        try:
            yield writing
            self._starting = None
        finally:
            os.close(writing)

    def reason(self) -> str:
        """Return the line that says why Java did not start, or nothing."""
        self._reader.join(2)  # until it has ended, or nothing more comes
        lines = [line.strip() for line in self._starting or [] if line.strip()]
        telling = [line for line in lines if re.search(r"exception|error", line, re.IGNORECASE)] or lines[-1:]
        return re.sub(r'^Exception in thread "\S+" |^Error: ', "", telling[0]) if telling else ""

    def _read(self, reading: int) -> None:
        with os.fdopen(reading, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if self._starting is not None:
                    self._starting.append(line)
                else:
                    with suppress(Exception):  # closed, or none at all
                        sys.stderr.write(line)
