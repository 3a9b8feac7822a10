"""``provenn matched``: the sources that occur in pairs."""

from enum import StrEnum
from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, NewName, open_archive_at, write_catalog
from provenn.cli.output import AsJson

__all__ = ["SideChoice", "define_matched"]


class SideChoice(StrEnum):
    """A side of a cross-match: the left or the right catalog."""

    left = "left"
    right = "right"


def define_matched(
    catalog: CatalogName,
    *,
    side: Annotated[
        SideChoice, typer.Option(help="The sources of the first catalog, or of the second.")
    ] = SideChoice.left,
    name: NewName = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Define a catalog: the sources of one side of a cross-match that occur in its pairs.

    They are a subset of the matched catalog; this is known without running the match.

    Try:

    - `provenn matched pairs --side left --name counterparts`
    """
    with open_archive_at(archive_path) as archive:
        write_catalog(
            archive[catalog].matched("left" if side is SideChoice.left else "right", name=name), name, as_json
        )
