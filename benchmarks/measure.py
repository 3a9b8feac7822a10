"""Measuring in fresh processes, and showing it in tables.

A fresh process for every measurement: no contender finds memory that another has warmed or filled, one that takes too
long can be ended, and what memory it takes can be read from its resident set.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from operator import itemgetter
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

from rich import box
from rich.console import Console
from rich.table import Table

__all__ = [
    "Minimum",
    "best_of",
    "in_fresh_process",
    "patiently",
    "peak_memory",
    "processor_time",
    "resident_memory",
    "runs",
    "show",
    "show_load",
    "shown",
    "shown_time",
]

T = TypeVar("T")


def in_fresh_process(prepare: Callable[..., Callable[[], T]], *arguments: Any, seconds: float) -> T | None:
    """Run ``prepare(*arguments)()`` in a process of its own.

    Parameters
    ----------
    prepare
        Gets ready, imports included, and returns what is to be measured.
    arguments
        What it is called with; pickled, as is the result.
    seconds
        How long what it returns may take. Getting ready is not counted.

    Returns
    -------
    T or None
        The result, or None if it took longer; then the process, and all that it started, is ended.
    """
    context = get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(theirs, prepare, arguments))
    process.start()
    theirs.close()
    try:
        ours.recv()
        return ours.recv() if ours.poll(seconds) else None
    except EOFError:
        raise RuntimeError(f"the process that ran {prepare.__name__} ended without a result") from None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid or 0, signal.SIGKILL)
        process.join()
        ours.close()


def patiently(prepare: Callable[..., Callable[[], T]], *arguments: Any) -> T:
    """Run ``prepare(*arguments)()`` in a process of its own; ten minutes mean that something is wrong."""
    result = in_fresh_process(prepare, *arguments, seconds=600)
    if result is None:
        raise TimeoutError(f"{prepare.__module__}.{prepare.__name__} took more than ten minutes")
    return result


def _child(connection: Connection, prepare: Callable[..., Callable[[], Any]], arguments: tuple[Any, ...]) -> None:
    os.setsid()  # a group of its own, so that whatever a contender starts can be ended with it
    work = prepare(*arguments)
    connection.send("ready")
    connection.send(work())
    connection.close()


def runs(work: Callable[[], T], least: float = 1.0, most: int = 25) -> list[tuple[float, T]]:
    """Return the seconds and the result of a few runs; one is enough for what takes `least` seconds."""
    done: list[tuple[float, T]] = []
    while len(done) < most and sum(seconds for seconds, _ in done) < least:
        start = perf_counter()
        result = work()
        done.append((perf_counter() - start, result))
    return done


def best_of(work: Callable[[], T]) -> tuple[float, T]:
    """Return the seconds and the result of the shortest of a few runs."""
    return min(runs(work), key=itemgetter(0))


def resident_memory() -> int:
    """Return how many bytes of memory this process holds now (Linux); its peak is counted from here."""
    with suppress(OSError):  # where this cannot be written, the peak counts from the start of the process
        Path("/proc/self/clear_refs").write_text("5")
    return _memory("VmRSS")


def peak_memory() -> int:
    """Return how many bytes of memory this process held at most.

    Not from `resource.getrusage`, which begins with what the process held that started this one.
    """
    return _memory("VmHWM")


def _memory(field: str) -> int:
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split(f"{field}:")[1].split()[0])


def processor_time(top: int | None = None) -> float:
    """Return how many seconds of processors a process, by default this one, and all below it have used (Linux)."""
    top = os.getpid() if top is None else top
    ticks, above = dict[int, int](), dict[int, int]()
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            fields = file.read_text().rpartition(")")[2].split()
            number = int(file.parent.name)
            above[number] = int(fields[1])
            ticks[number] = sum(map(int, fields[11:15]))  # of its own, and of its children that have ended
    total = 0
    for number in ticks:
        one = number
        while one and one != top:
            one = above.get(one, 0)
        total += ticks[number] if one else 0
    return total / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Minimum:
    """A figure that must be reached.

    Parameters
    ----------
    what
        What was measured.
    figure
        What came out.
    bound
        What it must be at least, or at most.
    at_most
        Whether `bound` is an upper one.
    unit
        Of both.
    """

    what: str
    figure: float
    bound: float
    unit: str = "x"
    at_most: bool = False

    @property
    def reached(self) -> bool:
        """Whether it was."""
        return self.figure <= self.bound if self.at_most else self.figure >= self.bound

    def row(self) -> tuple[str, str, str, str]:
        """The row of a table: what, figure, bound, verdict."""
        sign = "≤" if self.at_most else "≥"
        verdict = "reached" if self.reached else "NOT REACHED"
        return (self.what, f"{shown(self.figure)} {self.unit}", f"{sign} {shown(self.bound)} {self.unit}", verdict)


def shown(number: float) -> str:
    """Return a number with the digits that mean something.

    >>> shown(0.01234), shown(123456.0), shown(1.5)
    ('0.012', '123 456', '1.5')
    """
    if abs(number) >= 100:
        return f"{number:,.0f}".replace(",", " ")
    return f"{number:.2g}"


def show_load() -> None:
    """Print how busy the machine is: on a busy one, times are long and ratios uncertain."""
    print(f"{os.getloadavg()[0]:.1f} processes were running in the last minute, on {os.cpu_count()} cores")


def shown_time(times: Mapping[str, float | None], name: str, limit: float) -> str:
    """Return the seconds that somebody took; None in `times` means more than the limit, absence not run at all."""
    if name not in times:
        return "not run"
    seconds = times[name]
    return f"> {limit:g}" if seconds is None else shown(seconds)


def show(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a Markdown table: the first column to the left, figures to the right."""
    table = Table(box=box.MARKDOWN)
    for number, name in enumerate(header):
        table.add_column(name, justify="right" if number else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console = Console(width=160, highlight=False)
    console.print(f"\n{title}")
    console.print(table)
