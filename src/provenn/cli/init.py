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
    database: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Instead: a database, postgresql://…", show_default=False),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="PATH", help="Where data are kept; by default in the folder. It is remembered.", show_default=False
        ),
    ] = None,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Make an archive, or see that there is one.

    An archive is a folder; all that provenn records is in it. Or it is a PostgreSQL database for a team, with a place
    that all reach for data. The other commands look for it in the current folder, where `--archive` says, or where the
    variable `PROVENN_ARCHIVE` of the environment says.

    Try:

    - `provenn init survey`
    - `provenn init --database postgresql://host/surveys --store /data/surveys`
    """
    if folder is not None and database is not None:
        raise typer.BadParameter("an archive is in a folder or in a database, not in both", param_hint="--database")
    place = database or folder or archive
    with opened(place, as_json, create=True, store=store) as made:
        if as_json:
            write_json({"archive": made.place, "catalogs": len(made)})
        else:
            write_text(f"archive at {made.place}, with {len(made)} catalogs")
