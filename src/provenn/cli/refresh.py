"""``provenn refresh``: base catalogs brought up to date with their files."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, open_archive_at
from provenn.cli.completion import complete_catalog_names
from provenn.cli.output import AsJson, write_json, write_nothing

if TYPE_CHECKING:
    from provenn.archive.export_refreshing import RefreshedExport
    from provenn.archive.refreshing import RefreshedName

__all__ = ["refresh"]


def refresh(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="The names of base catalogs; by default all that you own.",
            show_default=False,
            autocompletion=complete_catalog_names,
        ),
    ] = None,
    *,
    plan: Annotated[bool, typer.Option("--plan", help="Only say what would be done.")] = False,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Look at the files of base catalogs again, and compute what is new.

    Files that came or went make a new version. The catalogs that are made from it are redefined, and stored results of
    calculators are calculated for the new sources only. Names move last, in one transaction. Then files that you
    exported with --follow are written anew, if what they hold has changed.

    Try:

    - `provenn refresh --plan`
    - `provenn refresh stars`
    """
    with open_archive_at(archive_path) as archive:
        refreshed = archive.refresh(*(names or ()), plan=plan)
        if as_json:
            write_json([_to_json(entry) for entry in refreshed])
        elif not refreshed:
            write_nothing(
                "you own no name of a base catalog", "provenn ingest stars stars.parquet --key hip --population star"
            )
        else:
            for entry in refreshed:
                typer.echo(str(entry))


def _to_json(entry: RefreshedName | RefreshedExport) -> dict[str, Any]:
    from provenn.archive.export_refreshing import RefreshedExport  # noqa: PLC0415 - other commands start without it

    if isinstance(entry, RefreshedExport):
        return asdict(entry)
    return asdict(replace(entry, catalogs=())) | {"catalogs": [catalog.to_json() for catalog in entry.catalogs]}
