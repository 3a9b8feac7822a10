"""``provenn keep``: some attributes."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, NewName, opened, write_catalog
from provenn.cli.completion import attribute_names
from provenn.cli.output import AsJson

__all__ = ["keep"]


def keep(
    catalog: CatalogName,
    attributes: Annotated[
        list[str],
        typer.Argument(
            metavar="ATTRIBUTES",
            help="Attributes, in the order wanted.",
            show_default=False,
            autocompletion=attribute_names,
        ),
    ],
    *,
    name: NewName = None,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Define a catalog: the same sources, with some attributes only. The key is always kept.

    Try:

    - `provenn keep hipparcos vmag plx --name short`
    """
    with opened(archive, as_json) as found:
        write_catalog(found[catalog].keep(*attributes, name=name), name, as_json)
