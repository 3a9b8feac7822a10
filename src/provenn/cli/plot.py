"""``provenn plot``: two attributes of a catalog against each other."""

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

__all__ = ["plot_attributes"]


def plot_attributes(
    catalog: CatalogName,
    x: Annotated[str, typer.Argument(metavar="X", help="The attribute along the horizontal axis.")],
    y: Annotated[str, typer.Argument(metavar="Y", help="The attribute along the vertical axis.")],
    *,
    svg: SvgFile,
    overwrite: Overwrite = False,
    engine: EngineName = "auto",
    spark: SparkUrl = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Plot two attributes of a catalog against each other as an SVG file: a density, or light curves of arrays.

    Sources are counted on a grid once; the archive keeps the counts. Magnitudes run from faint to bright.

    Try:

    - `provenn plot hipparcos bv vmag --svg colours.svg`
    """
    notices: list[Notice] = []
    listed_notices = None if svg == Path("-") else notices  # beside a picture they go to the standard error
    with open_archive_at(archive_path, spark=spark, notices=listed_notices) as archive:
        plot = archive[catalog].plot(x, y, engine=choose_engine(engine))
        sources = len(plot.curves) if plot.counts is None else int(plot.counts.sum())
        data = {
            "catalog": plot.name,
            "sources": sources,
            "left_out": plot.left_out,
            "x": {"name": x, "low": plot.x.low, "high": plot.x.high},
            "y": {"name": y, "low": plot.y.low, "high": plot.y.high},
            **notices_data(notices),
        }
        sentence = f"{y} against {x} of {sources:,} source{'' if sources == 1 else 's'}"
        write_picture(plot.svg(), svg, sentence, overwrite=overwrite, as_json=as_json, data=data)
        if not as_json:
            write_notices(notices)
