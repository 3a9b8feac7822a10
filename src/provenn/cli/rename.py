"""``provenn rename``: attributes under other names."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, NewName, opened, pairs, write_catalog
from provenn.cli.completion import attribute_names
from provenn.cli.output import AsJson

__all__ = ["rename"]


def rename(
    catalog: CatalogName,
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="OLD=NEW", help="Old and new names.", show_default=False, autocompletion=attribute_names
        ),
    ],
    *,
    name: NewName = None,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Define a catalog: the same sources and attributes, some of these under other names.

    Try:

    - `provenn rename stars vmag=v plx=parallax --name renamed`
    - `provenn rename stars "B-V=b_v"`
    """
    renamed = pairs(names, "OLD=NEW")
    with opened(archive, as_json) as found:
        write_catalog(found[catalog].rename(renamed, name=name), name, as_json)
