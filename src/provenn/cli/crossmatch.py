"""``provenn crossmatch``: pairs of sources that lie close to one another on the sky."""

from typing import Annotated, TypeVar

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, NewName, open_archive_at, write_catalog
from provenn.cli.completion import complete_catalog_names
from provenn.cli.output import AsJson

__all__ = ["crossmatch"]

T = TypeVar("T")


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
            help="The largest separation: in arcsec, or for example '1.5 arcmin'; or the attribute of CATALOG that "
            "holds the radius of each source.",
            show_default=False,
        ),
    ],
    max_radius: Annotated[
        str | None,
        typer.Option(
            metavar="ANGLE", help="The largest separation, if the radius is an attribute.", show_default=False
        ),
    ] = None,
    min_radius: Annotated[
        str | None,
        typer.Option(
            metavar="ANGLE", help="The smallest separation: nearer sources are not considered.", show_default=False
        ),
    ] = None,
    matches: Annotated[
        str,
        typer.Option(
            metavar="best|all|mutual|NUMBER",
            help="Pair each source with the nearest of the other catalog, or with a NUMBER of the nearest; pair "
            "sources that are the nearest of each other; or keep every pair.",
        ),
    ] = "best",
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
    frame: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="LEFT RIGHT",
            help="The frames of the positions of both catalogs: icrs, fk5 (J2000) or galactic.",
            show_default=False,
        ),
    ] = None,
    epoch: Annotated[
        str | None,
        typer.Option(
            metavar="YEAR",
            help="The epoch at which sources are compared, in Julian years: proper motions lead there.",
            show_default=False,
        ),
    ] = None,
    left_epoch: Annotated[
        str | None,
        typer.Option(metavar="YEAR", help="The epoch of the positions, or its attribute.", show_default=False),
    ] = None,
    right_epoch: Annotated[
        str | None,
        typer.Option(
            metavar="YEAR",
            help="The epoch of the positions of the other catalog, or its attribute.",
            show_default=False,
        ),
    ] = None,
    left_motion: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="The attributes of the proper motions, or also of parallax and radial velocity: 'pmra pmdec plx rv'; "
            "'' if there are none.",
            show_default=False,
        ),
    ] = None,
    right_motion: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="The same attributes of the other catalog.", show_default=False),
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
    or named by --left and --right. Text is read as sexagesimal coordinates.

    Try:

    - `provenn crossmatch hipparcos tycho --radius 2 --name pairs`
    - `provenn crossmatch hipparcos tycho --radius 5 --matches all --right RAJ2000 DEJ2000`
    - `provenn crossmatch hipparcos tycho --radius 5 --matches 3`
    - `provenn crossmatch detections stars --radius pos_err --max-radius '10 arcsec'`
    - `provenn crossmatch hipparcos gaia --radius 1 --epoch 2016 --left-epoch 1991.25`
    """
    from provenn.catalogs.match_rule import read_matches  # noqa: PLC0415 - a command that is not called need not load it

    with open_archive_at(archive_path) as archive:
        pairs = archive[catalog].crossmatch(
            other,
            radius,
            matches=read_matches(matches),
            min_radius=min_radius,
            max_radius=max_radius,
            on=(left, right),
            frame=frame,
            epoch=epoch,
            epochs=_join_sides(left_epoch, right_epoch),
            motions=_join_sides(_split_names(left_motion), _split_names(right_motion)),
            suffix=suffix,
            name=name,
        )
        write_catalog(pairs, name, as_json)


def _join_sides(left: T | None, right: T | None) -> tuple[T | None, T | None] | None:
    """Return what is given for both sides; None if nothing is."""
    return None if left is None and right is None else (left, right)


def _split_names(names: str | None) -> list[str] | None:
    """Return the names in a text; None without a text."""
    return None if names is None else names.split()
