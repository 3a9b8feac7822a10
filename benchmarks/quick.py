"""All ratios in some minutes: each figure with its aim beside it, and whether the aim is met.

Run ``make bench-quick``, or ``python -m benchmarks.quick [NAME…]``. Sizes are small: a figure that is met here may be
missed at the full size, for which the benchmark named in the table is run. Each measurement is a process of its own,
and is ended after `PATIENCE` seconds. Aims that are missed are shown; the exit status is 1 only if a measurement
failed.

To add a measurement, add a line to `MEASUREMENTS`: its name, and a function that returns a list of `Minimum`.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from signal import SIGKILL
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired
from time import perf_counter

from benchmarks.measure import Minimum, show, show_load

__all__ = ["MEASUREMENTS", "measure_all"]

PATIENCE = 90.0
"""Seconds for each measurement on a quiet machine; on a busy one, as many times more as processes share a core."""

MEASUREMENTS = {
    "look": "benchmarks.quick_measures:measure_looks",
    "start_up": "benchmarks.quick_measures:measure_commands",
    "discovery": "benchmarks.quick_measures:measure_discovery",
    "web": "benchmarks.quick_measures:measure_pages",
    "archive_store": "benchmarks.quick_measures:measure_definitions",
    "planning": "benchmarks.quick_measures:measure_planning",
    "targets": "benchmarks.quick_measures:measure_targets",
    "knowledge": "benchmarks.quick_measures:measure_questions",
}
"""The function of each measurement, named like the benchmark for the full size."""


def measure_all(names: Sequence[str]) -> int:
    """Run measurements, print their figures, and return 1 if a measurement failed."""
    began, rows, problems = perf_counter(), [], []
    for name in names:
        print(f"{name} …", file=sys.stderr, end="", flush=True)
        started, worked = perf_counter(), _get_cpu_seconds()
        outcome = _run_measurement(name)
        took, worked = perf_counter() - started, _get_cpu_seconds() - worked
        print(f" {took:.0f} seconds, {worked:.0f} of processors", file=sys.stderr, flush=True)
        if isinstance(outcome, str):
            problems.append(f"{name}: {outcome}")
        else:
            rows += [(name, *_describe(minimum)) for minimum in outcome]
    show("All ratios, small sizes", ("benchmark", "what", "measured", "aim", "met"), rows)
    print(f"{perf_counter() - began:.0f} seconds, {_get_cpu_seconds():.0f} of processors")
    show_load()
    for problem in problems:
        print(problem, file=sys.stderr)
    return int(bool(problems))


def _get_cpu_seconds() -> float:
    """Return the seconds that processors have worked for processes that this one started, and for those of theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _describe(minimum: Minimum) -> tuple[str, str, str, str]:
    what, measured, aim, _ = minimum.row()
    return what, measured, aim, "yes" if minimum.reached else "NO"


def _run_measurement(name: str) -> list[Minimum] | str:
    """Return what a measurement found in a process of its own, or what went wrong in words."""
    command = [sys.executable, "-m", "benchmarks.quick", "--measure", name]
    patience = PATIENCE * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    with Popen(command, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, text=True, start_new_session=True) as process:
        try:
            output, problem = process.communicate(timeout=patience)
        except TimeoutExpired:
            os.killpg(process.pid, SIGKILL)  # its servers and Sparks, too: they would disturb what is measured next
            return f"took longer than {patience:.0f} seconds"
    if process.returncode:
        return (problem.strip().splitlines() or ["failed"])[-1]
    return [Minimum(**values) for values in json.loads(output.strip().splitlines()[-1])]


def _measure(name: str) -> None:
    """Run a measurement in this process, and print its figures as JSON."""
    module, _, function = MEASUREMENTS[name].partition(":")
    print(json.dumps([asdict(minimum) for minimum in getattr(import_module(module), function)()]))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        _measure(sys.argv[2])
        sys.exit()
    unknown = sorted(set(sys.argv[1:]) - set(MEASUREMENTS))
    if unknown:
        sys.exit(f"no measurement is called {', '.join(unknown)}; there are {', '.join(MEASUREMENTS)}")
    sys.exit(measure_all(sys.argv[1:] or list(MEASUREMENTS)))
