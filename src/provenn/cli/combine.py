"""``provenn combine``: the attributes of several catalogs."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, NewName, open_archive_at, write_catalog
from provenn.cli.completion import complete_catalog_names
from provenn.cli.output import AsJson

__all__ = ["combine"]


def combine(
    catalog: CatalogName,
    others: Annotated[
        list[str],
        typer.Argument(
            metavar="OTHERS", help="The other catalogs.", show_default=False, autocompletion=complete_catalog_names
        ),
    ],
    *,
    name: NewName = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Define a catalog: the attributes of several catalogs, for the sources common to all.

    Try:

    - `provenn combine bright near --name both`
    """
    with open_archive_at(archive_path) as archive:
        write_catalog(archive[catalog].combine(*others, name=name), name, as_json)
