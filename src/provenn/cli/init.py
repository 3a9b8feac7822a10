"""``provenn init``: a new archive."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, opened
from provenn.cli.output import AsJson, write_json, write_text

__all__ = ["init"]


def init(
    folder: Annotated[
        str | None, typer.Argument(metavar="FOLDER", help="Where, if not where --archive says.", show_default=False)
    ] = None,
    *,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Make an archive, or see that there is one.

    An archive is a folder; all that provenn records is in it. The other commands look for it in the current folder,
    where `--archive` says, or where the variable `PROVENN_ARCHIVE` of the environment says.

    Try:

    - `provenn init survey`
    """
    with opened(archive if folder is None else folder, as_json, create=True) as made:
        if as_json:
            write_json({"archive": made.place, "catalogs": len(made)})
        else:
            write_text(f"archive at {made.place}, with {len(made)} catalogs")
