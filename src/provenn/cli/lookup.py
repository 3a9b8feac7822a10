"""``provenn lookup``: attributes of the sources that a catalog refers to."""

from enum import StrEnum
from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, NewName, open_archive_at, write_catalog
from provenn.cli.completion import complete_catalog_names
from provenn.cli.output import AsJson

__all__ = ["MissingChoice", "look_up"]


class MissingChoice(StrEnum):
    """How to treat sources without a partner: refuse, give NULL, or leave them out."""

    error = "error"
    null = "null"
    drop = "drop"


def look_up(
    catalog: CatalogName,
    other: Annotated[
        str,
        typer.Argument(
            metavar="OTHER",
            help="The catalog of the partners, of any population.",
            show_default=False,
            autocompletion=complete_catalog_names,
        ),
    ],
    *,
    on: Annotated[
        list[str],
        typer.Option(
            metavar="ATTRIBUTE",
            help="The attribute that holds the key of the partner. Repeat it for each attribute of that key, in order.",
            show_default=False,
        ),
    ],
    attributes: Annotated[
        list[str] | None,
        typer.Option(
            "--attribute",
            metavar="ATTRIBUTE",
            help="An attribute to look up; by default all but the key. May be repeated.",
            show_default=False,
        ),
    ] = None,
    missing: Annotated[
        MissingChoice,
        typer.Option(help="Without a partner: an error when data are computed, NULL, or leave the source out."),
    ] = MissingChoice.error,
    prefix: Annotated[
        str, typer.Option(metavar="TEXT", help="What the names of the attributes begin with.", show_default=False)
    ] = "",
    name: NewName = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Define a catalog: the same sources, with attributes of the sources that they refer to.

    Try:

    - `provenn lookup detections objects --on objid --attribute vmag --name detected`
    - `provenn lookup detections objects --on objid --missing null --prefix star_`
    """
    with open_archive_at(archive_path) as archive:
        looked_up = archive[catalog].lookup(
            other, on=on, attributes=attributes or None, missing=missing.value, prefix=prefix, name=name
        )
        write_catalog(looked_up, name, as_json)
