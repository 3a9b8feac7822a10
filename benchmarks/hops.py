"""How far a command goes through the house: functions, modules, transactions, plans and knowledge, counted.

Run ``python -m benchmarks hops``. Commands run as typed, in one process, on an archive of one table of stars, a
calculator in Python and three catalogs. All of them ran before on another archive, so that no import and no first use
of Spark is counted. What other threads and processes do, those of Spark and of calculators, is not counted either.

A *call* is one of a named function or method of provenn, a *hop* a call from another module of provenn. A *plan* is an
outermost call of a function ``plan_…`` or ``replan_…`` of the room ``targets``. To count an
earlier version, put its sources first::

    PYTHONPATH=/path/to/earlier/src python -m benchmarks hops
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, fields
from io import StringIO
from pathlib import Path
from shlex import split
from tempfile import TemporaryDirectory
from unittest.mock import patch

import provenn
from benchmarks.call_trace import CallTrace, Function, trace_calls
from benchmarks.measure import show
from benchmarks.photometry import write_stars
from provenn.cli import main as run_provenn

__all__ = ["Hops", "count_hops", "main", "run_command", "trace_commands"]

ROWS = 2000

PREPARATION = (
    "calculator colour benchmarks.colour_index:colour_index --input g --input r --output colour=double",
    "select stars 'vmag < 6' --name bright",
    "select stars 'plx > 10' --name near",
    "combine bright near --name both",
)
"""What is done between the first command counted and the others."""

COMMANDS = {
    "ingest": "ingest stars {folder}/stars.parquet --key id --population star",
    "relate": "relate both bright --why",
    "target -o, the first": "target bright vmag colour -o {folder}/first.parquet",
    "target -o, partly stored": "target near vmag colour -o {folder}/partly.parquet",
    "target -o, all stored": "target both vmag colour -o {folder}/stored.parquet",
}
"""The commands counted. The first target stores what it calculates; the others need some of that, and more or not."""


@dataclass(frozen=True, slots=True)
class Hops:
    """How far a command went.

    Parameters
    ----------
    functions, modules, rooms
        How many different ones it called, or passed.
    calls, hops
        How many calls it made, and how many of them from one module to another.
    reading, writing
        How many transactions it began.
    plans
        How many times it planned.
    knowledge
        How many objects `Knowledge` it built.
    """

    functions: int
    modules: int
    rooms: int
    calls: int
    hops: int
    reading: int
    writing: int
    plans: int
    knowledge: int


def count_hops(trace: CallTrace) -> Hops:
    """Return what a trace holds."""
    called = [function for _, function in trace.calls]
    functions = set(called)
    return Hops(
        functions=len(functions),
        modules=len({function.module for function in functions}),
        rooms=len({function.room for function in functions}),
        calls=len(called),
        hops=sum(caller is not None and caller.module != function.module for caller, function in trace.calls),
        reading=sum(function.name == "Database.reading" for function in called),
        writing=sum(function.name == "Database.writing" for function in called),
        plans=sum(
            _is_planning(function) and not (caller is not None and _PLANNING.search(caller.module))
            for caller, function in trace.calls
        ),
        knowledge=sum(function.name == "Knowledge.__init__" for function in called),
    )


def _is_planning(function: Function) -> bool:
    """Return whether a function makes a plan."""
    return bool(_PLANNING.search(function.module)) and function.name.startswith(("plan_", "replan_"))


_PLANNING = re.compile(r"^targets\.(re)?planning$")
"""The modules that make plans."""


def trace_commands(folder: Path) -> Iterator[tuple[str, CallTrace]]:
    """Run the commands on a new archive in an empty folder; yield the calls of each."""
    write_stars(folder / "stars.parquet", ROWS)
    run_command("init", folder)
    package = Path(provenn.__file__).parent
    for number, (name, command) in enumerate(COMMANDS.items()):
        with trace_calls(package) as trace:
            run_command(command, folder)
        yield name, trace
        if number == 0:
            for preparation in PREPARATION:
                run_command(preparation, folder)


def run_command(command: str, folder: Path) -> str:
    """Run a command of provenn on the archive in a folder, in this process; return its output.

    Raises
    ------
    RuntimeError
        If the command fails.
    """
    output = StringIO()
    words = ["provenn", *split(command.format(folder=folder)), "--archive", str(folder)]
    with patch.object(sys, "argv", words), redirect_stdout(output), redirect_stderr(output):
        try:
            run_provenn()
        except SystemExit as end:
            if end.code:
                raise RuntimeError(f"provenn {command}: exit status {end.code}\n{output.getvalue()}") from None
    return output.getvalue()


def main(arguments: Sequence[str] = ()) -> int:
    """Count, and print a table."""
    assert not arguments
    with TemporaryDirectory() as first, TemporaryDirectory() as second:
        for _ in trace_commands(Path(first)):
            pass  # imports everything, and lets Spark start once
        counted = {name: count_hops(trace) for name, trace in trace_commands(Path(second))}
    show(
        f"hops in {Path(provenn.__file__).parent}",
        ("", *counted),
        ((part.name, *(str(getattr(hops, part.name)) for hops in counted.values())) for part in fields(Hops)),
    )
    return 0
