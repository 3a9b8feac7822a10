"""``provenn rename``: attributes under other names."""

from typing import Annotated

import typer

from provenn.cli.archives import (
    CURRENT_FOLDER,
    ArchivePath,
    CatalogName,
    NewName,
    open_archive_at,
    parse_pairs,
    write_catalog,
)
from provenn.cli.completion import complete_attribute_names
from provenn.cli.output import AsJson

__all__ = ["rename"]


def rename(
    catalog: CatalogName,
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="OLD=NEW", help="Old and new names.", show_default=False, autocompletion=complete_attribute_names
        ),
    ],
    *,
    name: NewName = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Define a catalog: the same sources, with some attributes renamed.

    Try:

    - `provenn rename stars vmag=v plx=parallax --name renamed`
    - `provenn rename stars "B-V=b_v"`
    """
    renamed = parse_pairs(names, "OLD=NEW")
    with open_archive_at(archive_path) as archive:
        write_catalog(archive[catalog].rename(renamed, name=name), name, as_json)
