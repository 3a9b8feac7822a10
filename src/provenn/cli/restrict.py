"""``provenn restrict``: the sources that another catalog also has."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, NewName, open_archive_at, write_catalog
from provenn.cli.completion import complete_catalog_names
from provenn.cli.output import AsJson

__all__ = ["restrict"]


def restrict(
    catalog: CatalogName,
    other: Annotated[
        str,
        typer.Argument(
            metavar="OTHER",
            help="The catalog whose sources remain.",
            show_default=False,
            autocompletion=complete_catalog_names,
        ),
    ],
    *,
    name: NewName = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Define a catalog: the sources that are also in another catalog.

    Try:

    - `provenn restrict hipparcos named --name named_stars`
    """
    with open_archive_at(archive_path) as archive:
        write_catalog(archive[catalog].restrict(other, name=name), name, as_json)
