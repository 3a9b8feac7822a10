"""``provenn runs``: what was run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, opened
from provenn.cli.completion import catalog_names
from provenn.cli.output import AsJson, write_json, write_table, write_text

if TYPE_CHECKING:
    from provenn.archive import Ran

__all__ = ["show_runs"]


def show_runs(
    catalog: Annotated[
        str | None,
        typer.Argument(
            metavar="CATALOG", help="Only runs for this catalog.", show_default=False, autocompletion=catalog_names
        ),
    ] = None,
    *,
    most: Annotated[int, typer.Option(metavar="NUMBER", min=1, help="How many to show.")] = 100,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """List what was run, the latest first: what it took, what it reused, and what that saved.

    Try:

    - `provenn runs --most 10`
    """
    with opened(archive, as_json) as found:
        told = found.runs(catalog, most=most)
        if as_json:
            write_json([_data(one) for one in told])
        elif not told:
            write_text("nothing was run")
        else:
            header = ("when", "by", "what", "outcome", "seconds", "sources", "reused", "computed", "saved seconds")
            write_table(header, [_row(one) for one in told])


def _row(one: Ran) -> tuple[str, ...]:
    return (
        f"{one.started_at:%Y-%m-%d %H:%M}",
        one.by,
        one.target,
        one.outcome,
        "" if one.seconds is None else f"{one.seconds:.1f}",
        "" if one.rows is None else f"{one.rows:,}",
        ", ".join(one.reused),
        ", ".join(one.computed),
        "" if not one.saved else f"~{one.saved:.1f}",
    )


def _data(one: Ran) -> dict[str, Any]:
    return {
        "number": one.number,
        "target": one.target,
        "catalog": one.catalog,
        "name": one.name,
        "by": one.by,
        "started_at": one.started_at.isoformat(),
        "outcome": one.outcome,
        "seconds": one.seconds,
        "rows": one.rows,
        "reused": list(one.reused),
        "computed": list(one.computed),
        "fragments": list(one.fragments),
        "saved": one.saved,
    }
