"""``provenn append``: a base catalog with more files."""

from typing import Annotated

import typer

from provenn.cli.archives import (
    CURRENT_FOLDER,
    ArchivePath,
    ReadingOptions,
    open_archive_at,
    parse_pairs,
    write_catalog,
)
from provenn.cli.completion import complete_catalog_names
from provenn.cli.output import AsJson

__all__ = ["append"]


def append(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="The name of a base catalog.",
            show_default=False,
            autocompletion=complete_catalog_names,
        ),
    ],
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH", help="The new files: a file, a folder, or a quoted pattern.", show_default=False
        ),
    ],
    *,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="The format of the new files; by default from the suffix.",
            show_default=False,
        ),
    ] = None,
    option: ReadingOptions = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Add files to a base catalog: a new version, which shares the sources and values of the earlier one.

    The catalogs that are made from it are redefined. What is stored for the earlier version serves the new one.

    Try:

    - `provenn append stars night42.parquet`
    - `provenn diff stars@1 stars`
    """
    options = parse_pairs(option or (), "KEY=VALUE")
    with open_archive_at(archive_path) as archive:
        catalog = archive.append(name, path, format=format_, options=options or None)
        write_catalog(catalog, name, as_json)
