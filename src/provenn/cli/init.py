"""``provenn init``: create an archive."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, open_archive_at
from provenn.cli.output import AsJson, write_json, write_text

__all__ = ["init"]


def init(
    folder: Annotated[
        str | None,
        typer.Argument(metavar="FOLDER", help="The folder; by default that of --archive.", show_default=False),
    ] = None,
    *,
    database: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="A database instead of a folder: postgresql://…", show_default=False),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Where to store data; by default in the folder. The archive records it.",
            show_default=False,
        ),
    ] = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Create an archive, or open an existing one.

    An archive is a folder with everything that provenn records; or, for a team, a PostgreSQL database and a place for
    data that all members reach. The other commands use the archive in the current folder, the archive of `--archive`,
    or that of the environment variable `PROVENN_ARCHIVE`.

    Try:

    - `provenn init survey`
    - `provenn init --database postgresql://host/surveys --store /data/surveys`
    """
    if folder is not None and database is not None:
        raise typer.BadParameter("an archive is in a folder or in a database, not in both", param_hint="--database")
    place = database or folder or archive_path
    with open_archive_at(place, create=True, store=store) as archive:
        if as_json:
            write_json({"archive": archive.place, "catalogs": len(archive)})
        else:
            write_text(f"archive at {archive.place}, with {len(archive)} catalogs")
