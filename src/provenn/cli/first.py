"""``provenn first``: the first sources of each group."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, NewName, open_archive_at, write_catalog
from provenn.cli.output import AsJson

__all__ = ["define_first"]


def define_first(
    catalog: CatalogName,
    *,
    by: Annotated[
        list[str],
        typer.Option(
            metavar="ATTRIBUTE",
            help="The attribute in which the sources of a group agree. May be repeated.",
            show_default=False,
        ),
    ],
    order: Annotated[
        str,
        typer.Option(
            metavar="ORDER",
            help="The order within a group, for example 'mjd DESC, mag'; the key decides between equals.",
            show_default=False,
        ),
    ],
    number: Annotated[int, typer.Option("--number", metavar="N", help="How many sources of each group to keep.")] = 1,
    name: NewName = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Define a catalog: the first sources of each group, such as the latest detection of each object.

    Sources with NULL in an attribute that groups them are in no group, and left out.

    Try:

    - `provenn first detections --by objid --order "mjd DESC" --name latest`
    - `provenn first detections --by objid --order "mag" --number 2 --name brightest`
    """
    with open_archive_at(archive_path) as archive:
        write_catalog(archive[catalog].first(by, order, n=number, name=name), name, as_json)
