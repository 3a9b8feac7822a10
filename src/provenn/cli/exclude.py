"""``provenn exclude``: the sources that another catalog does not have."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, NewName, open_archive_at, write_catalog
from provenn.cli.completion import complete_catalog_names
from provenn.cli.output import AsJson

__all__ = ["exclude"]


def exclude(
    catalog: CatalogName,
    other: Annotated[
        str,
        typer.Argument(
            metavar="OTHER",
            help="The catalog whose sources are left out.",
            show_default=False,
            autocompletion=complete_catalog_names,
        ),
    ],
    *,
    name: NewName = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Define a catalog: the sources that are not in another catalog.

    Try:

    - `provenn exclude hipparcos bright --name faint`
    """
    with open_archive_at(archive_path) as archive:
        write_catalog(archive[catalog].exclude(other, name=name), name, as_json)
