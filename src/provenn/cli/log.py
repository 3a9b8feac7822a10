"""``provenn log``: the history of a name."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, open_archive_at
from provenn.cli.completion import complete_catalog_names
from provenn.cli.output import AsJson, write_json, write_table

__all__ = ["show_log"]


def show_log(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="The name; deleted names are allowed.",
            show_default=False,
            autocompletion=complete_catalog_names,
        ),
    ],
    *,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Show the history of a name, newest first.

    Try:

    - `provenn log bright`
    """
    with open_archive_at(archive_path) as archive:
        changes = archive.log(name)
        if as_json:
            write_json(
                [
                    {"catalog": change.catalog, "at": change.at.isoformat(), "by": change.by, "files": change.files}
                    for change in changes
                ]
            )
        else:
            rows = [
                (
                    f"{change.at:%Y-%m-%d %H:%M:%S}",
                    change.by,
                    (change.catalog or "deleted")[:12],
                    change.files,
                )
                for change in changes
            ]
            write_table(("when", "by", "catalog", "files"), rows)
