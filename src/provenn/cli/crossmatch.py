"""``provenn crossmatch``: pairs of sources that lie close to one another on the sky."""

from enum import StrEnum
from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, NewName, open_archive_at, write_catalog
from provenn.cli.completion import complete_catalog_names
from provenn.cli.output import AsJson

__all__ = ["MatchChoice", "crossmatch"]


class MatchChoice(StrEnum):
    """Which pairs to keep: for each source the nearest, or all."""

    best = "best"
    all = "all"


def crossmatch(
    catalog: CatalogName,
    other: Annotated[
        str,
        typer.Argument(
            metavar="OTHER", help="The right catalog.", show_default=False, autocompletion=complete_catalog_names
        ),
    ],
    *,
    radius: Annotated[
        str,
        typer.Option(
            metavar="ANGLE",
            help="The largest separation: in arcsec, or for example '1.5 arcmin'.",
            show_default=False,
        ),
    ],
    matches: Annotated[
        MatchChoice, typer.Option(help="Pair each source with the nearest of the other catalog, or keep every pair.")
    ] = MatchChoice.best,
    left: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="RA DEC", help="The attributes with the position.", show_default=False),
    ] = None,
    right: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="RA DEC", help="The attributes with the position in the other catalog.", show_default=False
        ),
    ] = None,
    suffix: Annotated[
        str, typer.Option(metavar="TEXT", help="Appended to attribute names that occur in both catalogs.")
    ] = "_2",
    name: NewName = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Define a catalog: pairs of sources of two catalogs that lie close to each other on the sky.

    A row is a pair, with the attributes of both sources and their separation. Positions are found by UCD or usual name,
    or named by --left and --right.

    Try:

    - `provenn crossmatch hipparcos tycho --radius 2 --name pairs`
    - `provenn crossmatch hipparcos tycho --radius 5 --matches all --right RAJ2000 DEJ2000`
    """
    with open_archive_at(archive_path, as_json) as archive:
        pairs = archive[catalog].crossmatch(
            other,
            radius,
            matches="all" if matches is MatchChoice.all else "best",
            on=(left, right),
            suffix=suffix,
            name=name,
        )
        write_catalog(pairs, name, as_json)
