"""Progress of commands that read or write data."""

from __future__ import annotations

import os
import sys
from functools import cache

from provenn.spark.progress import Listener
from provenn.spark.progress_bar import PlainLines, TerminalBar

__all__ = ["command_listener"]


@cache  # it knows what it has shown of the runs that go on
def command_listener() -> Listener:
    """Return what shows progress on the standard error: a bar on a terminal, otherwise a line every few seconds."""
    return TerminalBar() if sys.stderr.isatty() and os.environ.get("TERM") != "dumb" else PlainLines()
