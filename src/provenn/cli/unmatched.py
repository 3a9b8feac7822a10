"""``provenn unmatched``: the sources that occur in no pairs."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, NewName, open_archive_at, write_catalog
from provenn.cli.matched import SideChoice
from provenn.cli.output import AsJson

__all__ = ["define_unmatched"]


def define_unmatched(
    catalog: CatalogName,
    *,
    side: Annotated[
        SideChoice, typer.Option(help="The sources of the first catalog, or of the second.")
    ] = SideChoice.left,
    name: NewName = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Define a catalog: the sources of one side of a cross-match that occur in none of its pairs.

    They are the matched catalog without the matched sources; this is known without running the match.

    Try:

    - `provenn unmatched pairs --side left --name lonely`
    """
    with open_archive_at(archive_path) as archive:
        write_catalog(
            archive[catalog].unmatched("left" if side is SideChoice.left else "right", name=name), name, as_json
        )
