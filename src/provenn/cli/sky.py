"""``provenn sky``: a map of the sky with the sources of catalogs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, EngineName, SparkUrl, open_archive_at
from provenn.cli.notices import notices_data, write_notices
from provenn.cli.output import AsJson, Overwrite
from provenn.cli.pictures import SvgFile, write_picture
from provenn.targets.engine_choice import choose_engine

if TYPE_CHECKING:
    from provenn.archive import Notice

__all__ = ["draw_sky"]


def draw_sky(
    catalog: CatalogName,
    others: Annotated[
        list[str] | None, typer.Argument(metavar="[OTHER]…", help="Up to three catalogs to draw over it.")
    ] = None,
    *,
    svg: SvgFile,
    overwrite: Overwrite = False,
    engine: EngineName = "auto",
    spark: SparkUrl = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Draw the sources of catalogs on the sky, with the regions that select them, as an SVG file.

    Sources are counted in cells of HEALPix once; the archive keeps the counts.

    Try:

    - `provenn sky bright --svg bright.svg`
    """
    notices: list[Notice] = []
    listed_notices = None if svg == Path("-") else notices  # beside a picture they go to the standard error
    with open_archive_at(archive_path, spark=spark, notices=listed_notices) as archive:
        sky_map = archive[catalog].sky(*(others or ()), engine=choose_engine(engine))
        layers = [
            {"name": layer.name, "sources": layer.cells.total, "unplaced": layer.cells.unplaced}
            for layer in sky_map.layers
        ]
        counted = ", ".join(f"{layer['sources']:,} sources of {layer['name']}" for layer in layers)
        data = {"order": sky_map.order, "catalogs": layers, **notices_data(notices)}
        write_picture(sky_map.svg(), svg, counted, overwrite=overwrite, as_json=as_json, data=data)
        if not as_json:
            write_notices(notices)
