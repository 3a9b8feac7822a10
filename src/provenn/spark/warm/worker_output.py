"""The daemon of pyspark, with workers whose output goes to their command.

Run ``python -m provenn.spark.warm.worker_output``.

The standard output of the daemon belongs to Java. Java would write what workers print to its own standard error, which
is the log of the keeper. So each worker prints to its standard error, which is that of the command (`worker_side`).
"""

from __future__ import annotations

import os
import runpy

__all__ = ["become_daemon"]


def become_daemon() -> None:
    """Run pyspark's daemon."""
    os.register_at_fork(after_in_child=_print_to_command)
    runpy.run_module("pyspark.daemon", run_name="__main__", alter_sys=True)


def _print_to_command() -> None:
    os.dup2(2, 1)


if __name__ == "__main__":
    become_daemon()
