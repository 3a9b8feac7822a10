"""``provenn explode``: the elements of arrays."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, NewName, open_archive_at, write_catalog
from provenn.cli.output import AsJson

__all__ = ["explode"]


def explode(
    catalog: CatalogName,
    arrays: Annotated[
        list[str],
        typer.Argument(metavar="ARRAY...", help="Attributes that are arrays; their elements stand side by side."),
    ],
    *,
    population: Annotated[
        str | None,
        typer.Option(
            "--population",
            "-p",
            metavar="WORD",
            help="What one element is.",
            show_default="the population of CATALOG, and the first array",
        ),
    ] = None,
    name: NewName = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Define a catalog: one source for each element of arrays, with the key of its source and its position.

    Try:

    - `provenn explode curves mags times --population point --name points`
    """
    with open_archive_at(archive_path) as archive:
        write_catalog(archive[catalog].explode(arrays, population=population, name=name), name, as_json)
