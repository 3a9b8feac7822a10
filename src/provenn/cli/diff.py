"""``provenn diff``: what came and went between two versions."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, open_archive_at
from provenn.cli.completion import complete_catalog_names
from provenn.cli.output import AsJson, write_json

__all__ = ["show_difference"]


def show_difference(
    old: Annotated[
        str,
        typer.Argument(
            metavar="OLD", help="A catalog, such as stars@1.", show_default=False, autocompletion=complete_catalog_names
        ),
    ],
    new: Annotated[
        str,
        typer.Argument(
            metavar="NEW", help="A catalog, such as stars@2.", show_default=False, autocompletion=complete_catalog_names
        ),
    ],
    *,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Show the proved relation of two catalogs, and the files and columns that came and went between them.

    Try:

    - `provenn diff stars@1 stars@2`
    - `provenn diff stars@1 stars`
    """
    with open_archive_at(archive_path, as_json) as archive:
        difference = archive.diff(old, new)
        if as_json:
            summary = difference.relation.summary
            write_json({"relation": summary, "files": difference.files, "columns": list(difference.columns)})
        else:
            typer.echo(str(difference))
