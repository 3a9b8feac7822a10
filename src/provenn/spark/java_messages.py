"""The standard error of Java: collected while Java starts, in case it fails, and passed on afterwards."""

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

    The lines of a start (incubating modules, a log level) matter only if the start fails. Later lines are printed by
    calculators and belong to the user: they go to ``sys.stderr``, which in a notebook is the cell.
    """

    def __init__(self) -> None:
        self._starting: list[str] | None = []
        self._reader = threading.Thread(target=lambda: None)

    @contextmanager
    def collect(self) -> Iterator[int]:
        """Yield the end of the pipe for a new Java, and collect its lines until the body ends."""
        reading, writing = os.pipe()
        self._reader = threading.Thread(target=self._read_lines, args=(reading,), daemon=True, name="Java's messages")
        self._reader.start()
        try:
            yield writing
            self._starting = None
        finally:
            os.close(writing)

    def find_reason(self) -> str:
        """Return the line that says why Java did not start, or an empty text."""
        self._reader.join(2)  # until Java has ended, or no more lines come
        lines = [line.strip() for line in self._starting or [] if line.strip()]
        errors = [line for line in lines if re.search(r"exception|error", line, re.IGNORECASE)] or lines[-1:]
        return re.sub(r'^Exception in thread "\S+" |^Error: ', "", errors[0]) if errors else ""

    def _read_lines(self, reading: int) -> None:
        with os.fdopen(reading, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if self._starting is not None:
                    self._starting.append(line)
                else:
                    with suppress(Exception):  # sys.stderr may be closed or None
                        sys.stderr.write(line)
