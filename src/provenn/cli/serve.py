"""``provenn serve``: the archive in the browser."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, SparkUrl, opened
from provenn.cli.output import AsJson, write_json, write_text

__all__ = ["serve"]


def serve(
    *,
    host: Annotated[str, typer.Option(metavar="HOST", help="Where to listen: this machine, by any of its names.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(metavar="NUMBER", min=0, max=65535, help="0 is any that is free.")] = 8765,
    browser: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    spark: SparkUrl = None,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Serve the archive to the browser of this machine, until it is interrupted.

    Catalogs, their lineage, how they compare, targets and what they cost; all of it as JSON too.

    Try:

    - `provenn serve --open`
    - `provenn serve --port 0 --json`
    """
    with opened(archive, as_json, spark=spark) as found:
        from provenn.web.serving import serve as served  # noqa: PLC0415 - other commands start without it

        def ready(address: str) -> None:
            if as_json:
                write_json({"address": address})
            else:
                write_text(f"{found.place} is at {address}\nCtrl-C ends it")
            if browser:
                typer.launch(address)

        served(found, host=host, port=port, ready=ready)
