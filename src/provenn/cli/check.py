"""``provenn check``: whether an archive is sound."""

from __future__ import annotations

import sys
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, SparkUrl, open_archive_at
from provenn.cli.output import AsJson, write_json, write_text

if TYPE_CHECKING:
    from provenn.archive.repairing import Soundness
    from provenn.soundness.problems import ArchiveProblem

__all__ = ["check"]

_INTERVAL = 0.2
"""Seconds between two updates of the progress line."""


def check(
    *,
    deep: Annotated[bool, typer.Option("--deep", help="Also read every byte of stored data and base files.")] = False,
    repair: Annotated[bool, typer.Option("--repair", help="Repair what can be repaired.")] = False,
    audit_head: Annotated[
        str | None,
        typer.Option(
            "--audit-head",
            metavar="HEAD",
            help="Compare the audit log with an earlier output of `provenn audit --head`.",
            show_default=False,
        ),
    ] = None,
    spark: SparkUrl = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Check that the whole archive is complete and unchanged.

    Every digest is recomputed. Files of fragments, converted files and tables from memory are checked by size and
    footer and, with --deep, byte by byte. Base files are compared with their state at ingestion; with --deep all of
    them are read, and the footers of Parquet files are compared with the rows. With --repair, indices are rebuilt,
    changed proofs dropped, leftovers deleted, and damaged fragments recomputed. What only a backup can restore is never
    touched.

    Exit status: 0 if the archive is sound; leftovers, and remarks on files outside, do not count. 1 if something is
    damaged and was not repaired.

    Try:

    - `provenn check`
    - `provenn check --deep --repair`
    - `provenn check --audit-head "$(cat audit-head.txt)"`
    """
    with open_archive_at(archive_path, spark=spark) as archive:
        progress_line = _ProgressLine() if sys.stderr.isatty() else None
        soundness = archive.check(deep=deep, repair=repair, audit_head=audit_head, progress=progress_line)
    if as_json:
        write_json(_soundness_data(soundness))
    else:
        _write_soundness(soundness)
    raise typer.Exit(0 if soundness.sound else 1)


class _ProgressLine:
    """Shows the progress of the check in the last line of a terminal."""

    def __init__(self) -> None:
        self._next = 0.0

    def __call__(self, what: str, done: int, of: int) -> None:
        if monotonic() >= self._next:
            self._next = monotonic() + _INTERVAL
            progress = f"{what}: {done:,} of {of:,}" if of else what
            typer.echo(f"\r\x1b[Kchecking {progress}\r", nl=False, err=True)


def _write_soundness(soundness: Soundness) -> None:
    """Write the problems, repairs and failures of a check, and whether the archive is sound."""
    from provenn.soundness.problems import REMEDIES  # noqa: PLC0415 - JSON does not need it

    if sys.stderr.isatty():
        typer.echo("\r\x1b[K", nl=False, err=True)
    for problem in soundness.problems:
        write_text(f"{problem.state:8}  {problem}")
        if problem.state == "damage":
            write_text(f"{'':8}  remedy: {REMEDIES[problem.remedy]}")
    for problem in soundness.mended:
        write_text(f"repaired  {problem}")
    for failure in soundness.failed:
        write_text(f"failed    {failure}")
    damage = sum(problem.state == "damage" for problem in soundness.problems)
    scope = f"{soundness.catalogs:,} catalogs, {'every byte' if soundness.deep else 'without reading data'}"
    if soundness.sound:
        write_text(f"the archive is sound ({scope})")
        return
    mendable = any(
        problem.state == "damage" and problem.remedy not in ("restore", "rewrite") for problem in soundness.problems
    )
    hint = "; repair it: provenn check --repair" if mendable and not soundness.failed else ""
    write_text(f"the archive is damaged ({scope}): {damage} problem{'s' * (damage != 1)}{hint}")


def _soundness_data(soundness: Soundness) -> dict[str, Any]:
    """Return the outcome of a check as JSON data."""
    return {
        "sound": soundness.sound,
        "deep": soundness.deep,
        "catalogs": soundness.catalogs,
        "problems": [_problem_data(problem) for problem in soundness.problems],
        "mended": [_problem_data(problem) for problem in soundness.mended],
        "failed": list(soundness.failed),
    }


def _problem_data(problem: ArchiveProblem) -> dict[str, str]:
    """Return a problem as JSON data."""
    return {"where": problem.where, "what": problem.what, "state": problem.state, "remedy": problem.remedy}
