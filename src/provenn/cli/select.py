"""``provenn select``: the sources for which a criterion is true."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, NewName, opened, write_catalog
from provenn.cli.output import AsJson

__all__ = ["select"]


def select(
    catalog: CatalogName,
    criterion: Annotated[
        str, typer.Argument(metavar="CRITERION", help="A condition in SQL, in quotes.", show_default=False)
    ],
    *,
    name: NewName = None,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Define a catalog: the sources for which a criterion is true.

    Not those for which it is false, and not those for which it is NULL.

    Try:

    - `provenn select hipparcos "vmag < 6" --name bright`
    """
    with opened(archive, as_json) as found:
        write_catalog(found[catalog].select(criterion, name=name), name, as_json)
