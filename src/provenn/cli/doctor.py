"""``provenn doctor``: whether all that provenn needs is there."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, SparkUrl, holds_archive, is_address
from provenn.cli.output import AsJson, write_json, write_text

if TYPE_CHECKING:
    from provenn.cli.checks import Check, Finding, Look

__all__ = ["diagnose"]

_WIDTH = 18


def diagnose(
    *,
    start: Annotated[bool, typer.Option("--start", help="Also start Spark, and let it compute a row.")] = False,
    spark: SparkUrl = None,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Check that all is there that provenn needs, and say what to do where it is not.

    Python and its packages, Java, Spark, the database of the archive and its data, the files of base catalogs, folders
    and permissions. Spark is only started with --start, or where --spark says.

    Exit status: 0 if nothing is wrong; warnings do not count. 1 if something is.

    Try:

    - `provenn doctor`
    - `provenn doctor --archive survey --start`
    - `provenn doctor --spark sc://host:15002`
    """
    from provenn.cli.checks import findings  # noqa: PLC0415 - only this command needs it

    checks = []
    for check in findings(_looks(archive, spark, start)):
        checks.append(check)
        if not as_json:
            _write(check)
    wrong = sum(one.finding.state == "wrong" for one in checks)
    if as_json:
        write_json({"ok": not wrong, "checks": [_data(one) for one in checks]})
    else:
        write_text(_conclusion(wrong, sum(one.finding.state == "warning" for one in checks)))
    raise typer.Exit(1 if wrong else 0)


def _looks(archive: str, url: str | None, start: bool) -> Iterator[tuple[str, Look]]:
    from provenn.cli.checks import machine, spark  # noqa: PLC0415 - only this command needs them

    yield "Python", machine.python
    yield "provenn", machine.provenn_itself
    yield "packages", machine.packages
    yield "Java", spark.java
    yield "Spark", spark.spark
    yield "class archive", spark.class_archive
    if start or url is not None:
        yield "Spark, started", partial(spark.started, url)
    if is_address(archive) or holds_archive(archive):
        from provenn.cli.checks.archive import archive_looks, database_at  # noqa: PLC0415 - only in an archive

        yield from archive_looks(database_at(archive))
    else:
        yield "archive", partial(_no_archive, archive)
    yield "temporary folder", machine.temporary_folder
    yield "terminal", machine.terminal
    yield "time zone", machine.time_zone


def _no_archive(folder: str) -> Finding:
    from provenn.cli.checks import Finding  # noqa: PLC0415 - as above

    if folder == CURRENT_FOLDER:
        return Finding("ok", "none in the current folder; --archive names another one")
    return Finding(
        "warning", f"there is none at {Path(folder).absolute()}", "make one with provenn init, or name another"
    )


def _write(check: Check) -> None:
    found = check.finding
    write_text(f"{found.state:8} {check.what:{_WIDTH}}{found.told}".replace("\n", "; "))
    if found.hint:
        write_text(f"{'':8} {'':{_WIDTH}}hint: {found.hint}")


def _conclusion(wrong: int, warnings: int) -> str:
    told = {0: "nothing is wrong", 1: "1 thing is wrong"}.get(wrong, f"{wrong} things are wrong")
    return told if not warnings else f"{told}; {warnings} warning{'s' * (warnings > 1)}"


def _data(check: Check) -> dict[str, str]:
    found = check.finding
    return {"check": check.what, "state": found.state, "message": found.told, "hint": found.hint}
