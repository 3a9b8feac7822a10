"""``provenn having``: the sources that another catalog refers to."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, NewName, open_archive_at, write_catalog
from provenn.cli.completion import complete_catalog_names
from provenn.cli.output import AsJson

__all__ = ["Members", "ReferringAttributes", "define_having"]

Members = Annotated[
    str,
    typer.Argument(
        metavar="MEMBERS",
        help="The catalog that refers to the sources.",
        show_default=False,
        autocompletion=complete_catalog_names,
    ),
]

ReferringAttributes = Annotated[
    list[str],
    typer.Option(
        metavar="ATTRIBUTE",
        help="The attribute of MEMBERS that holds the key of a source. Repeat it for a key of several attributes.",
        show_default=False,
    ),
]


def define_having(
    catalog: CatalogName,
    members: Members,
    *,
    on: ReferringAttributes,
    name: NewName = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Define a catalog: the sources that another catalog refers to.

    Try:

    - `provenn having objects detections --on objid --name detected`
    """
    with open_archive_at(archive_path) as archive:
        write_catalog(archive[catalog].having(members, on=on, name=name), name, as_json)
