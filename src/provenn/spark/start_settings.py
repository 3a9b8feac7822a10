"""The settings with which provenn starts a Spark."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

__all__ = ["build_start_settings"]

_QUIET = Path(__file__).with_name("quiet.properties").absolute()


def build_start_settings(is_local: bool, java_options: Sequence[str]) -> dict[str, str]:
    """Return the settings of a Spark that starts now: on this machine, or as the driver of a cluster."""
    quiet = ["-Xlog:disable", f"-Dlog4j2.configurationFile={_QUIET.as_uri()}"]
    settings = {
        "spark.app.name": "provenn",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.extraJavaOptions": shlex.join([*quiet, *java_options]),
    }
    if is_local:
        settings |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            # Driver and tasks share one process: half of the memory, because Python's workers and the page cache need
            # the rest; and at most the heap that Java addresses with short pointers, as the class archive requires.
            "spark.driver.memory": os.environ.get("SPARK_DRIVER_MEMORY")
            or f"{min(_measure_memory() // 2, 30 * 2**30) >> 20}m",
            # Adaptive execution joins small partitions and never splits large ones: so this is enough for large data,
            # and fewer than the 200 with which a cluster begins.
            "spark.sql.shuffle.partitions": str(8 * (os.cpu_count() or 1)),
            # Runs share the cores, so that a short one does not wait for a long one: `provenn.spark.progress` gives
            # each a pool.
            "spark.scheduler.mode": "FAIR",
        }
    return settings


def _measure_memory() -> int:
    """Return how many bytes of memory this process may use: all of the machine, or the limit of its container."""
    size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError, ValueError):  # "max" is no number
        size = min(size, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return size
