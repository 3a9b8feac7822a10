"""``provenn combine``: the attributes of several catalogs."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, NewName, opened, write_catalog
from provenn.cli.completion import catalog_names
from provenn.cli.output import AsJson

__all__ = ["combine"]


def combine(
    catalog: CatalogName,
    others: Annotated[
        list[str],
        typer.Argument(metavar="OTHERS", help="The other catalogs.", show_default=False, autocompletion=catalog_names),
    ],
    *,
    name: NewName = None,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Define a catalog: the attributes of several catalogs, for the sources they all have.

    Try:

    - `provenn combine bright near --name both`
    """
    with opened(archive, as_json) as found:
        write_catalog(found[catalog].combine(*others, name=name), name, as_json)
