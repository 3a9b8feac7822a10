"""The memory of the driver, Python and Java, while more and more rows are counted and written.

Run ``python -m benchmarks.spark_memory``; ``--rows 1000000 10000000`` for other sizes. Each size has a process, and so
a Java, of its own. Data are generated, ingested, selected from, counted and written; then all of them are asked for as
a data frame, within a limit that they exceed: that must raise, and bring nothing.

Java takes memory from the machine before it clears its own, up to its limit; so it is given all of its heap at once,
and what grows after that is what Spark needs.
"""

from __future__ import annotations

import os
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from benchmarks.measure import Minimum, patiently, peak_memory, show, show_load, shown

__all__ = ["main", "prepare"]

ROWS = (1_000_000, 10_000_000, 50_000_000)
HEAP = "1g"
LIMIT = 5_000_000
"""Bytes that may be brought into this process; all sizes exceed it."""

MOST = 1.25
"""How many times as much the largest data may take as the smallest: what is promised."""


@dataclass(frozen=True, slots=True)
class Used:
    """What a size took: bytes at the peak, of Python and of Java, and seconds."""

    python: int
    java: int
    counting: float
    writing: float
    refused: bool


def prepare(rows: int) -> Callable[[], Used]:
    """Return what measures one size."""
    os.environ["SPARK_DRIVER_MEMORY"] = HEAP
    os.environ["SPARK_SUBMIT_OPTS"] = f"-Xms{HEAP} -XX:+AlwaysPreTouch"

    def work() -> Used:
        import provenn  # noqa: PLC0415 - in the process that is measured
        from provenn.errors import TooLargeError  # noqa: PLC0415

        with (
            tempfile.TemporaryDirectory() as folder,
            provenn.open(Path(folder) / "archive", progress=False) as archive,
        ):
            _generate(archive, Path(folder) / "stars.parquet", rows)
            stars = archive.ingest("stars", Path(folder) / "stars.parquet", key="id", population="star")
            some = stars.select("vmag < 10").derive(colour="g - r")
            start = perf_counter()
            counted = some.count()
            counting = perf_counter() - start
            start = perf_counter()
            written = some.write(Path(folder) / "some.parquet", single=False).rows
            writing = perf_counter() - start
            assert counted == written, f"{counted} were counted, {written} written"
            try:
                some.to_pandas(limit=LIMIT)
                refused = False
            except TooLargeError:
                refused = True
            return Used(peak_memory(), _peak_of_java(), counting, writing, refused)

    return work


def _generate(archive: object, path: Path, rows: int) -> None:
    session = archive.context.workshop.pipeline().engine.session  # type: ignore[attr-defined]
    bands = (f"20 * rand({seed}) AS {name}" for seed, name in enumerate(("vmag", "g", "r")))
    session.range(rows).selectExpr("id", *bands).write.parquet(str(path))


def _peak_of_java() -> int:
    """Return how many bytes the Java below this process held at most (Linux)."""
    below = {os.getpid()}
    found = 0
    for status in sorted(Path("/proc").glob("[0-9]*/status"), key=lambda one: int(one.parent.name)):
        try:
            fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        except OSError:  # it has ended
            continue
        if int(fields["PPid"]) in below:
            below.add(int(fields["Pid"]))
            if fields["Name"].strip() == "java":
                found = max(found, 1024 * int(fields["VmHWM"].split()[0]))
    return found


def main(arguments: Sequence[str] = ()) -> int:
    """Measure, print a table, and return 1 if memory grows with the data."""
    parser = ArgumentParser(description="the memory of the driver")
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS, help="how many stars")
    options = parser.parse_args(list(arguments))
    show_load()
    found = {rows: patiently(prepare, rows) for rows in options.rows}
    show(
        f"Memory at the peak, MB, where Java may use {HEAP} of heap",
        ("stars", "Python", "Java", "counting, s", "writing, s", "too large for pandas"),
        (
            (
                shown(rows),
                shown(one.python / 1e6),
                shown(one.java / 1e6),
                shown(one.counting),
                shown(one.writing),
                "refused" if one.refused else "BROUGHT",
            )
            for rows, one in found.items()
        ),
    )
    least, most = found[min(found)], found[max(found)]
    minimums = (
        Minimum("Python, the largest to the smallest", most.python / least.python, MOST, at_most=True),
        Minimum("Java, the largest to the smallest", most.java / least.java, MOST, at_most=True),
        Minimum("refused to bring too much", sum(one.refused for one in found.values()), len(found), ""),
    )
    show("Minimums", ("what", "measured", "minimum", ""), (minimum.row() for minimum in minimums))
    show_load()
    return int(not all(minimum.reached for minimum in minimums))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
