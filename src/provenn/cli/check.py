"""``provenn check``: whether an archive is sound."""

from __future__ import annotations

import sys
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, SparkUrl, opened
from provenn.cli.output import AsJson, write_json, write_text

if TYPE_CHECKING:
    from provenn.archive.soundness import Soundness
    from provenn.store.checks import Problem

__all__ = ["check"]

_EVERY = 0.2


def check(
    *,
    deep: Annotated[bool, typer.Option("--deep", help="Also read every byte of stored data and base files.")] = False,
    repair: Annotated[bool, typer.Option("--repair", help="Mend what can be mended.")] = False,
    spark: SparkUrl = None,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Go through the whole archive: whether all is what was written, and nothing is missing.

    Every digest is computed anew; files of fragments are compared in size and footer and, with --deep, in every byte.
    Base files are compared with what they were; with --deep all of them are read, whatever the file system says.
    With --repair, indices are made anew, proofs that were changed forgotten, leftovers deleted, damaged fragments
    computed anew. What only a backup has is never touched.

    Exit status: 0 if the archive is sound; leftovers, and remarks on files outside, do not count. 1 if something is
    damaged, and not mended.

    Try:

    - `provenn check`
    - `provenn check --deep --repair`
    """
    with opened(archive, as_json, spark=spark) as found:
        told = found.check(deep=deep, repair=repair, progress=_Line() if sys.stderr.isatty() else None)
    if as_json:
        write_json(_data(told))
    else:
        _write(told)
    raise typer.Exit(0 if told.sound else 1)


class _Line:
    """What is looked at, in the last line of a terminal."""

    def __init__(self) -> None:
        self._next = 0.0

    def __call__(self, what: str, done: int, of: int) -> None:
        if monotonic() >= self._next:
            self._next = monotonic() + _EVERY
            said = f"{what}: {done:,} of {of:,}" if of else what
            typer.echo(f"\r\x1b[Kchecking {said}\r", nl=False, err=True)


def _write(told: Soundness) -> None:
    from provenn.store.checks import REMEDIES  # noqa: PLC0415 - only where there is something to tell

    if sys.stderr.isatty():
        typer.echo("\r\x1b[K", nl=False, err=True)
    for one in told.problems:
        write_text(f"{one.state:8}  {one}")
        if one.state == "damage":
            write_text(f"{'':8}  remedy: {REMEDIES[one.remedy]}")
    for one in told.mended:
        write_text(f"mended    {one}")
    for why in told.failed:
        write_text(f"failed    {why}")
    damage = sum(one.state == "damage" for one in told.problems)
    looked = f"{told.catalogs:,} catalogs, {'every byte' if told.deep else 'without reading data'}"
    if told.sound:
        write_text(f"the archive is sound ({looked})")
        return
    mendable = any(one.state == "damage" and one.remedy != "restore" for one in told.problems)
    hint = "; mend what can be: provenn check --repair" if mendable and not told.failed else ""
    write_text(f"the archive is damaged ({looked}): {damage} problem{'s' * (damage != 1)}{hint}")


def _data(told: Soundness) -> dict[str, Any]:
    return {
        "sound": told.sound,
        "deep": told.deep,
        "catalogs": told.catalogs,
        "problems": [_problem(one) for one in told.problems],
        "mended": [_problem(one) for one in told.mended],
        "failed": list(told.failed),
    }


def _problem(one: Problem) -> dict[str, str]:
    return {"where": one.where, "what": one.what, "state": one.state, "remedy": one.remedy}
