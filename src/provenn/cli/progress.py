"""Progress of commands that read or write data."""

from __future__ import annotations

import os
import sys
from functools import cache

from provenn.spark.progress import Listener
from provenn.spark.progress_bar import PlainLines, TerminalBar

__all__ = ["get_progress_listener"]


@cache  # the listener remembers what it has shown of the current runs
def get_progress_listener() -> Listener:
    """Return the listener that shows progress on the standard error: a bar on a terminal, otherwise regular lines."""
    return TerminalBar() if sys.stderr.isatty() and os.environ.get("TERM") != "dumb" else PlainLines()
