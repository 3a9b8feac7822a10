"""``provenn exports``: the files that a refresh writes anew."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, open_archive_at
from provenn.cli.output import AsJson, write_json, write_nothing, write_table

__all__ = ["show_exports"]


def show_exports(
    stop: Annotated[
        str | None,
        typer.Option("--stop", metavar="PATH", help="Stop following this file; it stays.", show_default=False),
    ] = None,
    *,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """List the files that were exported with --follow, or stop following one.

    Try:

    - `provenn exports`
    - `provenn exports --stop bright.fits`
    """
    with open_archive_at(archive_path) as archive:
        if stop is not None:
            archive.stop_following(stop)
        exports = archive.exports()
        if as_json:
            write_json(
                [
                    {
                        "path": export.path,
                        "name": export.request.name,
                        "attributes": export.request.attributes,
                        "where": export.request.where,
                        "rows": export.rows,
                        "by": export.by,
                        "at": export.at.isoformat(),
                    }
                    for export in exports
                ]
            )
        elif not exports:
            write_nothing("no followed exports", "provenn export NAME FILE --follow follows one")
        else:
            rows = [
                (
                    export.path,
                    export.request.name,
                    ", ".join(export.request.attributes or ("all",)),
                    f"{export.rows:,}",
                    export.by,
                    f"{export.at:%Y-%m-%d %H:%M:%S}",
                )
                for export in exports
            ]
            write_table(("file", "catalog", "attributes", "rows", "by", "written"), rows)
