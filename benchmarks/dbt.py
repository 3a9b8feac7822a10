"""A project of dbt with 2 000 models: importing it, checking it, and comparing it with a pull request.

Run ``python -m benchmarks dbt``; ``python -m benchmarks.dbt --models 200`` for another size. The project is made up:
families of twenty models on a source each, with filters, joins, unions and groups, and two tests for a model. A pull
request changes the conditions of three models.
"""

from __future__ import annotations

import json
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import TypeVar

import provenn
from benchmarks.dbt_manifests import generate_manifest
from benchmarks.measure import show, show_load, shown

__all__ = ["main"]

T = TypeVar("T")

MODELS = 2_000
CHANGED = 3

MOST_IMPORT_AND_CHECK = 60.0
MOST_DIFF = 10.0
"""Seconds of a processor that importing and checking, and a comparison, may take."""


def main(arguments: Sequence[str] = ()) -> int:
    """Run the benchmark."""
    parser = ArgumentParser(prog="python -m benchmarks.dbt", description=__doc__)
    parser.add_argument("--models", type=int, default=MODELS)
    models = parser.parse_args(arguments).models
    from provenn.dbt.differing import compare_manifests  # noqa: PLC0415 - imports are not measured
    from provenn.dbt.importing import import_project  # noqa: PLC0415
    from provenn.dbt.projects import check_manifest  # noqa: PLC0415

    show_load()
    with tempfile.TemporaryDirectory() as folder:
        old, new = _write(Path(folder, "old"), models, 0), _write(Path(folder, "new"), models, CHANGED)
        with provenn.open(Path(folder, "archive")) as archive:
            imported, *importing = _measure(lambda: import_project(archive, old))
        findings, *checking = _measure(lambda: check_manifest(old))
        changes, *comparing = _measure(lambda: compare_manifests(old, new))
    show(
        f"a project of {shown(models)} models and {shown(findings.tests)} tests",
        ("step", "seconds", "of a processor", "result"),
        [
            ("import", *map(_format, importing), f"{imported.new} catalogs, {imported.facts} facts"),
            ("check", *map(_format, checking), f"{len(findings.implied)} tests need not run"),
            ("diff of a pull request", *map(_format, comparing), f"{len(changes.affected)} models affected"),
        ],
    )
    both = importing[1] + checking[1]
    print(f"importing and checking take {both:.0f} s of a processor; at most {MOST_IMPORT_AND_CHECK:.0f} is promised")
    print(f"a comparison takes {comparing[1]:.1f} s of a processor; at most {MOST_DIFF:.0f} is promised")
    return int(both > MOST_IMPORT_AND_CHECK or comparing[1] > MOST_DIFF)


def _write(folder: Path, models: int, changed: int) -> Path:
    """Write a manifest."""
    folder.mkdir()
    file = folder / "manifest.json"
    file.write_text(json.dumps(generate_manifest(models, changed=changed)), encoding="utf-8")
    return file


def _measure(work: Callable[[], T]) -> tuple[T, float, float]:
    """Return the result of work, the seconds it took, and those of a processor."""
    began, used = perf_counter(), process_time()
    result = work()
    return result, perf_counter() - began, process_time() - used


def _format(seconds: float) -> str:
    return f"{seconds:.1f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
