"""``provenn doctor``: check the requirements of provenn."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, SparkUrl, holds_archive, is_address
from provenn.cli.output import AsJson, write_json, write_text

if TYPE_CHECKING:
    from provenn.cli.checks import CheckFunction, CheckResult, CompletedCheck

__all__ = ["diagnose"]

_WIDTH = 18


def diagnose(
    *,
    start: Annotated[bool, typer.Option("--start", help="Also start Spark and compute a row.")] = False,
    spark: SparkUrl = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Check everything that provenn needs, with a hint for each problem.

    This covers Python and its packages, Java, Spark, the database of the archive and its data, the files of base
    catalogs, folders and permissions. Spark is started only with --start or --spark.

    Exit status: 0 if there are no problems; warnings do not count. 1 otherwise.

    Try:

    - `provenn doctor`
    - `provenn doctor --archive survey --start`
    - `provenn doctor --spark sc://host:15002`
    """
    from provenn.cli.checks import run_checks  # noqa: PLC0415 - only this command needs it

    checks = []
    for check in run_checks(_list_checks(archive_path, spark, start)):
        checks.append(check)
        if not as_json:
            _write_check(check)
    wrong = sum(check.result.state == "wrong" for check in checks)
    if as_json:
        write_json({"ok": not wrong, "checks": [_check_data(check) for check in checks]})
    else:
        write_text(_summarize(wrong, sum(check.result.state == "warning" for check in checks)))
    raise typer.Exit(1 if wrong else 0)


def _list_checks(archive_path: str, url: str | None, start: bool) -> Iterator[tuple[str, CheckFunction]]:
    """Yield the checks to run, each with a subject."""
    from provenn.cli.checks import machine, spark  # noqa: PLC0415 - only this command needs them

    yield "Python", machine.check_python
    yield "provenn", machine.check_provenn_version
    yield "packages", machine.check_packages
    yield "Java", spark.check_java
    yield "Spark", spark.check_spark
    yield "class archive", spark.check_class_archive
    yield "warm Spark", spark.check_warm_spark
    if start or url is not None:
        yield "Spark, started", partial(spark.check_spark_start, url)
    if is_address(archive_path) or holds_archive(archive_path):
        from provenn.cli.checks.archive import list_archive_checks, locate_database  # noqa: PLC0415 - only in an archive

        yield from list_archive_checks(locate_database(archive_path))
    else:
        yield "archive", partial(_report_no_archive, archive_path)
    yield "temporary folder", machine.check_temporary_folder
    yield "terminal", machine.check_terminal
    yield "time zone", machine.check_time_zone


def _report_no_archive(folder: str) -> CheckResult:
    """Return the result of the check for an archive when none exists."""
    from provenn.cli.checks import CheckResult  # noqa: PLC0415 - as above

    if folder == CURRENT_FOLDER:
        return CheckResult("ok", "none in the current folder; name one with --archive")
    return CheckResult(
        "warning", f"none at {Path(folder).absolute()}", "create one with `provenn init`, or name another"
    )


def _write_check(check: CompletedCheck) -> None:
    """Write the result of a check as a line, and the hint as another line."""
    result = check.result
    write_text(f"{result.state:8} {check.subject:{_WIDTH}}{result.message}".replace("\n", "; "))
    if result.hint:
        write_text(f"{'':8} {'':{_WIDTH}}hint: {result.hint}")


def _summarize(wrong: int, warnings: int) -> str:
    """Return how many checks failed or gave warnings, in words."""
    summary = {0: "no problems", 1: "1 problem"}.get(wrong, f"{wrong} problems")
    return summary if not warnings else f"{summary}; {warnings} warning{'s' * (warnings > 1)}"


def _check_data(check: CompletedCheck) -> dict[str, str]:
    """Return the result of a check as JSON data."""
    result = check.result
    return {"check": check.subject, "state": result.state, "message": result.message, "hint": result.hint}
