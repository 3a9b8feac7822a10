"""``provenn serve``: the archive in the browser."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, SparkUrl, opened
from provenn.cli.output import AsJson, write_json, write_text

__all__ = ["serve"]


def serve(
    *,
    host: Annotated[
        str, typer.Option(metavar="HOST", help="Where to listen. Elsewhere than on this machine, tokens are asked for.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="NUMBER", min=0, max=65535, help="0 is any that is free.")] = 8765,
    browser: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    tokens: Annotated[bool, typer.Option("--tokens", help="Ask for tokens on this machine, too.")] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A name by which it is reached. May be repeated.", show_default=False),
    ] = None,
    root: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH",
            help="With tokens: a folder below which base files are read, or a URI. May be repeated.",
            show_default="the folder of the archive",
        ),
    ] = None,
    spark: SparkUrl = None,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Serve the archive to browsers and programs, until it is interrupted.

    Catalogs, their lineage, how they compare, targets and what they cost; all of it as JSON too. To this machine only;
    to others, if they have a token: see `provenn token`.

    Try:

    - `provenn serve --open`
    - `provenn serve --port 0 --json`
    - `provenn serve --host 192.0.2.7 --allow-host survey.example.org --root /data/survey`
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

        served(found, host=host, port=port, tokens=tokens, hosts=allow_host or (), roots=root or (), ready=ready)
