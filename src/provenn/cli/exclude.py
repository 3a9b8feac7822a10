"""``provenn exclude``: the sources that another catalog does not have."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, NewName, opened, write_catalog
from provenn.cli.completion import catalog_names
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
            autocompletion=catalog_names,
        ),
    ],
    *,
    name: NewName = None,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Define a catalog: the sources that another catalog does not have.

    Try:

    - `provenn exclude hipparcos bright --name faint`
    """
    with opened(archive, as_json) as found:
        write_catalog(found[catalog].exclude(other, name=name), name, as_json)
