"""``provenn concat``: the sources of several catalogs."""

from enum import StrEnum
from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, NewName, open_archive_at, write_catalog
from provenn.cli.completion import complete_catalog_names
from provenn.cli.output import AsJson

__all__ = ["OrderChoice", "concat"]


class OrderChoice(StrEnum):
    """Which catalog gives the values of a source in several catalogs."""

    first = "first"


def concat(
    catalog: CatalogName,
    others: Annotated[
        list[str],
        typer.Argument(
            metavar="OTHERS", help="The catalogs to append.", show_default=False, autocompletion=complete_catalog_names
        ),
    ],
    *,
    order: Annotated[
        OrderChoice | None,
        typer.Option(
            help="For a source in several catalogs that define an attribute differently, use the value of the "
            "first catalog.",
            show_default=False,
        ),
    ] = None,
    name: NewName = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Define a catalog: the sources of several catalogs together, with the attributes common to all.

    If they define an attribute differently, they must be proved disjoint, or --order must decide.

    Try:

    - `provenn concat north south --name sky`
    - `provenn concat new old --order first --name merged`
    """
    with open_archive_at(archive_path) as archive:
        new_catalog = archive[catalog].concat(*others, order="first" if order is OrderChoice.first else None, name=name)
        write_catalog(new_catalog, name, as_json)
