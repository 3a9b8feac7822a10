"""``provenn matched``: the sources that occur in pairs."""

from enum import StrEnum
from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, NewName, opened, write_catalog
from provenn.cli.output import AsJson

__all__ = ["Side", "matched"]


class Side(StrEnum):
    """One of the two catalogs that were matched."""

    left = "left"
    right = "right"


def matched(
    catalog: CatalogName,
    *,
    side: Annotated[Side, typer.Option(help="Of the first of the two catalogs, or of the second.")] = Side.left,
    name: NewName = None,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Define a catalog: the sources of one side of a cross-match that occur in its pairs, or in some of them.

    They are a subset of the catalog that was matched: known without running the match.

    Try:

    - `provenn matched pairs --side left --name counterparts`
    """
    with opened(archive, as_json) as found:
        write_catalog(found[catalog].matched("left" if side is Side.left else "right", name=name), name, as_json)
