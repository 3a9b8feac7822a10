"""Commands on a terminal of 80 columns."""

import os
import pty
import subprocess
import sys

from tests.cli.test_app import ENVIRONMENT

__all__ = ["on_a_terminal"]


def on_a_terminal(*arguments: str, **environment: str) -> str:
    """Run a command on a terminal; return all that it writes there."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "provenn", *arguments]
    settings = ENVIRONMENT | {"TERM": "xterm-256color", "COLUMNS": "80"} | environment
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=settings):
        os.close(theirs)
        told = b""
        try:
            while part := os.read(ours, 65536):
                told += part
        except OSError:  # Linux's word for the end
            pass
        finally:
            os.close(ours)
    return told.decode()
