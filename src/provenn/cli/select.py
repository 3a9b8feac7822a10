"""``provenn select``: the sources for which a criterion is true, or that lie in a region of the sky."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, NewName, open_archive_at, write_catalog
from provenn.cli.output import AsJson

if TYPE_CHECKING:
    from provenn.sky import Region

__all__ = ["select"]

_SKY = "On the sky"


def select(
    catalog: CatalogName,
    criterion: Annotated[
        str | None, typer.Argument(metavar="CRITERION", help="A condition in SQL, in quotes.", show_default=False)
    ] = None,
    *,
    cone: Annotated[
        tuple[float, float, float] | None,
        typer.Option(metavar="RA DEC RADIUS", help="Within a radius, in degrees.", rich_help_panel=_SKY),
    ] = None,
    box: Annotated[
        tuple[float, float, float, float] | None,
        typer.Option(
            metavar="RA RA DEC DEC", help="Two right ascensions and two declinations, in degrees.", rich_help_panel=_SKY
        ),
    ] = None,
    polygon: Annotated[
        str | None,
        typer.Option(metavar="VERTICES", help="In degrees: 'ra dec, ra dec, ra dec'.", rich_help_panel=_SKY),
    ] = None,
    moc: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A coverage map (MOC).", rich_help_panel=_SKY)
    ] = None,
    on: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="RA DEC", help="The attributes that hold the position.", rich_help_panel=_SKY),
    ] = None,
    name: NewName = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Define a catalog: the sources that satisfy a criterion, or that lie in a region of the sky.

    Sources for which the criterion is false or NULL are left out. With several conditions, all must be true.

    Try:

    - `provenn select hipparcos "vmag < 6" --name bright`

    - `provenn select hipparcos --cone 56.75 24.12 1.5 --name pleiades`
    """
    from provenn.sky import criterion_on  # noqa: PLC0415 - loads numpy

    regions = list(_build_regions(cone, box, polygon, moc, on))
    if criterion is None and not regions:
        raise typer.BadParameter("give a criterion or a region of the sky", param_hint="CRITERION")
    with open_archive_at(archive_path) as archive:
        schema = archive[catalog].definition.schema
        texts = [] if criterion is None else [f"({criterion})" if regions else criterion]
        texts += [criterion_on(region, schema) for region in regions]
        write_catalog(archive[catalog].select(" AND ".join(texts), name=name), name, as_json)


def _build_regions(
    cone: tuple[float, float, float] | None,
    box: tuple[float, float, float, float] | None,
    polygon: str | None,
    moc: Path | None,
    on: tuple[str, str] | None,
) -> Iterator[Region]:
    """Yield the regions of the sky that the options give."""
    from provenn import sky  # noqa: PLC0415 - as above

    if cone is not None:
        yield sky.cone(*cone, on=on)
    if box is not None:
        yield sky.box(*box, on=on)
    if polygon is not None:
        yield sky.polygon([vertex.split() for vertex in polygon.split(",")], on=on)
    if moc is not None:
        yield sky.moc(moc, on=on)
