"""``provenn runs``: the history of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, open_archive_at
from provenn.cli.completion import complete_catalog_names
from provenn.cli.output import AsJson, write_json, write_nothing, write_table

if TYPE_CHECKING:
    from provenn.archive import Ran

__all__ = ["show_runs"]


def show_runs(
    catalog: Annotated[
        str | None,
        typer.Argument(
            metavar="CATALOG",
            help="Only runs for this catalog.",
            show_default=False,
            autocompletion=complete_catalog_names,
        ),
    ] = None,
    *,
    most: Annotated[int, typer.Option(metavar="NUMBER", min=1, help="How many to show.")] = 100,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """List runs, newest first: how long each took, what it reused, and how much time that saved.

    Try:

    - `provenn runs --most 10`
    """
    with open_archive_at(archive_path) as archive:
        runs = archive.runs(catalog, most=most)
        if as_json:
            write_json([_run_data(run) for run in runs])
        elif not runs:
            write_nothing("no runs", "provenn export NAME FILE runs, for example")
        else:
            header = ("when", "by", "what", "outcome", "seconds", "sources", "reused", "computed", "saved seconds")
            write_table(header, [_run_row(run) for run in runs])


def _run_row(run: Ran) -> tuple[str, ...]:
    """Return a run as a row of the table."""
    return (
        f"{run.started_at:%Y-%m-%d %H:%M}",
        run.by,
        run.target,
        run.outcome,
        "" if run.seconds is None else f"{run.seconds:.1f}",
        "" if run.rows is None else f"{run.rows:,}",
        ", ".join(run.reused),
        ", ".join(run.computed),
        "" if not run.saved else f"~{run.saved:.1f}",
    )


def _run_data(run: Ran) -> dict[str, Any]:
    """Return a run as JSON data."""
    return {
        "number": run.number,
        "target": run.target,
        "catalog": run.catalog,
        "name": run.name,
        "by": run.by,
        "started_at": run.started_at.isoformat(),
        "outcome": run.outcome,
        "seconds": run.seconds,
        "rows": run.rows,
        "reused": list(run.reused),
        "computed": list(run.computed),
        "fragments": list(run.fragments),
        "saved": run.saved,
    }
