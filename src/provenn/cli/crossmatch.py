"""``provenn crossmatch``: pairs of sources that lie close to one another on the sky."""

from enum import StrEnum
from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, NewName, opened, write_catalog
from provenn.cli.completion import catalog_names
from provenn.cli.output import AsJson

__all__ = ["Matches", "crossmatch"]


class Matches(StrEnum):
    """Which pairs."""

    best = "best"
    all = "all"


def crossmatch(
    catalog: CatalogName,
    other: Annotated[
        str,
        typer.Argument(metavar="OTHER", help="The right one.", show_default=False, autocompletion=catalog_names),
    ],
    *,
    radius: Annotated[
        str,
        typer.Option(
            metavar="ANGLE",
            help="How far apart at most: in arcsec, or as '1.5 arcmin'.",
            show_default=False,
        ),
    ],
    matches: Annotated[
        Matches, typer.Option(help="For each source the nearest of the other catalog, or every pair.")
    ] = Matches.best,
    left: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="RA DEC", help="The attributes that tell positions.", show_default=False),
    ] = None,
    right: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="RA DEC", help="Those of the other catalog.", show_default=False),
    ] = None,
    suffix: Annotated[
        str, typer.Option(metavar="TEXT", help="Appended to names of the other catalog that both have.")
    ] = "_2",
    name: NewName = None,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Define a catalog: pairs of sources of two catalogs that lie close to one another on the sky.

    One row is a pair, with the attributes of both and their separation. Where positions are is told by UCDs and usual
    names, or by you.

    Try:

    - `provenn crossmatch hipparcos tycho --radius 2 --name pairs`
    - `provenn crossmatch hipparcos tycho --radius 5 --matches all --right RAJ2000 DEJ2000`
    """
    with opened(archive, as_json) as found:
        made = found[catalog].crossmatch(
            other,
            radius,
            matches="all" if matches is Matches.all else "best",
            on=(left, right),
            suffix=suffix,
            name=name,
        )
        write_catalog(made, name, as_json)
