"""``provenn keep``: a catalog with fewer attributes."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, NewName, open_archive_at, write_catalog
from provenn.cli.completion import complete_attribute_names
from provenn.cli.output import AsJson

__all__ = ["keep"]


def keep(
    catalog: CatalogName,
    attributes: Annotated[
        list[str],
        typer.Argument(
            metavar="ATTRIBUTES",
            help="The attributes, in order.",
            show_default=False,
            autocompletion=complete_attribute_names,
        ),
    ],
    *,
    name: NewName = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Define a catalog: the same sources, with only some attributes. The key is always kept.

    Try:

    - `provenn keep hipparcos vmag plx --name short`
    """
    with open_archive_at(archive_path) as archive:
        write_catalog(archive[catalog].keep(*attributes, name=name), name, as_json)
