"""``provenn concat``: the sources of several catalogs."""

from enum import StrEnum
from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, NewName, opened, write_catalog
from provenn.cli.completion import catalog_names
from provenn.cli.output import AsJson

__all__ = ["Order", "concat"]


class Order(StrEnum):
    """Which catalog gives the values of a source that several have."""

    first = "first"


def concat(
    catalog: CatalogName,
    others: Annotated[
        list[str],
        typer.Argument(
            metavar="OTHERS", help="The catalogs to append.", show_default=False, autocompletion=catalog_names
        ),
    ],
    *,
    order: Annotated[
        Order | None,
        typer.Option(
            help="Where catalogs that define an attribute differently share a source, the first one gives its value.",
            show_default=False,
        ),
    ] = None,
    name: NewName = None,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Define a catalog: the sources of several catalogs together, with the attributes they all have.

    Where they define an attribute differently, they must be proved to share no source, or an order must be given.

    Try:

    - `provenn concat north south --name sky`
    - `provenn concat new old --order first --name merged`
    """
    with opened(archive, as_json) as found:
        made = found[catalog].concat(*others, order="first" if order is Order.first else None, name=name)
        write_catalog(made, name, as_json)
